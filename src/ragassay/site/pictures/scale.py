"""Axes: round ticks, grid lines and their labels as marks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from ragassay.site.numbers import shown
from ragassay.site.pictures.marks import Anchor, Mark, line, text
from ragassay.site.record import BoardRow, Interval, Ratio

TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def value(score: Ratio) -> float:
    """Return an exact score as a place on an axis."""
    return score.num / score.den


def ends(span: Interval, low: float = 0.0, high: float = 1.0) -> tuple[float, float]:
    """Return an interval as places on an axis, cut where the axis ends: no score lies beyond."""
    return min(max(float(span.low), low), high), min(max(float(span.high), low), high)


def score_grid(y: tuple[float, float], ticks: Sequence[float] = TICKS) -> list[Mark]:
    """Return vertical rules at scores, labelled below; `y` are the data values of their lower and upper ends."""
    marks = [line((tick, tick), y) for tick in ticks]
    return marks + [text(tick, y[0], shown(Decimal(str(tick))), anchor=beside(tick), dy=15) for tick in ticks]


def beside(place: float) -> Anchor:
    """Return how words at a score stand so that they do not leave the axis."""
    return "start" if place < 0.12 else "end" if place > 0.88 else "middle"


def round_ticks(most: int, count: int = 4) -> list[int]:
    """Return 0 and round whole values up to the first that is `most` or more, in steps of 1, 2 or 5 × 10ⁿ.

    There are at most `count` steps.
    """
    rough = max(1, -(-most // count))
    unit = 10 ** (len(str(rough)) - 1)
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
    return [step * index for index in range(max(1, -(-most // step)) + 1)]


def scored(rows: Sequence[BoardRow]) -> list[tuple[BoardRow, Ratio]]:
    """Return the rows that have a score, with it."""
    return [(row, row.score) for row in rows if row.score is not None]
