"""Which texts of a run are withheld, and is nothing else missing or changed in what is published of it? Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest.files import PUBLIC_OUTPUTS, PUBLIC_TELEMETRY, REDACTION, TELEMETRY, WITHHELD
from ragassay.manifest.redaction_statement import SignedRedaction, decode_redaction, decode_withheld
from ragassay.manifest.statement import RedactionPredicate, WithheldRow
from ragassay.manifest.withheld_texts import CUT, IN_TELEMETRY, is_chunk, looks_withheld, reason_problem, texts_of
from ragassay.records import OutputRow, TelemetryRow, to_json
from ragassay.verify.policy import SLACK_S
from ragassay.verify.report import Findings, Kept, KeptFor
from ragassay.verify.signature import SignedRun

_SHA256 = re.compile(r"[0-9a-f]{64}")


class Hidden(msgspec.Struct, frozen=True, kw_only=True):
    """What a redaction says is missing: fields by question, and the leaf of each signed line that is not shown."""

    rows: tuple[WithheldRow, ...] = ()
    fields: Mapping[str, frozenset[str]] = {}
    lines: Mapping[str, bytes] = {}
    telemetry_lines: Mapping[str, bytes] = {}

    def has(self, name: str, field: str) -> bool:
        """Tell whether a field of a question's row is withheld, or words of it are."""
        return field in self.fields.get(name, ())

    def leaves(self, ids: Sequence[str], leaves: Sequence[bytes]) -> list[bytes]:
        """Return the leaves of the signed rows, given those of the rows that are shown."""
        if not self.lines:
            return list(leaves)
        return [self.lines.get(name, leaf) for name, leaf in zip(ids, leaves, strict=True)]

    def telemetry_leaves(self, ids: Sequence[str], leaves: Sequence[bytes]) -> list[bytes]:
        """Return both leaves of each signed row of telemetry, given those of the rows that are shown."""
        found = list(leaves)
        for at, name in enumerate(ids if self.telemetry_lines else ()):
            found[2 * at + 1] = self.telemetry_lines.get(name, found[2 * at + 1])
        return found


NOTHING_HIDDEN = Hidden()


class Redaction(msgspec.Struct, frozen=True):
    """A redaction that was read, and what it withholds; None where that cannot be read."""

    signed: SignedRedaction
    hidden: Hidden | None

    @property
    def kept(self) -> Kept | None:
        """How many texts are withheld, and why."""
        return kept_of(self.hidden.rows) if self.hidden is not None else None


def read_redaction(run: SignedRun, files: Mapping[str, bytes], now: int, findings: Findings) -> Redaction | None:
    """Return what is withheld from a redacted run, where that can be read; the signature is checked elsewhere."""
    if REDACTION not in files:
        findings.add("FILE_MISSING", f"{REDACTION}, which says what is withheld, is missing", REDACTION)
        findings.not_made("redaction", f"{REDACTION} is not there")
        return None
    try:
        signed = decode_redaction(files[REDACTION])
    except VerifyError as error:
        findings.error(error, REDACTION)
        findings.not_made("redaction", f"{REDACTION} cannot be read")
        return None
    for problem in _misfits(signed.predicate, run, now):
        findings.add("REDACTION_MISMATCH", problem, REDACTION)
    hidden = _read_hidden(signed.predicate, files, findings)
    findings.made("redaction")
    return Redaction(signed, hidden)


def _misfits(predicate: RedactionPredicate, run: SignedRun, now: int) -> Iterator[str]:
    of = run.statement.predicate
    if of.lines is None:
        yield "the manifest is of version v0.1, which binds no row by itself: nothing of such a run can be withheld"
    if predicate.of.sha256 != canon.sha256(run.data):
        yield "it is of another run, or of another manifest of this one"
    if (predicate.run_id, predicate.row, predicate.pass_) != (of.run_id, of.row, of.pass_):
        yield "its run id, row or pass is not that of the run"
    if predicate.telemetry is not None and of.telemetry is None:
        yield "it names telemetry, and the run has none"
    if predicate.created > now + SLACK_S:
        yield f"it was signed {predicate.created - now} seconds in the future"
    if of.window is not None and predicate.created < of.window.end - SLACK_S:
        yield f"it was signed {of.window.end - predicate.created} seconds before the run's last answer"


def _read_hidden(predicate: RedactionPredicate, files: Mapping[str, bytes], findings: Findings) -> Hidden | None:
    if WITHHELD not in files:
        findings.add("FILE_MISSING", f"{WITHHELD} is missing", WITHHELD)
        return None
    if canon.sha256(files[WITHHELD]) != predicate.withheld.digest.sha256:
        findings.add("REDACTION_MISMATCH", f"{WITHHELD} is not the file that was signed", WITHHELD)
    try:
        rows = decode_withheld(files[WITHHELD])
    except VerifyError as error:
        findings.error(error, WITHHELD)
        return None
    if (len(rows), sum(len(row.texts) for row in rows)) != (predicate.withheld.rows, predicate.withheld.texts):
        findings.add("REDACTION_MISMATCH", "it counts other texts or rows than are listed", WITHHELD)
    for name, times in Counter(row.id for row in rows).items():
        if times > 1:
            findings.add("REDACTION_MISMATCH", f"{name!r} is listed {times} times", WITHHELD)
    for row in rows:
        if (problem := _entry_problem(row)) is not None:
            findings.add("REDACTION_MISMATCH", f"{row.id!r}: {problem}", WITHHELD)
    in_telemetry = any(row.telemetry_line is not None for row in rows)
    if in_telemetry != (predicate.telemetry is not None):
        findings.add("REDACTION_MISMATCH", f"{PUBLIC_TELEMETRY} is named where texts of it are listed", WITHHELD)
    return hidden_of(rows)


def _entry_problem(row: WithheldRow) -> str | None:
    fields = [text.field for text in row.texts]
    if not fields or len(set(fields)) != len(fields):
        return "it lists no text, or one twice"
    inside = any(field.startswith(IN_TELEMETRY) for field in fields)
    outside = any(not field.startswith(IN_TELEMETRY) for field in fields)
    if (row.line is not None, row.telemetry_line is not None) != (outside, inside):
        return "the leaf of a line stands where a text of that line is listed, and nowhere else"
    digests = [*(text.salted_sha256 for text in row.texts), row.line, row.telemetry_line]
    if not all(_SHA256.fullmatch(digest) for digest in digests if digest is not None):
        return "a SHA-256 is written as 64 lower-case hex digits"
    return next((problem for text in row.texts if (problem := reason_problem(text.reason)) is not None), None)


def hidden_of(rows: Sequence[WithheldRow]) -> Hidden:
    """Return what the lines of `withheld.jsonl` say."""
    return Hidden(
        rows=tuple(rows),
        fields={row.id: frozenset(text.field for text in row.texts) for row in rows},
        lines={row.id: _leaf(row.line) for row in rows if row.line is not None},
        telemetry_lines={row.id: _leaf(row.telemetry_line) for row in rows if row.telemetry_line is not None},
    )


def _leaf(text: str) -> bytes:
    return bytes.fromhex(text) if _SHA256.fullmatch(text) else b""


def kept_of(rows: Sequence[WithheldRow]) -> Kept:
    """Return how many texts of how many rows are withheld, and for which reasons, in the order of the first of each."""
    reasons = Counter(text.reason for row in rows for text in row.texts)
    return Kept(
        texts=sum(len(row.texts) for row in rows),
        rows=len(rows),
        reasons=tuple(KeptFor(reason=reason, texts=texts) for reason, texts in reasons.items()),
    )


def check_texts(
    hidden: Hidden, rows: Sequence[OutputRow], telemetry: Sequence[TelemetryRow] | None, findings: Findings
) -> None:
    """Check that exactly the listed texts are missing in the rows that lost any; note each of them.

    Every other row is, by its leaf, the signed one. `telemetry` is None where it cannot be read, as is told elsewhere.
    """
    by_id, took_by_id = {row.id: row for row in rows}, {took.id: took for took in telemetry or ()}
    places = {row.id: at for at, row in enumerate(rows)}
    listed = [places[row.id] for row in hidden.rows if row.id in places]
    if listed != sorted(listed):
        findings.add("REDACTION_MISMATCH", "the listed rows are not in the order of the rows", WITHHELD)
    for entry in hidden.rows:
        row, took = by_id.get(entry.id), took_by_id.get(entry.id)
        shown = _shown(row) if row is not None else {}
        in_telemetry = _shown(took) if took is not None else {}
        _check_entry(entry, shown, in_telemetry, findings)
    findings.made("texts that are withheld")
    texts = sum(len(entry.texts) for entry in hidden.rows)
    why = f"{texts} of them, in {len(hidden.rows)} of the questions"
    findings.not_made("digests and quotes of the texts that are withheld", why)


def _shown(row: OutputRow | TelemetryRow) -> dict[str, str | None]:
    return {field: holder[name] for field, (holder, name) in texts_of(to_json(row)).items()}


def _check_entry(
    entry: WithheldRow,
    shown: Mapping[str, str | None],
    in_telemetry: Mapping[str, str | None],
    findings: Findings,
) -> None:
    texts = {**shown, **in_telemetry}
    for text in entry.texts:
        where = f"{_file(text.field)}: {entry.id}"
        if text.field not in texts:
            findings.add("REDACTION_MISMATCH", f"{text.field} is listed, and there is no such text", where)
        elif not looks_withheld(text.field, texts[text.field]):
            findings.add("REDACTION_MISMATCH", f"{text.field} is listed as withheld, and stands there", where)
        else:
            how = "withheld" if is_chunk(text.field) or CUT not in (texts[text.field] or "") else "shown in part"
            findings.add("TEXT_WITHHELD", f"{text.field} is {how}: {text.reason}", where)
    listed = {text.field for text in entry.texts}
    changed = [*(shown if entry.line is not None else ()), *(in_telemetry if entry.telemetry_line is not None else ())]
    for field in changed:
        if field not in listed and looks_withheld(field, texts[field]):
            where = f"{_file(field)}: {entry.id}"
            findings.add("REDACTION_MISMATCH", f"{field} is withheld, and is not listed", where)


def _file(field: str) -> str:
    return PUBLIC_TELEMETRY if field.startswith(IN_TELEMETRY) else PUBLIC_OUTPUTS


def shown_telemetry(redaction: Redaction | None, files: Mapping[str, bytes]) -> str:
    """Return the name of the file of telemetry that belongs to a redacted run."""
    if redaction is None:
        return PUBLIC_TELEMETRY if PUBLIC_TELEMETRY in files and TELEMETRY not in files else TELEMETRY
    return TELEMETRY if redaction.signed.predicate.telemetry is None else PUBLIC_TELEMETRY
