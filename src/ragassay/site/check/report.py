"""Verified runs, and what is asked of them, become a report. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay.errors import InputError
from ragassay.site.check.baseline import Baseline, Before, baseline_line, row_before
from ragassay.site.check.compared import compared
from ragassay.site.check.control import control_problems, control_warnings
from ragassay.site.check.demands import Demands
from ragassay.site.check.record import SCHEMA, CheckReport, Finding, RowCheck
from ragassay.site.check.whole import min_score, whole
from ragassay.site.group import Group, current_versions, groups
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import listed
from ragassay.site.record import Board, BoardPlan, BoardRow
from ragassay.site.window import RowRuns, row_runs


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What is checked: a board, the runs it is of, and what its file asks for.

    `passes` is how many a row should have (None: what its latest run says); `held` says by row which passes were begun
    and are not signed, `stale` what its runs measured otherwise than the board file asks.
    """

    board: Board
    runs: Sequence[LoadedRun]
    plan: BoardPlan | None = None
    passes: int | None = None
    held: Mapping[str, str] = {}
    stale: Mapping[str, Sequence[str]] = {}


def check(checked: Checked, demands: Demands, baseline: Baseline | None = None) -> CheckReport:
    """Return how every row that is asked for stands.

    Raises `InputError` for a row that nobody knows, and where a baseline cannot be compared with; every such row is
    listed.
    """
    board = checked.board
    names = _names(checked, demands)
    group, measured = _measured(checked)
    before = _befores(names, measured, group, baseline)
    rows = tuple(_row(name, checked, demands, measured.get(name), before.get(name)) for name in names)
    problems = [f"run {run.id} could not be verified: {run.reason}" for run in board.refused]
    problems += control_problems(board, checked.plan, checked.held, allow_missing=demands.allow_missing)
    notes = [note for one in before.values() for note in one.notes]
    return CheckReport(
        schema=SCHEMA,
        board=board.name,
        benchmark=f"{board.main.benchmark.id} {board.main.benchmark.version}" if board.main else "",
        passed=not problems and all(row.passed for row in rows),
        rows=rows,
        problems=tuple(problems),
        warnings=tuple(dict.fromkeys([*control_warnings(board), *notes])),
        baseline=baseline_line(baseline, list(before.values())) if baseline else None,
    )


def _names(checked: Checked, demands: Demands) -> tuple[str, ...]:
    """Return the rows to check; raises `InputError` where one is in neither the board file nor any run."""
    main, plan = checked.board.main, checked.plan
    lines = {row.name: row for row in main.rows} if main else {}
    planned = {row.name: row.stack for row in plan.rows} if plan else {}
    unknown = [name for name in demands.rows if name not in lines and name not in planned]
    if unknown:
        there = listed(sorted({*lines, *planned})) or "none yet; `ragassay run` makes runs"
        raise InputError(f"there is no row {listed([repr(n) for n in unknown], 'or')}; the rows are {there}")
    if demands.rows:
        return tuple(dict.fromkeys(demands.rows))
    named = [name for name, stack in planned.items() if stack not in ("none", "oracle")]
    seen = [row for row in lines.values() if row.role == "row" and row.standing in ("ranked", "unranked")]
    named = named or [row.name for row in seen]
    if not named:
        refused = [f"run {run.id} could not be verified: {run.reason}" for run in checked.board.refused]
        raise InputError("there is no row to check; `ragassay run` makes runs, and --row names a row", refused)
    return tuple(dict.fromkeys(named))


def _measured(checked: Checked) -> tuple[Group | None, dict[str, RowRuns]]:
    """Return the runs of the board's main table, and its rows by name."""
    documents = [run.document for run in checked.runs if run.document is not None]
    if not documents:
        return None, {}
    group = groups(documents, checked.plan)[0]
    seen = {run.id: run.reexecution for run in checked.runs if run.document and run.reexecution is not None}
    rows = row_runs(group, checked.plan, current_versions(documents, checked.plan), seen, main=True)
    return group, {row.name: row for row in rows if row.standing != "superseded"}


def _befores(
    names: Sequence[str], measured: Mapping[str, RowRuns], group: Group | None, baseline: Baseline | None
) -> dict[str, Before]:
    if baseline is None or group is None:
        return {}
    found: dict[str, Before] = {}
    problems: list[InputError] = []
    for name in names:
        if name not in measured:
            continue
        try:
            found[name] = row_before(baseline, group, measured[name])
        except InputError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise InputError(f"{baseline.source} cannot be compared with", [str(problem) for problem in problems])
    return found


def _row(name: str, checked: Checked, demands: Demands, row: RowRuns | None, before: Before | None) -> RowCheck:
    line = _line(checked.board, name)
    findings: list[Finding] = [
        whole(
            row,
            line,
            passes=checked.passes,
            held=checked.held.get(name),
            stale=checked.stale.get(name, ()),
            allow_missing=demands.allow_missing,
        )
    ]
    if demands.min_score is not None:
        findings.append(min_score(line, demands.min_score))
    found = RowCheck(
        name=name,
        key=row.key if row else None,
        passed=False,
        score=line.score if line else None,
        interval=line.interval if line else None,
        runs=tuple(document.predicate.run_id for document in row.window) if row else (),
        questions=line.questions if line else 0,
        findings=tuple(findings),
    )
    if demands.max_drop is not None:
        found = compared(found, row, before, demands)
    return msgspec.structs.replace(found, passed=not any(one.outcome == "failed" for one in found.findings))


def _line(board: Board, name: str) -> BoardRow | None:
    rows = board.main.rows if board.main else ()
    return next((row for row in rows if row.name == name and row.standing not in ("superseded", "voided")), None)
