"""A table as the board page shows it: drawn, linked, and question by question. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ragassay.manifest.statement import RunDocument
from ragassay.site.judgerecord import JudgedRow, Judging
from ragassay.site.notes import Note, row_notes, table_notes
from ragassay.site.page import Placed
from ragassay.site.pairwords import ranked_first
from ragassay.site.pictures import HeatMap, Picture, heat_map, reach_curve, reach_curves
from ragassay.site.plot import Axis, Share, axis, cause_shares
from ragassay.site.record import BoardRow, Pair, Table

MOST_PAIRS = 200
"""Pairs up to which the board page lists all; beyond, it lists those with the first row."""


class TableView(msgspec.Struct, frozen=True, kw_only=True):
    """A table with what its templates look up."""

    table: Table
    axis: Axis
    reach_label: str
    reach_k: int | None
    names: Mapping[str, str]
    notes: tuple[Note, ...]
    shares: Mapping[str, list[Share]]
    heat: HeatMap
    roles: tuple[str, ...]
    """Name and role of each column of the heat map, as the script of the page reads them."""
    reach: Picture
    judged_rows: Mapping[str, list[JudgedRow | None]]
    """Each row under each judge, in the order of the judges."""
    row_paths: Mapping[str, str]
    question_paths: Mapping[str, str]
    pair_paths: Mapping[tuple[str, str], str]
    compare_index: str

    @property
    def listed_pairs(self) -> tuple[Pair, ...]:
        """Return the pairs that the board page lists, those of ranked rows first."""
        pairs = tuple(ranked_first(self.table.pairs, self.table.rows))
        first = next((row.key for row in self.table.rows if row.rank is not None), None)
        if len(pairs) <= MOST_PAIRS or first is None:
            return pairs[:MOST_PAIRS]
        return tuple(pair for pair in pairs if first in (pair.a, pair.b))

    @property
    def exposure_known(self) -> bool:
        """Tell whether the exposure of any row is recorded; that none is, the table says itself."""
        return any(row.exposure for row in self.table.rows)

    def notes_of(self, row: BoardRow) -> list[Note]:
        """Return the notes that hold for a row of the table."""
        return row_notes(row, self.table.rows, self.notes)

    def by_another_judge(self, main: Table) -> bool:
        """Tell whether the table is apart from `main` by its judge, so that one judge of both would help."""
        republished = any(row.rung == "republished" for row in self.table.rows)
        return self.table.judge != main.judge and not republished


def table_view(placed: Placed, documents: Mapping[str, RunDocument], root: str = "") -> TableView:
    """Return a table with its drawing and its links; `root` leads from the page to the site's root."""
    table, paths = placed.table, placed.paths
    answered = {cell.row for line in table.questions for cell in line.cells}
    reached = next((row.reach.k for row in table.rows if row.reach and row.role == "row"), None)
    return TableView(
        table=table,
        axis=axis(table.rows),
        reach_label=f"Reach@{reached}" if reached else "Reach",
        reach_k=reached,
        names=placed.names,
        notes=tuple(table_notes(table.rows)),
        shares={row.key: cause_shares(table, row.key) for row in table.rows if row.key in answered},
        heat=heat_map(table, lambda question: root + paths.questions[question]),
        roles=tuple(row.role for row in _columns(table, answered)),
        reach=reach_curve(table, reach_curves(table, documents)),
        judged_rows=judged_rows(table.judging),
        row_paths=paths.rows,
        question_paths=paths.questions,
        pair_paths=paths.pairs,
        compare_index=paths.compare_index,
    )


def _columns(table: Table, answered: set[str]) -> list[BoardRow]:
    return [row for row in table.rows if row.key in answered]


def judged_rows(judging: Judging | None) -> dict[str, list[JudgedRow | None]]:
    """Return each row under each judge, in the order of the judges; None where a judge has no such row."""
    if judging is None:
        return {}
    by_judge = [{line.row: line for line in judge.rows} for judge in judging.judges]
    keys = dict.fromkeys(key for lines in by_judge for key in lines)
    return {key: [lines.get(key) for lines in by_judge] for key in keys}
