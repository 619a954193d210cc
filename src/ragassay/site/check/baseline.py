"""What a row is compared with: the same row of verified runs, or of a `board.json`; like with like. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.statement import RunDocument
from ragassay.site.changes import changes
from ragassay.site.check.record import BaselineKind, BaselineLine
from ragassay.site.check.side import Side, eligible, side_of_board, side_of_runs
from ragassay.site.group import Group, groups, table_id, table_key, why_apart
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import listed
from ragassay.site.record import Board, BoardRow, Table
from ragassay.site.standrecord import Change
from ragassay.site.window import RowRuns, row_runs


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that were verified, or a board that was written before; exactly one of the two is there."""

    source: str
    name: str | None = None
    runs: Sequence[LoadedRun] = ()
    board: Board | None = None

    @property
    def kind(self) -> BaselineKind:
        """Return what it is."""
        return "runs" if self.board is None else "board.json"


class Before(msgspec.Struct, frozen=True, kw_only=True):
    """The row of a baseline: its scores, what is measured otherwise since, and what has to be said."""

    side: Side
    changed: tuple[Change, ...]
    notes: tuple[str, ...]
    signers: tuple[str, ...] = ()


def row_before(baseline: Baseline, group: Group, now: RowRuns) -> Before:
    """Return the row of a baseline that has the name of `now`, a row of the table of `group`.

    Raises `InputError` where there is none, where it has no number, or where the comparison would not be of like with
    like: another question set, judge, answering model or rubric.
    """
    if baseline.board is not None:
        return _of_board(baseline.source, baseline.board, group, now)
    return _of_runs(baseline.source, baseline.runs, group, now)


def baseline_line(baseline: Baseline, before: Sequence[Before]) -> BaselineLine:
    """Return what was compared with, as a report names it."""
    return BaselineLine(
        source=baseline.source,
        kind=baseline.kind,
        name=baseline.board.name if baseline.board else baseline.name,
        runs=tuple(dict.fromkeys(run for one in before for run in one.side.runs)),
        signers=tuple(dict.fromkeys(key for one in before for key in one.signers)),
    )


def _of_runs(source: str, runs: Sequence[LoadedRun], group: Group, now: RowRuns) -> Before:
    documents = _sound(source, runs)
    ref = group.latest.predicate.benchmark
    current = {ref.id: ref.digest.sha256}
    found = [
        (one, row)
        for one in groups(documents, None)
        for row in row_runs(one, None, current, {}, main=False)
        if row.name == now.name and row.standing != "superseded"
    ]
    if not found:
        raise InputError(_no_row(source, now.name, {document.predicate.row.name for document in documents}))
    own = table_key(group.latest.predicate)
    alike = [(one, row) for one, row in found if table_key(one.latest.predicate) == own]
    if not alike:
        raise InputError(f"{_unlike(source, now.name)}: {why_apart(found[0][0], group)}")
    corpus = group.latest.predicate.corpus
    row = next((row for one, row in alike if one.latest.predicate.corpus == corpus), alike[0][1])
    if not eligible(row) or not row.headline:
        raise InputError(f"{source}: row {now.name!r} has no number to compare with: {row.reason or 'no score'}")
    side = side_of_runs(row)
    mine = now.runs[-1].config
    return Before(
        side=side,
        changed=changes(side.measure, mine.measure) if side.measure and mine else (),
        notes=_harness(side.harness, mine.circumstance.harness if mine else None),
        signers=tuple(dict.fromkeys(document.predicate.signer.kid for document in eligible(row))),
    )


def _sound(source: str, runs: Sequence[LoadedRun]) -> list[RunDocument]:
    """Return the runs that count, each once; raises `InputError` where one could not be verified."""
    refused = [f"{run.id}: {run.refused}" for run in runs if run.document is None and run.voided is None]
    if refused:
        raise InputError(f"{source} cannot be compared with: not every run of it could be verified", refused)
    return list({run.document.predicate.run_id: run.document for run in runs if run.document is not None}.values())


def _of_board(source: str, board: Board, group: Group, now: RowRuns) -> Before:
    found = [
        (table, row)
        for table in board.tables
        for row in table.rows
        if row.name == now.name and row.standing not in ("superseded", "not_run", "voided")
    ]
    if not found:
        raise InputError(_no_row(source, now.name, {row.name for table in board.tables for row in table.rows}))
    apart = [_unlike_table(table, group) for table, _ in found]
    if all(apart):
        raise InputError(f"{_unlike(source, now.name)}: {apart[0]}")
    alike = [pair for pair, why in zip(found, apart, strict=True) if not why]
    corpus = _corpus(group)
    table, row = next((pair for pair in alike if pair[0].corpus == corpus), alike[0])
    if row.score is None or not any(run.in_window and run.why_not is None for run in row.runs):
        raise InputError(f"{source}: row {now.name!r} has no number to compare with: {row.reason or 'no score'}")
    notes = [
        "a board.json is not signed: its numbers are taken as they stand, and what it tells of a measurement is little"
    ]
    if not _same_judge(table, group):
        notes.append("this board.json does not tell the judge's prompt and parameters, which may have been others")
    return Before(side=side_of_board(table, row, source), changed=_changed(table, row, group, now), notes=tuple(notes))


def _unlike_table(table: Table, group: Group) -> str | None:
    """Say what forbids comparing with a table of a `board.json`; None where it is of the same questions and judge."""
    p = group.latest.predicate
    judge = table.judging.judges[0].digest if table.judging and table.judging.judges else None
    if table.benchmark.digest != p.benchmark.digest.sha256:
        same = table.benchmark.id == p.benchmark.id
        what = "another version of the question set" if same else "another question set"
        return f"{what} ({table.benchmark.id} {table.benchmark.version})"
    if table.judge != p.judge.id or (judge and p.judge.digest and judge != p.judge.digest.sha256):
        return f"another judge ({table.judge})"
    if table.metric != p.metric.id:
        return f"another scorer ({table.metric})"
    if table.id != table_id(p, table.corpus):
        return f"another answering model or other parameters ({table.answer})"
    return None


def _same_judge(table: Table, group: Group) -> bool:
    """Tell whether the judge is known to be the same: its digest is told, or a row was measured as one is now."""
    if table.judging and table.judging.judges and table.judging.judges[0].digest:
        return True
    now = {document.config.measure_digest() for document in group.documents if document.config is not None}
    return any(row.measure in now for row in table.rows)


def _changed(table: Table, row: BoardRow, group: Group, now: RowRuns) -> tuple[Change, ...]:
    """Return what a `board.json` tells of a row's measurement that is otherwise now."""
    config = now.runs[-1].config
    if config is None or row.measure == now.measure:
        return ()
    pairs = [
        ("corpus.digest", table.corpus, _corpus(group)),
        ("stack.kind", row.stack, now.stack),
        ("threshold", row.threshold, config.measure.threshold),
        ("topK", row.top_k, config.measure.top_k),
    ]
    seen = tuple(Change(field=f, before=_text(old), after=_text(new)) for f, old, new in pairs if old != new)
    return seen or (Change(field="measure", before=_text(row.measure), after=_text(now.measure)),)


def _text(value: object) -> str:
    return canon.canonical(value).decode("utf-8")


def _corpus(group: Group) -> str | None:
    ref = group.latest.predicate.corpus
    return ref.digest.sha256 if ref and ref.digest else None


def _harness(before: str | None, now: str | None) -> tuple[str, ...]:
    if before is None or now is None or before == now:
        return ()
    return (f"the baseline was measured by ragassay {before}, this by {now}: see the changelog for moved numbers",)


def _no_row(source: str, name: str, known: set[str]) -> str:
    there = f"its rows are {listed(sorted(known))}" if known else "it has no run that counts"
    return f"{source} has no row {name!r}; {there}"


def _unlike(source: str, name: str) -> str:
    return f"row {name!r} of {source} is not to be compared with, run it again on the same questions, judge and model"
