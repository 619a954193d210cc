"""The question × row heat map, a table of shaded cells: thousands of links and names are a table's work. Pure."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import groupby

import msgspec

from ragassay.site.cellwords import CAUSE_LETTERS, CAUSE_WORDS
from ragassay.site.numbers import plural, shown
from ragassay.site.pictures.picture import row_names
from ragassay.site.record import Cell, QuestionLine, Table

LIGHT = 140_000
"""Bytes up to which each cell is a link with a title of its own; in a larger map each line is one, at its question."""
CELL = 88
"""Bytes of a cell beside its address."""


class HeatCell(msgspec.Struct, frozen=True, kw_only=True):
    """One question on one row: its shade, the mean as printed, the letter and the words of its cause."""

    shade: str
    mean: str
    letter: str
    title: str


class HeatLine(msgspec.Struct, frozen=True, kw_only=True):
    """One question: where its page is, what is flagged, and its cells in the order of the map's rows."""

    question: str
    href: str
    flags: tuple[str, ...]
    cells: tuple[HeatCell, ...]


class HeatMap(msgspec.Struct, frozen=True, kw_only=True):
    """Questions by rows, grouped by topic, those that separate the rows most first within each."""

    description: str
    rows: tuple[str, ...]
    topics: tuple[tuple[str | None, tuple[HeatLine, ...]], ...]
    linked: bool
    """Whether every cell is a link; else each line is."""


def heat_map(table: Table, href: Callable[[str], str]) -> HeatMap:
    """Return the heat map of a table; `href` gives the address of a question's page.

    A row without cells has no column; a cell that a question lacks is unknown, and hatched.
    """
    names = row_names(table.rows)
    answered = {cell.row for line in table.questions for cell in line.cells}
    keys = [row.key for row in table.rows if row.key in answered]
    lines = sorted(table.questions, key=lambda line: line.topic or "")
    topics = [
        (topic, tuple(_line(line, keys, href) for line in group))
        for topic, group in groupby(lines, key=lambda line: line.topic)
    ]
    return HeatMap(
        description=_description(table, keys),
        rows=tuple(names[key] for key in keys),
        topics=tuple(topics),
        linked=len(keys) * sum(CELL + len(href(line.id)) for line in lines) <= LIGHT,
    )


def _line(line: QuestionLine, keys: list[str], href: Callable[[str], str]) -> HeatLine:
    cells = {cell.row: cell for cell in line.cells}
    found = tuple(_cell(cells.get(key)) for key in keys)
    return HeatLine(question=line.id, href=href(line.id), flags=line.flags, cells=found)


def _cell(cell: Cell | None) -> HeatCell:
    if cell is None:
        return HeatCell(shade="hx", mean=shown(None), letter="", title="not asked")
    letter = CAUSE_LETTERS[cell.cause]
    return HeatCell(shade=shade(cell.mean), mean=shown(cell.mean, 2), letter=letter, title=CAUSE_WORDS[cell.cause])


def shade(mean: str | None) -> str:
    """Return the shade of a mean: h0 (nothing right) to h4 (all right), hatched hx without a score."""
    if mean is None:
        return "hx"
    found = Decimal(mean)
    if found <= 0:
        return "h0"
    return "h4" if found >= 1 else f"h{min(3, 1 + int(found * 3))}"


def _description(table: Table, keys: list[str]) -> str:
    cells = [cell for line in table.questions for cell in line.cells]
    right = sum(cell.mean is not None and Decimal(cell.mean) >= 1 for cell in cells)
    none = sum(cell.mean is None for cell in cells)
    apart = sum(line.spread is not None and Decimal(line.spread) > 0 for line in table.questions)
    return (
        f"{plural(len(table.questions), 'question')} on {plural(len(keys), 'row')}: {right:,} of {len(cells):,} cells"
        f" fully right, {none:,} without a score; {plural(apart, 'question')} on which the rows differ."
    )
