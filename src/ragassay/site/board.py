"""Verified runs become a board: tables of rows that may be compared, ranked, with what must be said. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from ragassay import __version__
from ragassay.manifest.statement import RunDocument
from ragassay.records import Reexecution
from ragassay.site.cells import question_lines
from ragassay.site.changes import with_changes
from ragassay.site.closedbook import closed_book, control_of
from ragassay.site.exposure import all_documents, by_key, exposure_lines
from ragassay.site.fairness import fairness_facts
from ragassay.site.figures import board_row
from ragassay.site.frozen import frozen_facts, frozen_line, frozen_warnings, same_name_warnings
from ragassay.site.given import Given, given_of
from ragassay.site.group import (
    Group,
    current_versions,
    ended,
    groups,
    is_measured,
    role_of,
    table_id,
    table_key,
    why_apart,
)
from ragassay.site.judgeknown import Known
from ragassay.site.judging import judging_of, panel_of
from ragassay.site.loaded import LoadedRun, Withdrawn
from ragassay.site.numbers import plural
from ragassay.site.pairs import Family, comparisons, family_of, gap, pair, with_lead
from ragassay.site.questionrecord import ExposureLine
from ragassay.site.record import NO_RUNS, SCHEMA, Board, BoardPlan, BoardRow, RefusedRun, Table
from ragassay.site.reviewed import review_facts, review_of, unrecorded
from ragassay.site.runlines import published_board, voided_runs, with_evidence, with_void_rows, with_voided
from ragassay.site.sentence import summary
from ragassay.site.standrecord import VoidedRun
from ragassay.site.window import RowRuns, row_runs
from ragassay.site.words import all_identical, attested, board_warnings, row_warnings, table_warnings

ORDER = ("ranked", "oracle", "control", "unranked", "not_run", "superseded", "voided")


def build_board(
    runs: Sequence[LoadedRun],
    *,
    plan: BoardPlan | None = None,
    name: str | None = None,
    now: int,
    known: Known | None = None,
    scope: Literal["local", "public"] = "local",
    withdrawn: Sequence[Withdrawn] = (),
) -> Board:
    """Return the board of all verified runs; a run that fails verification is named and stands in no table.

    `plan` is what the board file asks for; where there is none, `name` is what the board is called, if that is known.
    `now` is in Unix seconds; `known` is what the workspace keeps of its judges. In scope public `runs` are those that
    were published, `withdrawn` the publications that were taken back. A run that its log takes back is shown as void
    and counts nowhere.
    """
    documents = [run.document for run in runs if run.document is not None]
    found = groups(documents, plan)
    given = _Given(
        plan=plan,
        current=current_versions(documents, plan),
        runs={run.id: run for run in runs if run.document is not None},
        known=known or Known(),
        voided=voided_runs(runs, withdrawn),
        sound=tuple(all_documents(runs)),
    )
    tables = tuple(
        _table(group, given, apart=why_apart(group, found[0]) if index else None) for index, group in enumerate(found)
    )
    tables = with_void_rows(tables, [table_key(group.latest.predicate) for group in found], given.voided)
    refused = [run for run in runs if run.document is None and run.voided is None]
    return Board(
        schema=SCHEMA,
        name=plan.name if plan else name or (tables[0].benchmark.id if tables else NO_RUNS),
        scope=scope,
        generated=now,
        harness=__version__,
        sentence=_sentence(tables, len(documents), len(refused), plan),
        tables=tables,
        refused=tuple(RefusedRun(id=run.id, codes=run.codes, reason=run.refused or "") for run in refused),
        warnings=board_warnings(runs),
        attested=attested(runs),
        control_waiver=plan.control_waiver if plan else None,
        voided=given.voided,
        published=published_board(runs) if scope == "public" else None,
    )


class _Given(msgspec.Struct, frozen=True, kw_only=True):
    """What every table of a board is built from beside its own runs; `runs` by id, the drawn ones."""

    plan: BoardPlan | None
    current: Mapping[str, str]
    runs: Mapping[str, LoadedRun]
    known: Known
    voided: tuple[VoidedRun, ...]
    sound: tuple[RunDocument, ...]
    """Every run that nothing but its voiding speaks against."""

    def seen(self) -> dict[str, Reexecution]:
        """Return what came of executing runs again, by their ids."""
        return {name: run.reexecution for name, run in self.runs.items() if run.reexecution is not None}


def _sentence(tables: Sequence[Table], drawn: int, refused: int, plan: BoardPlan | None) -> str:
    if tables:
        left_out = f"; {plural(refused, 'run')} could not be verified and {'is' if refused == 1 else 'are'} left out"
        return tables[0].sentence.removesuffix(".") + (left_out if refused else "") + "."
    if refused:
        return f"None of {plural(drawn + refused, 'run')} could be verified, so there is nothing to rank."
    held = [f"{row.name}: {row.held}" for row in (plan.rows if plan else ()) if row.held]
    if held:
        return f"No run is signed yet. {'. '.join(held)}."
    return "No run yet: `ragassay run` makes them."


def _judged(group: Group, runs: Mapping[str, LoadedRun]) -> Given:
    """Return the judgements of a table's runs."""
    return given_of([runs[identity] for identity in sorted(d.predicate.run_id for d in group.documents)])


def _table(group: Group, given: _Given, *, apart: str | None) -> Table:
    main, plan, judgements = apart is None, given.plan, _judged(group, given.runs)
    p, config = group.latest.predicate, group.latest.config
    benchmark = group.latest.benchmark
    digest = p.benchmark.digest.sha256
    pages = {q.id: q.page for q in benchmark.questions if q.page is not None}
    rows = row_runs(group, plan, given.current, given.seen(), main=main)
    drawn = [row for row in rows if row.drawn]
    compared = comparisons(_best_first(drawn), digest, pages)
    family = family_of(drawn, compared)
    panel = panel_of(rows, judgements, group.latest)
    pairs = tuple(
        pair(comparison, family, {row.key: row.name for row in rows}, panel.under(comparison.a, comparison.b))
        for comparison in compared
    )
    exposure = exposure_lines(rows, given.sound)
    exposed = by_key(exposure)
    lines = [with_lead(_line(row, rows, family, digest, pages, exposed.get(row.key)), family, pairs) for row in rows]
    lines = [with_evidence(line, row.runs, given.runs) for line, row in zip(lines, rows, strict=True)]
    lines = [with_voided(line, given.voided) for line in with_changes(lines, rows)]
    if main and plan:
        lines = [_with_held(line, plan) for line in lines] + _not_run(plan, {row.name for row in rows})
    lines.sort(key=lambda line: (_place(line), line.rank or 0))
    judging = judging_of(rows, lines, panel, judgements, given.known)
    questions = question_lines([row for row in rows if row.standing != "superseded"], benchmark)
    standing = [row for row in rows if row.standing != "superseded"]
    control, review = control_of(rows), review_of(benchmark)
    frozen = frozen_line([given.runs[document.predicate.run_id] for document in group.documents])
    return Table(
        id=table_id(p, p.corpus.digest.sha256 if p.corpus and p.corpus.digest else None),
        main=main,
        why_apart=apart,
        benchmark=group.benchmark(),
        scorer=config.measure.scorer if config else p.metric.id.partition("-judged-by-")[0],
        judge=p.judge.id,
        judge_kind=config.measure.judge.get("kind", "unknown") if config else "unknown",
        answer=p.model.id if p.model else "unknown",
        answer_kind=config.measure.answer.get("kind", "unknown") if config else "unknown",
        corpus=p.corpus.digest.sha256 if p.corpus and p.corpus.digest else None,
        metric=p.metric.id,
        sentence=summary(lines, pairs, family),
        rows=tuple(lines),
        pairs=pairs,
        questions=questions,
        warnings=table_warnings(standing, questions, group.latest, plan if main else None, judging)
        + unrecorded(lines, benchmark, measured=is_measured(group.latest))
        + (*frozen_warnings(frozen), *same_name_warnings(benchmark, given.runs.values())),
        judging=judging,
        review=review,
        facts=(*frozen_facts(frozen), *fairness_facts(lines), *review_facts(review)),
        frozen=frozen,
        exposure=exposure,
        closed_book=closed_book(control) if control is not None else None,
    )


def _best_first(rows: Sequence[RowRuns]) -> list[RowRuns]:
    """Return rows by the score they show, so that a difference of two reads 'better minus worse'."""

    def score(row: RowRuns) -> float:
        found = row.shown.predicate.score if row.shown else None
        return found.num / found.den if found else -1.0

    return sorted(rows, key=lambda row: (-score(row), row.name, row.key))


def _place(line: BoardRow) -> int:
    return ORDER.index(line.role if line.standing == "set_apart" else line.standing)


def _line(
    row: RowRuns,
    rows: Sequence[RowRuns],
    family: Family,
    digest: str,
    pages: Mapping[str, str],
    exposure: ExposureLine | None,
) -> BoardRow:
    line = board_row(row, pages)
    identical = all_identical([other for other in rows if other.standing != "superseded"])
    changes: dict[str, object] = {"warnings": row_warnings(row, line, exposure=exposure, identical_said=identical)}
    if row.role == "row" and row.drawn:
        control = _end(rows, "control")
        changes["gap"] = gap(row, control, _end(rows, "oracle"), digest, pages)
    if row.key in family.ranks:
        span = family.intervals[row.key]
        changes["rank"] = family.ranks[row.key]
        changes["rank_interval"] = (span.first, span.last)
        first = family.first
        if first is not None and first != row.key:
            changes["not_distinguished"] = not family.distinguished(first, row.key)
    return msgspec.structs.replace(line, **changes)


def _end(rows: Sequence[RowRuns], role: str) -> RowRuns | None:
    """Return the control or oracle that the gap is measured with: the most recent one that has a number.

    One that is no longer in the board file stands behind those that are.
    """
    found = [row for row in rows if row.role == role and row.drawn]
    return max(found, key=lambda row: (row.standing == "set_apart", ended(row.runs[-1]), row.key), default=None)


def _with_held(line: BoardRow, plan: BoardPlan) -> BoardRow:
    """Return a row with a warning for each of its passes that was begun and is not signed."""
    held = next((row.held for row in plan.rows if row.name == line.name), None)
    if held is None or line.standing == "superseded":
        return line
    return msgspec.structs.replace(line, warnings=(*line.warnings, held))


def _not_run(plan: BoardPlan, measured: set[str]) -> list[BoardRow]:
    return [
        BoardRow(
            name=row.name,
            key=row.key or "",
            measure="",
            role=role_of(row.stack),
            stack=row.stack,
            standing="not_run",
            reason=row.left_out or row.held or "not run yet",
            exposure=row.exposure,
            warnings=(row.left_out or row.held or "not run yet",),
        )
        for row in plan.rows
        if row.name not in measured
    ]
