"""Rows of a signed run beside those that came out when it was executed again: equal, or where not. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from typing import Literal, TypeAlias

import msgspec

from ragassay.manifest import RunPredicate, content_digest
from ragassay.manifest.statement import WithheldRow
from ragassay.manifest.withheld_texts import texts_of
from ragassay.records import Counts, OutputChunk, OutputRow, Record, Score, to_json
from ragassay.score import count, run_score

NAMED = 20
"""Rows that differ and are named; the others are counted."""

Ending: TypeAlias = Literal["equal", "different", "not possible"]

_HINDRANCES = ("retrieval_failed", "harness_failed")
"""Failures that may be of the place where it is executed. A model's or judge's, being deterministic, is its answer."""

_NOT_COMPARED = frozenset({"run", "pass_", "fill"})
"""Where a row stands and where it was filled in from: not what executing it gives."""


class RowDifference(Record, frozen=True):
    """One row that came out different, and in which members; scores in hundredths, None without one."""

    id: str
    members: tuple[str, ...]
    score_signed: int | None
    score_now: int | None
    failed_signed: str | None = None
    """How the row had failed in the run."""
    failed_now: str | None = None
    """How it failed when it was executed again."""


class Rerun(Record, frozen=True):
    """What came of executing a run again; where that was not possible, `why` and `problems` say why."""

    outcome: Ending
    why: str | None = None
    problems: tuple[str, ...] = ()
    rows: int = 0
    differing: int = 0
    differences: tuple[RowDifference, ...] = ()
    """The first of them, at most `NAMED`."""
    content: str | None = None
    """The content digest of what came out."""
    score: Score | None = None
    counts: Counts | None = None
    filled: int = 0
    """Rows that the run says were filled in from another pass; each was executed like any other."""
    withheld: int = 0
    """Texts that the run withholds; their digests were compared."""
    made_with: str | None = None
    """The version of ragassay that made the run."""
    harness: str | None = None
    """The version that executed it again."""
    took_ms: int | None = None


def not_possible(why: str, problems: Sequence[str] = ()) -> Rerun:
    """Return that a run was not executed again, and why."""
    return Rerun(outcome="not possible", why=why, problems=tuple(problems))


def compared(
    predicate: RunPredicate,
    signed: Sequence[OutputRow],
    found: Sequence[OutputRow],
    redacted: Sequence[WithheldRow] = (),
) -> Rerun:
    """Return whether `found`, the rows that came out, are the signed rows, which have the same ids in the same order.

    Of the texts that are `redacted` in the published rows only the content digest, that of the run as it was signed,
    tells whether they came out again. Equal means equal content digest, counts and score. A row of which the retrieval
    fails now and did not fail in the run says nothing against it: where nothing else differs, the outcome is
    `not possible`.
    """
    fields = {row.id: [text.field for text in row.texts if row.line is not None] for row in redacted}
    signed = [_uncovered(old, new, fields) for old, new in zip(signed, found, strict=True)]
    now = [_as_declared(new, old) for new, old in zip(found, signed, strict=True)]
    differing = [one for old, new in zip(signed, now, strict=True) if (one := _difference(old, new)) is not None]
    content, score, counts = content_digest(now), run_score(row.score for row in now), count(now)
    outcome, why = _ending(differing, len(now))
    if not differing and (content, score, counts) != (predicate.content.sha256, predicate.score, predicate.counts):
        outcome, why = "different", "no row came out different, but content digest, counts or score did"
    return Rerun(
        outcome=outcome,
        why=why,
        rows=len(now),
        differing=len(differing),
        differences=tuple(differing[:NAMED]),
        content=content,
        score=score,
        counts=counts,
        filled=sum(row.fill is not None for row in signed),
        withheld=sum(chunk.text is None for row in signed for chunk in row.chunks) + sum(map(len, fields.values())),
    )


def _uncovered(old: OutputRow, new: OutputRow, fields: Mapping[str, Collection[str]]) -> OutputRow:
    """Return a published row with the texts that are withheld from it as they came out now."""
    if not fields.get(old.id):
        return old
    members = to_json(old)
    shown, found = texts_of(members), texts_of(to_json(new))
    for field in fields[old.id]:
        if field in shown and field in found:
            (holder, name), (source, member) = shown[field], found[field]
            holder[name] = source[member]
    return msgspec.convert(members, OutputRow)


def _as_declared(new: OutputRow, old: OutputRow) -> OutputRow:
    """Return what came out with the source of a filled row, and without the texts that the run withholds."""
    chunks = tuple(
        _withheld(chunk) if was is not None and was.text is None and chunk is not None else chunk
        for chunk, was in zip_longest(new.chunks, old.chunks)
        if chunk is not None
    )
    return msgspec.structs.replace(new, fill=old.fill, chunks=chunks)


def _withheld(chunk: OutputChunk) -> OutputChunk:
    return msgspec.structs.replace(chunk, text=None)


def _difference(old: OutputRow, new: OutputRow) -> RowDifference | None:
    members = [
        field.encode_name
        for field in msgspec.structs.fields(OutputRow)
        if field.name not in _NOT_COMPARED and getattr(old, field.name) != getattr(new, field.name)
    ]
    if not members:
        return None
    return RowDifference(
        id=old.id,
        members=tuple(members),
        score_signed=old.score,
        score_now=new.score,
        failed_signed=_failed(old),
        failed_now=_failed(new),
    )


def _failed(row: OutputRow) -> str | None:
    return f"{row.status}: {row.failure.kind}: {row.failure.message}"[:500] if row.failure else None


def _ending(differing: Sequence[RowDifference], rows: int) -> tuple[Ending, str | None]:
    if not differing:
        return "equal", None
    broken = [one for one in differing if one.failed_signed is None and (one.failed_now or "").startswith(_HINDRANCES)]
    if len(broken) == len(differing):
        first = broken[0]
        why = f"executing it again failed on {len(broken)} of {rows} questions ({first.id}: {first.failed_now})"
        return "not possible", why
    why = f"{len(differing)} of {rows} rows came out different"
    healed = [one for one in differing if one.failed_signed is not None and one.failed_now is None]
    if healed:
        first = healed[0]
        why += f"; {len(healed)} of them had failed in the run and did not fail now ({first.id}: {first.failed_signed})"
    if broken:
        why += f"; {len(broken)} of them failed now ({broken[0].id}: {broken[0].failed_now})"
    return "different", why
