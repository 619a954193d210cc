"""What is published of a run whose publisher withholds some of its texts: files, and the signed statement. Pure.

The signed run itself is never changed. A statement is read as strictly as an announcement is.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from ragassay import canon
from ragassay.manifest import dsse
from ragassay.manifest.announce import (
    MAX_REASON,
    common_problem,
    decode_as,
    refuse_problem,
    sign_checked,
    signature_holds,
)
from ragassay.manifest.decode import decode_outputs, decode_statement, decode_telemetry, question_file, read_rows
from ragassay.manifest.encoding import encode_rows
from ragassay.manifest.files import (
    BESIDE,
    CONFIG,
    MANIFEST,
    OUTPUTS,
    PUBLIC_OUTPUTS,
    PUBLIC_TELEMETRY,
    REDACTION,
    TELEMETRY,
    WITHHELD,
    is_redacted,
)
from ragassay.manifest.sign import Signer
from ragassay.manifest.skeleton import line_leaf
from ragassay.manifest.statement import (
    REDACTION_KIND,
    REDACTION_TYPE,
    STATEMENT_TYPE,
    Digest,
    RedactionPredicate,
    RedactionStatement,
    RunPredicate,
    Subject,
    WithheldRef,
    WithheldRow,
    WithheldText,
)

GONE = "[withheld]"
"""What stands in the place of a text that is withheld whole; the text of a chunk is null."""
CUT = "[redacted]"
"""What stands in the place of the words that were taken out of a text."""
IN_TELEMETRY = "telemetry/"
"""How the field of a text in telemetry begins."""
SALT_BYTES = 16
IS_MARK = "the text itself holds the words that mark a redaction"
NEVER_THERE = "the signed run itself withholds it"
"""Reasons of entries for texts that would pass for withheld ones, in rows that have others."""

_RUN_ID = re.compile(r"[0-9a-f]{32}")

Salts: TypeAlias = Callable[[str, str], bytes]
"""Gives the 16 bytes of salt for the text of a question's id and a field."""


class Withholding(msgspec.Struct, frozen=True, kw_only=True):
    """What its publisher decided of one text: withhold it, or the characters of `spans` (pairs of start and end).

    The text of a chunk is withheld whole in either case.
    """

    id: str
    field: str
    reason: str
    spans: tuple[tuple[int, int], ...] | None = None


class SignedRedaction(msgspec.Struct, frozen=True):
    """A redaction as it was read; `data` are the envelope's bytes, which are also the log's entry."""

    predicate: RedactionPredicate
    envelope: dsse.Envelope
    payload: bytes
    data: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of the envelope's bytes."""
        return canon.sha256(self.data)

    def signed_by(self, x: bytes) -> bool:
        """Tell whether the key with these 32 bytes made the signature."""
        return signature_holds(self.envelope, self.payload, x)


def salts_from(secret: bytes, run_id: str) -> Salts:
    """Return salts that follow from a secret of the publisher's, so that this alone has to be kept."""

    def salt(name: str, field: str) -> bytes:
        return hmac.digest(secret, canon.canonical([run_id, name, field]), hashlib.sha256)[:SALT_BYTES]

    return salt


def salted_digest(salt: bytes, text: str) -> str:
    """Return the SHA-256 by which a withheld text can be shown later."""
    return canon.sha256(salt + text.encode("utf-8"))


def texts_of(members: Mapping[str, Any]) -> dict[str, tuple[dict[str, Any], str]]:
    """Return where each text of a row that may be withheld stands, by its field: the object and the member's name.

    `members` are those of a row of outputs or of telemetry. What stands twice under one name has none.
    """
    found: dict[str, tuple[dict[str, Any], str]] = {}
    twice = set()
    for field, holder, name in _texts(members):
        if field in found:
            twice.add(field)
        found[field] = (holder, name)
    return {field: place for field, place in found.items() if field not in twice}


def _texts(members: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    row = dict(members) if not isinstance(members, dict) else members
    if row.get("answer") is not None:
        yield "answer", row, "answer"
    for chunk in row.get("chunks", ()):
        yield f"chunks/{chunk['rank']}/text", chunk, "text"
    for claim in row.get("claims", ()):
        yield f"claims/{claim['id']}/quote", claim, "quote"
        yield f"claims/{claim['id']}/reason", claim, "reason"
    if row.get("failure") is not None:
        yield "failure/message", row["failure"], "message"
    for at, reply in enumerate(row.get("judgeReplies", ())):
        for name in ("text", "problem"):
            if reply[name] is not None:
                yield f"{IN_TELEMETRY}judgeReplies/{at}/{name}", reply, name


def is_chunk(field: str) -> bool:
    """Tell whether a field is the text of a chunk, which is null where it is withheld."""
    return field.startswith("chunks/")


def looks_withheld(field: str, text: str | None) -> bool:
    """Tell whether a text has the form of one that is withheld, or of which words were taken out."""
    if is_chunk(field):
        return text is None
    return text is not None and (text == GONE or CUT in text)


def build_redaction(
    run_files: Mapping[str, bytes],
    withhold: Sequence[Withholding],
    *,
    salts: Salts,
    signer: Signer,
    created: int,
    registry_version: int | None = None,
) -> dict[str, bytes]:
    """Return the files of a run as they are published: rows without the texts of `withhold`, and who says so.

    `run_files` are those of a run that `verify` accepts, of version v0.2 or later; what stands beside them
    (announcement, proofs, registry) is kept. A row that loses a text gets an entry also for each other text that would pass for a
    withheld one. `created` is in Unix seconds. The same input, salts and key give the same bytes.

    Raises `ValueError` that says all that is wrong with `withhold`, or why nothing of such a run can be withheld, and
    `VerifyError` for files that are no run.
    """
    run = _run_of(run_files)
    wanted = _by_row(withhold)
    outputs = _Side(run_files[OUTPUTS], wanted, salts)
    telemetry = _Side(run_files.get(TELEMETRY, b""), wanted, salts)
    problems = [*outputs.problems, *telemetry.problems, *_unknown(withhold, outputs, telemetry)]
    if problems or not withhold:
        raise ValueError("; ".join(problems) if problems else "there is nothing to withhold")
    rows = [
        WithheldRow(
            id=name,
            line=outputs.leaves.get(name),
            telemetry_line=telemetry.leaves.get(name),
            texts=(*outputs.texts.get(name, ()), *telemetry.texts.get(name, ())),
        )
        for name in outputs.ids
        if name in outputs.leaves or name in telemetry.leaves
    ]
    kept = (MANIFEST, CONFIG, question_file(run.benchmark), *BESIDE)
    files = {name: run_files[name] for name in kept if name in run_files}
    files |= {PUBLIC_OUTPUTS: outputs.data, WITHHELD: encode_rows(rows)}
    if telemetry.leaves:
        files[PUBLIC_TELEMETRY] = telemetry.data
    elif TELEMETRY in run_files:
        files[TELEMETRY] = run_files[TELEMETRY]
    predicate = _predicate(run, files, rows, created, signer, registry_version)
    return {**files, REDACTION: sign_redaction(predicate, signer)}


def _run_of(files: Mapping[str, bytes]) -> RunPredicate:
    if is_redacted(files):
        raise ValueError("texts of this copy are withheld already; take the run as it was signed")
    envelope = dsse.decode_envelope(files[MANIFEST])
    run = decode_statement(envelope.payload_type, dsse.decode_base64(envelope.payload)).predicate
    if run.lines is None:
        raise ValueError("the manifest is of version v0.1, which binds no row by itself: nothing of it can be withheld")
    decode_outputs(files[OUTPUTS])
    if run.telemetry is not None:
        decode_telemetry(files[TELEMETRY])
    return run


def _by_row(withhold: Sequence[Withholding]) -> dict[str, dict[str, Withholding]]:
    wanted: dict[str, dict[str, Withholding]] = {}
    for one in withhold:
        if one.field in wanted.setdefault(one.id, {}):
            raise ValueError(f"{one.id!r}, {one.field}: it is decided twice")
        wanted[one.id][one.field] = one
    return wanted


def _unknown(withhold: Sequence[Withholding], *sides: _Side) -> list[str]:
    known = {(text_of, text.field) for side in sides for text_of, texts in side.texts.items() for text in texts}
    bad = {problem.partition(": ")[0] for side in sides for problem in side.problems}
    named = ((f"{one.id!r}, {one.field}", one) for one in withhold)
    return [
        f"{name}: there is no such text" for name, one in named if (one.id, one.field) not in known and name not in bad
    ]


class _Side:
    """One of the two files of rows as it is published, with an entry for each text that is withheld in it."""

    def __init__(self, data: bytes, wanted: Mapping[str, Mapping[str, Withholding]], salts: Salts) -> None:
        self.ids: list[str] = []
        self.texts: dict[str, tuple[WithheldText, ...]] = {}
        self.leaves: dict[str, str] = {}
        self.problems: list[str] = []
        lines = []
        for line in data.split(b"\n")[:-1]:
            members = msgspec.json.decode(line)
            name, places = members["id"], texts_of(members)
            self.ids.append(name)
            decided = {field: one for field, one in wanted.get(name, {}).items() if field in places}
            if decided:
                self.leaves[name] = line_leaf(line).hex()
                self.texts[name] = tuple(self._entries(name, places, decided, salts))
                line = msgspec.json.encode(members, order="sorted")  # the names of a row's members are ASCII
            lines.append(line + b"\n")
        self.data = b"".join(lines)

    def _entries(
        self,
        name: str,
        places: Mapping[str, tuple[dict[str, Any], str]],
        decided: Mapping[str, Withholding],
        salts: Salts,
    ) -> Iterator[WithheldText]:
        for field, (holder, member) in places.items():
            text = holder[member]
            if (one := decided.get(field)) is not None:
                problem = _problem(one, text)
                if problem is not None:
                    self.problems.append(f"{name!r}, {field}: {problem}")
                    continue
                reason = one.reason if text is not None else NEVER_THERE
                holder[member] = _public(one, text)
            elif looks_withheld(field, text):
                reason = NEVER_THERE if text is None else IS_MARK
            else:
                continue
            digest = salted_digest(salts(name, field), text or "")
            yield WithheldText(field=field, salted_sha256=digest, reason=reason)


def _problem(one: Withholding, text: str | None) -> str | None:
    if (problem := reason_problem(one.reason)) is not None:
        return problem
    if one.spans is None or text is None or is_chunk(one.field):
        return None
    if not one.spans or any(not 0 <= start < end <= len(text) for start, end in one.spans):
        return f"a span lies inside the text's {len(text)} characters, and there is at least one"
    return None


def reason_problem(reason: str) -> str | None:
    """Return why nothing may be withheld for a reason, or None."""
    if not reason.strip() or len(reason) > MAX_REASON:
        return f"withholding takes a reason of 1 to {MAX_REASON} characters"
    return None


def _public(one: Withholding, text: str | None) -> str | None:
    if is_chunk(one.field) or text is None:
        return None
    if one.spans is None:
        return GONE
    found, end = [], 0
    for start, stop in sorted(one.spans):
        if start >= end:
            found += [text[end:start], CUT]
        end = max(end, stop)
    return "".join([*found, text[end:]])


def _predicate(
    run: RunPredicate,
    files: Mapping[str, bytes],
    rows: Sequence[WithheldRow],
    created: int,
    signer: Signer,
    registry_version: int | None,
) -> RedactionPredicate:
    def digest(name: str) -> Digest:
        return Digest(sha256=canon.sha256(files[name]))

    return RedactionPredicate(
        of=digest(MANIFEST),
        run_id=run.run_id,
        row=run.row,
        pass_=run.pass_,
        outputs=digest(PUBLIC_OUTPUTS),
        telemetry=digest(PUBLIC_TELEMETRY) if PUBLIC_TELEMETRY in files else None,
        withheld=WithheldRef(digest=digest(WITHHELD), rows=len(rows), texts=sum(len(row.texts) for row in rows)),
        created=created,
        signer=signer.ref(registry_version),
    )


def sign_redaction(predicate: RedactionPredicate, signer: Signer) -> bytes:
    """Return the signed envelope of a redaction; raises `ValueError` for one that no reader would accept."""
    statement = RedactionStatement(
        type_=STATEMENT_TYPE,
        predicate_type=REDACTION_TYPE,
        subject=(Subject(name=PUBLIC_OUTPUTS, digest=predicate.outputs),),
        predicate=predicate,
    )
    return sign_checked(statement, _form_problem(statement), signer)


def decode_redaction(data: bytes) -> SignedRedaction:
    """Read a redaction, its signature unchecked.

    Raises `VerifyError`: TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL.
    """
    envelope, payload, statement = decode_as(data, RedactionStatement, REDACTION_KIND, "a redaction")
    refuse_problem(_form_problem(statement))
    return SignedRedaction(statement.predicate, envelope, payload, data)


def _form_problem(statement: RedactionStatement) -> str | None:
    predicate, withheld = statement.predicate, statement.predicate.withheld
    if statement.subject != (Subject(name=PUBLIC_OUTPUTS, digest=predicate.outputs),):
        return f"the only subject must be {PUBLIC_OUTPUTS} with its digest"
    if not _RUN_ID.fullmatch(predicate.run_id):
        return "the run's id must be 32 lower-case hex digits"
    if not 1 <= predicate.pass_.k <= predicate.pass_.of:
        return f"there is no pass {predicate.pass_.k} of {predicate.pass_.of}"
    if not 1 <= withheld.rows <= withheld.texts:
        return "a redaction withholds at least one text, and of each row that it names"
    digests = [predicate.of, predicate.outputs, withheld.digest, *filter(None, [predicate.telemetry])]
    return common_problem(predicate.created, digests)


def decode_withheld(data: bytes) -> tuple[WithheldRow, ...]:
    """Read `withheld.jsonl`; raises ROW_MALFORMED naming the first bad line, and BUNDLE_TOO_LARGE."""
    return read_rows(data, WITHHELD, WithheldRow)
