"""Picture: how many questions have their evidence within the first k delivered texts, row by row. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay.manifest.statement import RunDocument
from ragassay.score import reach_at_k
from ragassay.site.evidence import delivered_ranks
from ragassay.site.numbers import UNKNOWN, plural, shown
from ragassay.site.pictures.marks import Frame, Ink, Mark, line, step, text
from ragassay.site.pictures.picture import WIDE, Picture, Twin, cut, picture, row_names, some
from ragassay.site.record import BoardRow, Table

DASHES = (None, "8 3", "2 3", "8 3 2 3", "14 4", "5 2 1 2 1 2", "1 4", "11 3 3 3")
"""Told apart without colour; beyond these the name at the line's end does it."""
LABEL = 13
"""px between the names at the lines' ends."""
DEEPEST = 100
"""k up to which a curve is drawn; the table below it names no more either."""


class ReachCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One row's shown run: of `of` questions with evidence, how many are reached within k = 1, 2, …"""

    row: str
    reached: tuple[int, ...]
    of: int


def reach_curves(table: Table, runs: Mapping[str, RunDocument]) -> tuple[ReachCurve, ...]:
    """Return the curves of the rows that retrieve, over the run that each shows; `runs` by their ids.

    A question without evidence, with a withheld text or with a failed search is counted nowhere: nothing is known of
    it. A row of which nothing is known has no curve.
    """
    found = []
    for row in table.rows:
        document = next((runs[run.id] for run in row.runs if run.shown and run.id in runs), None)
        if document is not None and row.role == "row" and row.top_k >= 1:
            found.append(_curve(row, document))
    return tuple(curve for curve in found if curve.of)


def _curve(row: BoardRow, document: RunDocument) -> ReachCurve:
    pairs = zip(document.outputs, document.benchmark.questions, strict=True)
    ranks = [delivered_ranks(output, question.evidence) for output, question in pairs]
    known = [one for one in ranks if one.state != "none"]
    depth = range(1, min(row.top_k, DEEPEST) + 1)
    return ReachCurve(
        row=row.key, reached=tuple(sum(reach_at_k(r, k) or 0 for r in known) for k in depth), of=len(known)
    )


def reach_curve(table: Table, curves: Sequence[ReachCurve]) -> Picture:
    """Return reach@k as step lines with a name at each line's end."""
    names = row_names(table.rows)
    drawn = [curve for curve in curves if curve.reached and curve.of]
    depth = max((len(curve.reached) for curve in drawn), default=0)
    without = [names[row.key] for row in table.rows if row.role == "row" and row.key not in {c.row for c in drawn}]
    return picture(
        (lambda width: _drawing(drawn, names, depth, width)) if drawn else None,
        seed=f"reach {table.id}",
        title="Reach at k: questions whose evidence is within the first k delivered texts",
        description=_description(drawn, names, without),
        twin=Twin(
            header=("Row", "Of", *(f"k = {k}" for k in range(1, depth + 1))),
            rows=tuple(_words(curve, names, depth) for curve in drawn),
        ),
        note="Of the run that each row shows. A line rises where further delivered texts hold the evidence of more"
        " questions; it ends at the row's own top k.",
    )


def _words(curve: ReachCurve, names: Mapping[str, str], depth: int) -> tuple[str, ...]:
    counts = [str(count) for count in curve.reached]
    return names[curve.row], str(curve.of), *counts, *([UNKNOWN] * (depth - len(counts)))


def _description(drawn: Sequence[ReachCurve], names: Mapping[str, str], without: Sequence[str]) -> str:
    if not drawn:
        return "Of no row is it known at which rank the evidence was delivered."
    said = [
        f"{cut(names[c.row], 120)} from {c.reached[0]} at k = 1 to {c.reached[-1]} at k = {len(c.reached)}, of {c.of}"
        for c in drawn[:6]
    ]
    more = [f"{plural(len(drawn) - 6, 'row')} more in the table below"] if len(drawn) > 6 else []
    unknown = f" Not known, and not drawn: {some(without)}." if without else ""
    return f"Questions reached: {'; '.join([*said, *more])}.{unknown}"


def _drawing(drawn: Sequence[ReachCurve], names: Mapping[str, str], depth: int, width: int) -> tuple[Frame, list[Mark]]:
    wide = width == WIDE
    height = max(260, LABEL * len(drawn) + 60)
    frame = Frame(
        width=width, height=height, x=(1, depth + 1), y=(0, 1), left=48, right=190 if wide else 104, top=14, bottom=36
    )
    marks: list[Mark] = []
    for tick in ("0", "0.25", "0.5", "0.75", "1"):
        marks.append(line((1, depth + 1), (float(tick), float(tick))))
        marks.append(text(1, float(tick), shown(tick), anchor="end", dx=-8, dy=4))
    every = max(1, -(-depth // (20 if wide else 10)))
    marks += [text(k + 0.5, 0, str(k), anchor="middle", dy=16) for k in range(1, depth + 1, every)]
    marks.append(text((depth + 2) / 2, 0, "k, delivered texts", anchor="middle", dy=32))
    heights = _label_heights([curve.reached[-1] / curve.of for curve in drawn], LABEL / (height - 50))
    for index, curve in enumerate(drawn):
        places = [count / curve.of for count in curve.reached]
        end, last = len(places) + 1, places[-1]
        xs, ys = (*range(1, end), end), (*places, last)
        lead = index == 0
        dash = DASHES[index % len(DASHES)]
        marks.append(step([float(x) for x in xs], ys, "accent" if lead else "ink", 2 if lead else 1.25, dash=dash))
        marks.append(line((end, depth + 1 + 12 * frame.x_unit), (last, heights[index]), "soft", 0.75))
        room = frame.right - 18
        tone: Ink = "accent" if lead else "ink"
        marks.append(text(depth + 1, heights[index], cut(names[curve.row], room), tone, dx=16, dy=4, bold=lead))
    return frame, marks


def _label_heights(wanted: Sequence[float], apart: float) -> list[float]:
    """Return where the lines' names stand: as near to the lines' ends as they can be without touching."""
    placed: dict[int, float] = {}
    at = 1.0 + apart
    for index in sorted(range(len(wanted)), key=lambda i: (-wanted[i], i)):
        at = min(wanted[index], at - apart)
        placed[index] = at
    low = min(placed.values(), default=0.0)
    if low < 0:
        floor = 0.0
        for index in sorted(placed, key=lambda i: (placed[i], -i)):
            placed[index] = floor = max(placed[index], floor)
            floor += apart
    return [placed[index] for index in range(len(wanted))]
