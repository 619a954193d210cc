"""Where the variance of item scores comes from: questions, rows, passes, judges, and what they do together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ragassay.errors import InputError
from ragassay.estimate.balanced import Block, Cells, Grid, grid, largest_balanced
from ragassay.estimate.ratings import is_hundredths
from ragassay.estimate.results import settle
from ragassay.estimate.undefined import Undefined
from ragassay.records import Record

Facet: TypeAlias = Literal["question", "row", "pass", "judge"]
FACETS: tuple[Facet, ...] = ("question", "row", "pass", "judge")
Effect: TypeAlias = tuple[int, ...]
"""Positions of facets, rising."""

MOST_CELLS = 20_000_000
"""Cells up to which sums of squares fit into 64 bits."""


UNCERTAIN = "there were too many choices to try: the emptiest levels were left out first, so a larger part may exist"


class Component(Record, frozen=True):
    """One component of variance, in squared units of the score (0..1)."""

    facets: tuple[Facet, ...]
    """What varies together; all separable facets together are the residual, which holds every other noise."""
    df: int
    mean_square: float
    estimate: float
    """As the estimator gives it, below 0 by chance where the component is small."""
    variance: float
    """The same, 0 where the estimate is negative."""
    negative: bool
    """The mark of a 0 that was a negative estimate."""
    share: float | None
    """Of the sum of all `variance`; None where that sum is 0."""


class Components(Record, frozen=True, tag_field="kind", tag="components"):
    """The components of one fully crossed part of the scores."""

    questions: int
    rows: int
    passes: int
    judges: int
    cells: int
    """questions × rows × passes × judges, each with a score."""
    left_out: int
    """Cells with a score that are outside that part."""
    missing: int
    """Cells of the full crossing that have no score."""
    dropped: tuple[str, ...]
    """Each level that was left out, as "judge b", "question q7"."""
    not_separated: tuple[Facet, ...]
    """Facets with one level: what they do is inside the other components."""
    components: tuple[Component, ...]
    """Single facets first, the residual last."""
    note: str | None = None


def variance_components(scores: Cells) -> Components | Undefined:
    """Return the components of `scores[question, row, pass, judge]` (hundredths, None for no score).

    All facets are taken as random and crossed, with one score per cell. With MS of each effect, and n of each facet,
    E(MS_S) = Σ over T ⊇ S of σ²_T·Π(n of facets outside T), solved from the residual upwards (J. Cornfield and J. W.
    Tukey (1956), Ann. Math. Stat. 27); computed in fractions. Where cells are missing, over the largest balanced part.
    `Undefined` unless two facets keep two levels or more. Raises `InputError` for a bad score or too many cells.
    """
    _check(scores)
    whole = grid(scores)
    block, certain = largest_balanced(whole.present)
    sizes = [len(levels) for levels in block]
    varied = tuple(facet for facet in range(4) if sizes[facet] > 1)
    if len(varied) < 2:
        return Undefined(reason=_too_little(whole, sizes))
    squares = _sums_of_squares(_values(scores, whole, block), varied, sizes)
    kept, scored = math.prod(sizes), int(whole.present.sum())
    return Components(
        questions=sizes[0],
        rows=sizes[1],
        passes=sizes[2],
        judges=sizes[3],
        cells=kept,
        left_out=scored - kept,
        missing=whole.present.size - scored,
        dropped=_dropped(whole, block),
        not_separated=tuple(FACETS[facet] for facet in range(4) if facet not in varied),
        components=_components(squares, varied, sizes),
        note=None if certain else UNCERTAIN,
    )


def _check(scores: Cells) -> None:
    problems = [f"{cell}: {s!r}" for cell, s in scores.items() if s is not None and not is_hundredths(s)]
    if problems:
        raise InputError("item scores are integer hundredths from 0 to 100, or None where there is none", problems)
    crossing = math.prod(len({cell[facet] for cell in scores}) for facet in range(4))
    if crossing > MOST_CELLS:
        raise InputError(f"{crossing} cells are more than the {MOST_CELLS} that are computed: leave out some passes")


def _too_little(whole: Grid, sizes: Sequence[int]) -> str:
    if not whole.present.size:
        return "no cell has a score"
    counts = ", ".join(
        f"{size} {facet}{'es' if facet == 'pass' and size != 1 else '' if size == 1 else 's'}"
        for facet, size in zip(FACETS, sizes, strict=True)
    )
    return f"nothing can be separated: the largest balanced part has {counts}"


def _dropped(whole: Grid, block: Block) -> tuple[str, ...]:
    return tuple(
        f"{facet} {level}"
        for facet, levels, kept in zip(FACETS, whole.levels, block, strict=True)
        for index, level in enumerate(levels)
        if index not in set(kept)
    )


def _values(scores: Cells, whole: Grid, block: Block) -> npt.NDArray[np.int64]:
    at = [{whole.levels[facet][index]: place for place, index in enumerate(block[facet])} for facet in range(4)]
    values = np.zeros([len(levels) for levels in block], dtype=np.int64)
    for cell, score in scores.items():
        place = tuple(at[facet].get(cell[facet], -1) for facet in range(4))
        if score is not None and -1 not in place:
            values[place] = score
    return values


def _effects(varied: Sequence[int]) -> list[Effect]:
    return [effect for size in range(1, len(varied) + 1) for effect in combinations(varied, size)]


def _sums_of_squares(
    values: npt.NDArray[np.int64], varied: Sequence[int], sizes: Sequence[int]
) -> dict[Effect, Fraction]:
    """Return the sum of squares of each effect, in squared hundredths: the alternating sum of its margins' squares."""
    margins: dict[Effect, Fraction] = {}
    for effect in [(), *_effects(varied)]:
        sums = values.sum(axis=tuple(facet for facet in range(4) if facet not in effect)).ravel()
        margins[effect] = Fraction(int(sums @ sums), _outside(effect, sizes))
    return {
        effect: sum(
            (
                (-1) ** (len(effect) - size) * margins[part]
                for size in range(len(effect) + 1)
                for part in combinations(effect, size)
            ),
            Fraction(),
        )
        for effect in _effects(varied)
    }


def _outside(effect: Effect, sizes: Sequence[int]) -> int:
    return math.prod(sizes[facet] for facet in range(4) if facet not in effect)


def _components(squares: dict[Effect, Fraction], varied: Sequence[int], sizes: Sequence[int]) -> tuple[Component, ...]:
    freedom = {effect: math.prod(sizes[facet] - 1 for facet in effect) for effect in squares}
    means = {effect: squares[effect] / freedom[effect] for effect in squares}
    found = {effect: _estimate(effect, means, varied) / _outside(effect, sizes) for effect in squares}
    total = sum((max(value, Fraction()) for value in found.values()), Fraction())
    return tuple(
        Component(
            facets=tuple(FACETS[facet] for facet in effect),
            df=freedom[effect],
            mean_square=settle(float(means[effect] / 10_000)),
            estimate=settle(float(value / 10_000)),
            variance=settle(float(max(value, Fraction()) / 10_000)),
            negative=value < 0,
            share=settle(float(max(value, Fraction()) / total)) if total else None,
        )
        for effect, value in found.items()
    )


def _estimate(effect: Effect, means: dict[Effect, Fraction], varied: Sequence[int]) -> Fraction:
    """Return the alternating sum of the mean squares of every effect that contains this one."""
    others = [facet for facet in varied if facet not in effect]
    return sum(
        (
            (-1) ** size * means[tuple(sorted((*effect, *more)))]
            for size in range(len(others) + 1)
            for more in combinations(others, size)
        ),
        Fraction(),
    )
