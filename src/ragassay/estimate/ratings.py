"""Two ratings of the same items: checked, paired, and laid on levels with a declared rounding."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np

from ragassay.errors import InputError

Ratings: TypeAlias = Sequence[int | None]
"""One integer score in hundredths (0..100) per item, None where there is none; both raters in the same order."""

LEVELS = (0, 25, 50, 75, 100)
"""The five levels that a person rates on, in hundredths; their labels are fixed, also where a level is never used."""

Item = TypeVar("Item", bound=Hashable)


def paired(a: Mapping[Item, int | None], b: Mapping[Item, int | None]) -> tuple[list[int | None], list[int | None]]:
    """Return the scores of both raters over every item that either names, in the order in which they appear."""
    items = list(dict.fromkeys([*a, *b]))
    return [a.get(item) for item in items], [b.get(item) for item in items]


def both_rated(a: Ratings, b: Ratings) -> list[tuple[int, int]]:
    """Return the pairs of scores of the items that both raters scored; raises `InputError` as `check_ratings` does."""
    check_ratings((a, b))
    return [(int(x), int(y)) for x, y in zip(a, b, strict=True) if x is not None and y is not None]


def check_ratings(raters: Sequence[Ratings]) -> None:
    """Raise `InputError` unless every rater has the same number of items and each score is None or 0..100."""
    lengths = [len(ratings) for ratings in raters]
    if len(set(lengths)) > 1:
        raise InputError(f"raters are compared item by item, and these have {lengths} items: pass None for no score")
    problems = [
        f"rater {number}, item {item}: {score!r}"
        for number, ratings in enumerate(raters, 1)
        for item, score in enumerate(ratings, 1)
        if score is not None and not is_hundredths(score)
    ]
    if problems:
        raise InputError("ratings are integer hundredths from 0 to 100, or None where there is none", problems)


def is_hundredths(score: object) -> bool:
    """Return whether `score` is an integer from 0 to 100; True and False are not."""
    return isinstance(score, int | np.integer) and not isinstance(score, bool) and 0 <= int(score) <= 100


def check_levels(levels: Sequence[int]) -> None:
    """Raise `InputError` unless there are at least two levels, in hundredths, each above the one before."""
    rising = all(low < high for low, high in pairwise(levels))
    if len(levels) < 2 or not rising or not all(is_hundredths(level) for level in levels):
        raise InputError(f"levels are two or more rising integers from 0 to 100, not {list(levels)}")


def nearest_level(score: int, levels: Sequence[int] = LEVELS) -> int:
    """Return the level closest to `score`, the upper one of two that are equally close (half up)."""
    return min(levels, key=lambda level: (abs(level - score), -level))
