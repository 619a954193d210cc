"""What a person reads before runs are published: their rows, each content once however many passes gave it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ragassay import canon
from ragassay.manifest.files import MANIFEST
from ragassay.manifest.statement import RunDocument
from ragassay.publish.chosen import choose, counted
from ragassay.records import OutputRow, Question, to_json
from ragassay.records.publication import Decision, Finding
from ragassay.site.group import stack_kind
from ragassay.site.loaded import LoadedRun
from ragassay.site.record import BoardPlan


class Stand(msgspec.Struct, frozen=True, kw_only=True):
    """Where a unit stands: one row of one run, with the name of the board's row and the number of the pass."""

    run: str
    row: str
    pass_k: int


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to read: `output` as the first of the runs holds it, and every run in which it stands."""

    key: str
    output: OutputRow
    question: Question
    stands: tuple[Stand, ...]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One run as it is to be read: its rows' units in the rows' order, and the digest of its manifest's bytes."""

    run: str
    row: str
    pass_k: int
    of: int
    manifest: str
    units: tuple[str, ...]

    @property
    def shown(self) -> str:
        """Return the SHA-256 over the units in the rows' order, one hex digest per line."""
        return canon.sha256("".join(f"{unit}\n" for unit in self.units).encode("ascii"))


def unit_key(output: OutputRow, question: Question) -> str:
    """Return the SHA-256 of the canonical {evidence, reference, row}: what is equal to its reader is read once.

    `row` is the row without `run` and `pass`. Reference and evidence are in it because they are read beside the row and
    become public with it, and no row holds them: under another question set equal rows are not the same to read.
    """
    row = to_json(output)
    del row["run"], row["pass"]
    return canon.digest({"evidence": list(question.evidence), "reference": question.target, "row": row})


def reading_of(run: LoadedRun) -> Reading | None:
    """Return what is to be read of a run; None where it was refused."""
    if run.document is None:
        return None
    p = run.document.predicate
    return Reading(
        run=run.id,
        row=p.row.name,
        pass_k=p.pass_.k,
        of=p.pass_.of,
        manifest=canon.sha256(run.files[MANIFEST]),
        units=tuple(
            unit_key(output, question)
            for output, question in zip(run.document.outputs, run.document.benchmark.questions, strict=True)
        ),
    )


def units(runs: Sequence[LoadedRun]) -> list[Unit]:
    """Return what is to be read of the verified ones among `runs`: in their order, each content where it is first."""
    return units_of([(run.document, reading) for run in runs if run.document and (reading := reading_of(run))])


def units_of(read: Iterable[tuple[RunDocument, Reading]]) -> list[Unit]:
    """Return the units of runs whose readings are known already."""
    first: dict[str, tuple[OutputRow, Question]] = {}
    stands: dict[str, list[Stand]] = {}
    for document, reading in read:
        stand = Stand(run=reading.run, row=reading.row, pass_k=reading.pass_k)
        for key, output, question in zip(reading.units, document.outputs, document.benchmark.questions, strict=True):
            first.setdefault(key, (output, question))
            stands.setdefault(key, []).append(stand)
    return [
        Unit(key=key, output=output, question=question, stands=tuple(stands[key]))
        for key, (output, question) in first.items()
    ]


def touching(run: str, findings: Iterable[Finding], decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return the decisions that stand on findings of one run, in the order of the findings' ids.

    `decisions` are all lines, oldest first: the last of each finding stands.
    """
    holds = {decision.finding: decision for decision in decisions}
    here = {finding.id for finding in findings if any(place.run == run for place in finding.places)}
    return tuple(holds[identity] for identity in sorted(here & holds.keys()))


def decisions_digest(decided: Iterable[Decision]) -> str:
    """Return the SHA-256 over decisions: the canonical list of {finding, kind, action, reason} by the findings' ids.

    Who decided and when is not in it: the same decision, made again, changes nothing.
    """
    ordered = sorted(decided, key=lambda one: one.finding)
    return canon.digest(
        [{"finding": d.finding, "kind": d.kind, "action": d.action, "reason": d.reason} for d in ordered]
    )


class RowUp(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the board whose runs are up for publishing, oldest first; `reason` says why it is not ranked."""

    name: str
    key: str
    stack: str
    reason: str | None
    runs: tuple[LoadedRun, ...]


def up_for_publishing(runs: Sequence[LoadedRun], plan: BoardPlan | None, named: Sequence[str] = ()) -> list[RowUp]:
    """Return the rows of the board's main table in its order, each with the verified runs of its window.

    Verified runs that `named` names by id, or by its beginning, follow in rows of their own where they are in none of
    these. Raises `InputError` for a name of no run or of several.
    """
    by_id = {run.id: run for run in runs if run.document is not None}
    rows = [
        RowUp(
            name=row.name,
            key=row.key,
            stack=row.stack,
            reason=row.reason,
            runs=tuple(by_id[document.predicate.run_id] for document in row.window),
        )
        for row in counted(runs, plan)
    ]
    known = {run.id for row in rows for run in row.runs}
    more: dict[str, list[LoadedRun]] = {}
    for run in choose(runs, plan, (), named) if named else ():
        if run.document is not None and run.id not in known:
            more.setdefault(run.document.predicate.row.key, []).append(run)
    return [*rows, *(_named(key, members) for key, members in more.items())]


def _named(key: str, runs: Sequence[LoadedRun]) -> RowUp:
    document = runs[0].document
    assert document is not None, "only verified runs are in a row"
    return RowUp(
        name=document.predicate.row.name,
        key=key,
        stack=stack_kind(document),
        reason="not counted by the board's main table; named with --run",
        runs=tuple(runs),
    )
