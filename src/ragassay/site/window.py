"""The runs of one row: which are eligible, which make its window, which one is shown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragassay.estimate import RowScores, ScoredRun, coverage, lower_median
from ragassay.manifest.statement import RunDocument
from ragassay.records import Reexecution
from ragassay.site.group import Group, by_time, ended, role_of, stack_kind, why_not_eligible
from ragassay.site.record import BoardPlan, Role, Rung, Standing
from ragassay.site.rung import differs, rungs_of

WINDOW = 5
"""Eligible runs that a row's number is taken from, the most recent ones."""
REPEATABLE_MODELS = frozenset({"reader"})
REPEATABLE_JUDGES = frozenset({"literal"})


class RowRuns(msgspec.Struct, frozen=True, kw_only=True):
    """One row with its runs, oldest first; `window` is empty only where nothing was run."""

    name: str
    key: str
    measure: str
    role: Role
    stack: str
    standing: Standing
    reason: str | None
    runs: tuple[RunDocument, ...]
    window: tuple[RunDocument, ...]
    shown: RunDocument | None
    headline: bool
    """True when every question has a scored pass in the window, so that the row has a number."""
    why_not: Mapping[str, str]
    """Run id to the reason why it is not eligible."""
    rungs: Mapping[str, Rung]
    """Run id to how far it is believed."""
    different: int
    """Runs that came out different when they were executed again."""

    @property
    def drawn(self) -> bool:
        """Tell whether the row has a number to draw and compare."""
        return self.headline and self.standing != "superseded"

    @property
    def identical(self) -> bool:
        """Tell whether model and judge are deterministic and all passes of the window came out the same."""
        first = self.window[0] if self.window else None
        if first is None or first.config is None:
            return False
        fixed = (
            first.config.measure.answer.get("kind") in REPEATABLE_MODELS
            and first.config.measure.judge.get("kind") in REPEATABLE_JUDGES
        )
        return fixed and len({d.predicate.content.sha256 for d in self.window}) == 1

    def scores(self) -> RowScores:
        """Return the passes of the window for the estimates, the row's key as name."""
        return RowScores(
            name=self.key,
            passes=tuple({row.id: row.score for row in d.outputs} for d in self.window),
            deterministic=self.identical,
            shown=scored_run(self.shown) if self.shown and self.shown.predicate.score else None,
        )


def scored_run(document: RunDocument) -> ScoredRun:
    """Return the exact score of a run that has one."""
    score = document.predicate.score
    assert score is not None, "a run without a score is never eligible"
    return ScoredRun(run=document.predicate.run_id, num=score.num, den=score.den, time=ended(document))


def row_runs(
    group: Group,
    plan: BoardPlan | None,
    current: Mapping[str, str],
    seen: Mapping[str, Reexecution],
    *,
    main: bool,
) -> list[RowRuns]:
    """Return the rows of one table in the plan's order, then by name; superseded ones last.

    `seen` holds, by run id, what came of executing a run again.
    """
    keyed: dict[str, list[RunDocument]] = {}
    for document in by_time(group.documents):
        keyed.setdefault(document.predicate.row.key, []).append(document)
    newest = _newest_keys(keyed, plan if main else None)
    planned = [row.name for row in plan.rows] if plan and main else None
    rows = [
        _row(runs, current, seen, superseded=newest[runs[-1].predicate.row.name] != key, planned=planned)
        for key, runs in keyed.items()
    ]
    order = {name: index for index, name in enumerate(planned or [])}
    return sorted(rows, key=lambda r: (r.standing == "superseded", order.get(r.name, len(order)), r.name, r.key))


def filled_by(documents: Iterable[RunDocument]) -> dict[str, str]:
    """Return for each run whose pass was filled the run that stands for it in every window: the latest fill."""
    passes: dict[tuple[str, int], list[RunDocument]] = {}
    for document in by_time(documents):
        if (intent := document.predicate.intent) is not None:
            passes.setdefault((intent.digest.sha256, document.predicate.pass_.k), []).append(document)
    found: dict[str, str] = {}
    for members in passes.values():
        fills = [one.predicate.run_id for one in members if one.predicate.counts.filled]
        if fills:
            found |= {one.predicate.run_id: fills[-1] for one in members if one.predicate.run_id != fills[-1]}
    return found


def _newest_keys(keyed: Mapping[str, Sequence[RunDocument]], plan: BoardPlan | None) -> dict[str, str]:
    """Return for each name the key that stands: the plan's where it knows one, else the most recently measured."""
    latest = by_time(runs[-1] for runs in keyed.values())
    newest = {d.predicate.row.name: d.predicate.row.key for d in latest}
    for row in plan.rows if plan else ():
        if row.key is not None and row.name in newest:
            newest[row.name] = row.key
    return newest


def _row(
    runs: Sequence[RunDocument],
    current: Mapping[str, str],
    seen: Mapping[str, Reexecution],
    *,
    superseded: bool,
    planned: Sequence[str] | None,
) -> RowRuns:
    different = {d.predicate.run_id: why for d in runs if (why := differs(seen.get(d.predicate.run_id))) is not None}
    reasons = {d.predicate.run_id: why for d in runs if (why := why_not_eligible(d, current)) is not None} | different
    reasons |= {run: f"its pass was filled, by run {by}, which stands for it" for run, by in filled_by(runs).items()}
    eligible = [d for d in runs if d.predicate.run_id not in reasons]
    window = tuple(eligible[-WINDOW:]) or (runs[-1],)
    shown, last = _shown(window), runs[-1]
    unscored = _unscored(window)
    kind = stack_kind(last)
    role = role_of(kind)
    standing: Standing = "ranked" if role == "row" else "set_apart"
    reason = None
    if superseded:
        standing, reason = "superseded", "superseded: a row of this name has since been measured otherwise"
    elif not eligible:
        standing, reason = "unranked", reasons[window[0].predicate.run_id]
    elif unscored:
        standing, reason = "unranked", f"{unscored} without a scored pass: no headline number"
    elif planned is not None and last.predicate.row.name not in planned:
        standing, reason = "unranked", "no longer in the board file"
    return RowRuns(
        name=last.predicate.row.name,
        key=last.predicate.row.key,
        measure=last.config.measure_digest() if last.config else "",
        role=role,
        stack=kind,
        standing=standing,
        reason=reason,
        runs=tuple(runs),
        window=window,
        shown=shown,
        headline=not unscored,
        why_not=reasons,
        rungs=rungs_of(runs, seen),
        different=len(different),
    )


def _shown(window: Sequence[RunDocument]) -> RunDocument:
    """Return the lower median of the window; the one run there is where nothing was scored."""
    scored = [d for d in window if d.predicate.score is not None]
    if not scored:
        return window[-1]
    run = lower_median([scored_run(d) for d in scored]).run
    return next(d for d in scored if d.predicate.run_id == run)


def _unscored(window: Sequence[RunDocument]) -> str | None:
    """Say how many questions have no scored pass; None where each has one and every pass is above the floor."""
    found = coverage([{row.id: row.score for row in d.outputs} for d in window])
    if found.enough:
        return None
    missing = found.asked - found.scored
    if missing == 0:
        low = min(found.per_pass)
        return f"{found.asked - low} of {found.asked} questions of a pass"
    return f"{missing} of {found.asked} question{'s' if found.asked != 1 else ''}"
