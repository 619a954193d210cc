"""What is published of a run whose publisher withholds some of its texts: files, and the signed statement. Pure.

The signed run itself is never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ragassay import canon
from ragassay.manifest import dsse
from ragassay.manifest.decode import decode_outputs, decode_statement, decode_telemetry, question_file
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
from ragassay.manifest.redaction_statement import (
    SignedRedaction,
    decode_redaction,
    decode_withheld,
    sign_redaction,
)
from ragassay.manifest.sign import Signer
from ragassay.manifest.skeleton import line_leaf
from ragassay.manifest.statement import (
    Digest,
    RedactionPredicate,
    RunPredicate,
    WithheldRef,
    WithheldRow,
    WithheldText,
)
from ragassay.manifest.withheld_texts import (
    CUT,
    GONE,
    Salts,
    is_chunk,
    looks_withheld,
    reason_problem,
    salted_digest,
    salts_from,
    texts_of,
)

__all__ = [
    "CUT",
    "GONE",
    "Salts",
    "SignedRedaction",
    "Withholding",
    "build_redaction",
    "decode_redaction",
    "decode_withheld",
    "salted_digest",
    "salts_from",
    "sign_redaction",
]

IS_MARK = "the text itself holds the words that mark a redaction"
NEVER_THERE = "the signed run itself withholds it"
"""Reasons of entries for texts that would pass for withheld ones, in rows that have others."""


class Withholding(msgspec.Struct, frozen=True, kw_only=True):
    """What its publisher decided of one text: withhold it, or the characters of `spans` (pairs of start and end).

    The text of a chunk is withheld whole in either case.
    """

    id: str
    field: str
    reason: str
    spans: tuple[tuple[int, int], ...] | None = None


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
    (announcement, proofs, registry) is kept. A row that loses a text gets an entry also for each other text that would
    pass for a withheld one. `created` is in Unix seconds. The same input, salts and key give the same bytes.

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
