"""Krippendorff's α: agreement of any number of raters, some of whom did not rate some items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Literal, TypeAlias

from ragassay.errors import InputError
from ragassay.estimate.ratings import Ratings, check_ratings
from ragassay.estimate.results import settle
from ragassay.estimate.undefined import Undefined

Level: TypeAlias = Literal["ordinal", "interval"]
_Distance: TypeAlias = Callable[[int, int], int]


def krippendorff_alpha(ratings: Sequence[Ratings], level: Level) -> float | Undefined:
    """Return α of two or more raters (each a sequence over the same items, None for not rated), at most 1.

    α = 1 - observed/expected disagreement over the items with two or more ratings: K. Krippendorff (2004), Content
    Analysis, ch. 11. `level` says what a disagreement weighs: the squared difference of hundredths ("interval"), or of
    the places of both values among all values given ("ordinal"). `Undefined` where no item was rated twice, or fewer
    than two raters gave different scores. Raises `InputError` for a bad score, or fewer than two raters.
    """
    check_ratings(ratings)
    if level not in ("ordinal", "interval"):
        raise InputError(f"the level is ordinal or interval, not {level!r}")
    if len(ratings) < 2:
        raise InputError(f"agreement needs two raters or more, and got {len(ratings)}")
    given = [[None if score is None else int(score) for score in item] for item in zip(*ratings, strict=True)]
    items = [item for item in given if sum(score is not None for score in item) >= 2]
    if not items:
        return Undefined(reason="no item was rated by two raters")
    reason = _nothing_to_see(items)
    if reason is not None:
        return Undefined(reason=reason)
    counted = [Counter(score for score in item if score is not None) for item in items]
    return settle(float(_alpha(counted, level)))


def _nothing_to_see(items: Sequence[Sequence[int | None]]) -> str | None:
    """Return why these ratings show no agreement, or None; a rater of one item alone is not called constant."""
    columns = [[score for score in column if score is not None] for column in zip(*items, strict=True)]
    if len({score for column in columns for score in column}) < 2:
        return "every rating is the same: whether the raters agree cannot be seen"
    constant = [len(column) > 1 and len(set(column)) == 1 for column in columns if column]
    if len(constant) - sum(constant) < 2:
        return "fewer than two raters gave different scores: whether they tell answers apart cannot be seen"
    return None


def _alpha(items: Sequence[Counter[int]], level: Level) -> Fraction:
    """Return α exactly; an item of m ratings weighs 1/(m - 1) per pair, so that every rating counts once."""
    totals = sum(items, Counter[int]())
    distance = _interval if level == "interval" else _ordinal(totals)
    observed: Counter[int] = Counter()
    for item in items:
        observed[item.total() - 1] += _disagreement(item, distance)
    seen = sum((Fraction(amount, others) for others, amount in observed.items()), Fraction())
    expected = _disagreement(totals, distance)
    return 1 - seen * (totals.total() - 1) / expected


def _disagreement(counts: Mapping[int, int], distance: _Distance) -> int:
    """Return the sum of distances over all unordered pairs of ratings with different values."""
    values = sorted(counts)
    return sum(
        counts[low] * counts[high] * distance(low, high) for i, low in enumerate(values) for high in values[i + 1 :]
    )


def _interval(low: int, high: int) -> int:
    return (high - low) ** 2


def _ordinal(totals: Mapping[int, int]) -> _Distance:
    """Return four times Krippendorff's ordinal distance: twice the ratings from low to high, less both halves."""
    values = sorted(totals)
    upto = dict(zip(values, accumulate(totals[value] for value in values), strict=True))

    def distance(low: int, high: int) -> int:
        inside = upto[high] - upto[low] + totals[low]
        return (2 * inside - totals[low] - totals[high]) ** 2

    return distance
