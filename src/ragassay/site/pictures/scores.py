"""Picture: every row's score with its interval and range on one axis from 0 to 1, against control and oracle. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay.site.numbers import UNKNOWN, bracket, exact, plural
from ragassay.site.pictures.marks import Frame, Ink, Mark, band, dot, line, text
from ragassay.site.pictures.picture import WIDE, Picture, Twin, cut, picture, row_names, some
from ragassay.site.pictures.scale import TICKS, beside, ends, score_grid, scored, value
from ragassay.site.record import BoardRow, Ratio, Table

NAMES = 190
"""px for names beside the axis; in the narrow drawing they stand above their row."""
SCORE = 52


def score_picture(table: Table) -> Picture:
    """Return the scores of a table's rows, in its order; a row without a score is named and not drawn."""
    names = row_names(table.rows)
    drawn = scored(table.rows)
    return picture(
        (lambda width: _drawing(table, drawn, names, width)) if drawn else None,
        seed=f"scores {table.id}",
        title="Score of each row, with interval and range",
        description=_description(table, names),
        twin=Twin(
            header=("Row", "Score", "95 % interval", "Range of the window", "Against the first"),
            rows=tuple(_words(row, names[row.key]) for row in table.rows),
        ),
        note="Dot: the score. Thin line: its 95 % interval. Thick stroke: the range of the window. Shaded: the interval"
        " of the first row. A ring is a row that is not distinguished from it, a grey dot one that is distinguished or"
        " not ranked. Dashed line: the control; full line: the oracle.",
    )


def first_row(table: Table) -> BoardRow | None:
    """Return the first ranked row."""
    return next((row for row in table.rows if row.standing == "ranked"), None)


def against(row: BoardRow) -> str:
    """Write how a row stands to the first one."""
    if row.rank == 1 and not row.not_distinguished:
        return "first"
    return {True: "not distinguished", False: "distinguished", None: UNKNOWN}[row.not_distinguished]


def _words(row: BoardRow, name: str) -> tuple[str, ...]:
    interval = (bracket(row.interval) if row.score else "") or UNKNOWN
    window = f"{exact(row.range[0])}–{exact(row.range[1])}" if row.range else UNKNOWN
    return name, exact(row.score), interval, window, against(row) if row.role == "row" else row.role


def _description(table: Table, names: Mapping[str, str]) -> str:
    drawn, first = scored(table.rows), first_row(table)
    if not drawn:
        return f"No row has a score: {plural(len(table.rows), 'row')} not drawn."
    said = []
    if first and first.score:
        interval = f" {bracket(first.interval)}" if first.interval else ""
        said.append(f"{some([names[first.key]])} is first at {exact(first.score)}{interval}.")
    near = [names[row.key] for row, _ in drawn if row is not first and row.not_distinguished]
    far = [row for row, _ in drawn if row.not_distinguished is False and row is not first]
    if near:
        said.append(f"Not distinguished from it: {some(near)}.")
    if far:
        said.append(f"Distinguished from it: {some([f'{cut(names[r.key], 200)} at {exact(r.score)}' for r in far])}.")
    said += [f"The {row.role} is at {exact(score)}." for row, score in drawn if row.role != "row"]
    lost = [names[row.key] for row in table.rows if row.score is None]
    return " ".join([*said, *([f"Without a score and not drawn: {some(lost)}."] if lost else [])])


def _drawing(
    table: Table, drawn: Sequence[tuple[BoardRow, Ratio]], names: Mapping[str, str], width: int
) -> tuple[Frame, list[Mark]]:
    wide, count = width == WIDE, len(drawn)
    step = 26 if wide else 44
    frame = Frame(
        width=width, height=step * count + 62, x=(0, 1), y=(-count, 0), top=36, bottom=26,
        left=NAMES if wide else 8, right=SCORE if wide else 8,
    )  # fmt: skip
    span = (-float(count), 0.0)
    first = first_row(table)
    marks = [band(ends(first.interval), span)] if first and first.score and first.interval else []
    marks += score_grid(span, TICKS if wide else TICKS[::2])
    for row, score in drawn:
        if row.role != "row":
            marks += _upright(row, value(score), span)
    for index, (row, score) in enumerate(drawn):
        at = -(index + (0.5 if wide else 0.68))
        marks += _track(row, score, at, row is first)
        label = -(index + (0.5 if wide else 0.3))
        tone: Ink = "ink" if row.role == "row" and row.standing == "ranked" else "soft"
        room = NAMES - 12 if wide else width - 70
        marks.append(text(0, label, cut(names[row.key], room), tone, dx=-NAMES if wide else 0, dy=4))
        marks.append(
            text(1, label, exact(score), tone, dx=SCORE if wide else 0, dy=4, anchor="end", bold=tone == "ink")
        )
    return frame, marks


def _upright(row: BoardRow, at: float, span: tuple[float, float]) -> list[Mark]:
    control = row.role == "control"
    words = text(at, span[1], f"{row.role} {exact(row.score)}", anchor=beside(at), dy=-20 if control else -6)
    return [line((at, at), span, "soft", dash="3 3" if control else None), words]


def _track(row: BoardRow, score: Ratio, at: float, first: bool) -> list[Mark]:
    ranked = row.role == "row" and row.standing == "ranked"
    near = first or bool(row.not_distinguished)
    colour: Ink = "accent" if ranked and near else "soft"
    marks = []
    if row.range and row.range[0] != row.range[1]:
        marks.append(line((value(row.range[0]), value(row.range[1])), (at, at), colour, 9, opacity=".35"))
    if row.interval:
        low, high = ends(row.interval)
        marks.append(line((low, high), (at, at), "ink" if ranked else "soft", 1.5))
    return [*marks, dot(value(score), at, colour, 5, hollow=ranked and near and not first)]
