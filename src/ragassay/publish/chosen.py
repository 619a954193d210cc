"""Which runs a publication is of: those that the board's main table counts, or those that were asked for. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragassay.errors import InputError
from ragassay.site.group import current_versions, groups
from ragassay.site.loaded import LoadedRun
from ragassay.site.record import BoardPlan
from ragassay.site.window import RowRuns, row_runs


def counted(runs: Sequence[LoadedRun], plan: BoardPlan | None) -> list[RowRuns]:
    """Return the rows of the board's main table, control and oracle included, those that it no longer has left out."""
    documents = [run.document for run in runs if run.document is not None]
    seen = {run.id: run.reexecution for run in runs if run.reexecution is not None}
    found = groups(documents, plan)
    if not found:
        return []
    names = {row.name for row in plan.rows} if plan is not None else None
    rows = row_runs(found[0], plan, current_versions(documents, plan), seen, main=True)
    return [row for row in rows if row.standing != "superseded" and (names is None or row.name in names)]


def choose(
    runs: Sequence[LoadedRun], plan: BoardPlan | None, rows: Sequence[str] = (), named: Sequence[str] = ()
) -> list[LoadedRun]:
    """Return the runs of the windows of all rows, or of `rows`, or those that `named` names by id or its beginning.

    Where both are given, both are chosen. Raises `InputError` naming every row or run that there is none of.
    """
    table = counted(runs, plan)
    problems = [
        f"no row {name[:80]!r}; there are: {', '.join(row.name for row in table) or 'none'}"
        for name in rows
        if name not in {row.name for row in table}
    ]
    ids: dict[str, None] = {}
    if rows or not named:
        wanted = [row for row in table if not rows or row.name in rows]
        ids |= dict.fromkeys(document.predicate.run_id for row in wanted for document in row.window)
    for name in named:
        found = matching(runs, name)
        if len(found) == 1:
            ids[found[0]] = None
        else:
            problems.append(f"{len(found) or 'no'} runs have an id that begins with {name[:80]!r}; give one whole")
    if problems:
        raise InputError("what is to be published cannot be told", problems)
    by_id = {run.id: run for run in runs}
    return [by_id[name] for name in ids]


class Uncounted(msgspec.Struct, frozen=True, kw_only=True):
    """A finished run that its row's window does not count, and why: by itself it is not published."""

    run: str
    row: str
    pass_k: int
    reason: str


def uncounted(runs: Sequence[LoadedRun], plan: BoardPlan | None, chosen: Sequence[LoadedRun]) -> list[Uncounted]:
    """Return the runs of the main table that are not eligible and that were not chosen."""
    ids = {run.id for run in chosen}
    return [
        Uncounted(run=p.run_id, row=row.name, pass_k=p.pass_.k, reason=row.why_not[p.run_id])
        for row in counted(runs, plan)
        for p in (document.predicate for document in row.runs)
        if p.run_id in row.why_not and p.run_id not in ids
    ]


def matching(runs: Sequence[LoadedRun], name: str) -> list[str]:
    """Return the ids that a name stands for: the one that it is, or all that begin with it."""
    ids = [run.id for run in runs]
    return [name] if name in ids else [one for one in ids if name and one.startswith(name)]
