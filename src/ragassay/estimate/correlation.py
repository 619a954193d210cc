"""Spearman's rank correlation under ties, with an interval."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ragassay.estimate.ratings import Ratings, both_rated
from ragassay.estimate.results import settle
from ragassay.estimate.undefined import Undefined
from ragassay.records import Record

Z = 1.96
FEWEST = 4
"""Items below which there is no interval: its width divides by n - 3."""

NO_PAIR = "no item has a score from both"
TOO_FEW_NOTE = "fewer than 4 items: no interval"
PERFECT_NOTE = "no interval: at ρ = ±1 the formula gives one without width, and that is no certainty"


class Correlation(Record, frozen=True, tag_field="kind", tag="correlation"):
    """Spearman's ρ (-1..1) over `n` items with its 95 % interval; both bounds are None where `note` says why."""

    rho: float
    lower: float | None
    upper: float | None
    n: int
    note: str | None = None


def spearman(a: Ratings, b: Ratings) -> Correlation | Undefined:
    """Return Spearman's ρ of the items that both scored: Pearson's correlation of average ranks.

    The shortcut 1 - 6Σd²/(n³-n) is wrong under ties and is not used. The interval is
    tanh(atanh ρ ± 1.96·√((1 + ρ²/2)/(n - 3))): D. G. Bonett and T. A. Wright (2000), Psychometrika 65.
    `Undefined` where a rater gave every item the same score. Raises `InputError` for a bad score.
    """
    pairs = both_rated(a, b)
    if not pairs:
        return Undefined(reason=NO_PAIR)
    x, y = (centred_ranks([pair[side] for pair in pairs]) for side in (0, 1))
    xx, yy = sum(r * r for r in x), sum(r * r for r in y)
    if not xx or not yy:
        return Undefined(reason=constant_reason(not xx, not yy))
    xy = sum(r * s for r, s in zip(x, y, strict=True))
    rho = xy / math.sqrt(xx * yy)
    if xy * xy == xx * yy or abs(rho) >= 1:
        note = PERFECT_NOTE if len(pairs) >= FEWEST else TOO_FEW_NOTE
        return Correlation(rho=math.copysign(1.0, xy), lower=None, upper=None, n=len(pairs), note=note)
    return _with_interval(rho, len(pairs))


def centred_ranks(values: Sequence[int]) -> list[int]:
    """Return twice the average rank of each value minus n + 1: integers that sum to 0."""
    counts, below = Counter(values), 0
    ranks: dict[int, int] = {}
    for value in sorted(counts):
        ranks[value] = 2 * below + counts[value] - len(values)
        below += counts[value]
    return [ranks[value] for value in values]


def constant_reason(first: bool, second: bool) -> str:
    """Return the sentence for one or two raters who never varied."""
    if first and second:
        return "both raters gave every item the same score: whether they agree cannot be seen"
    which = "first" if first else "second"
    return f"the {which} rater gave every item the same score: whether it tells answers apart cannot be seen"


def _with_interval(rho: float, n: int) -> Correlation:
    if n < FEWEST:
        return Correlation(rho=settle(rho), lower=None, upper=None, n=n, note=TOO_FEW_NOTE)
    middle, reach = math.atanh(rho), Z * math.sqrt((1 + rho * rho / 2) / (n - 3))
    lower, upper = math.tanh(middle - reach), math.tanh(middle + reach)
    return Correlation(rho=settle(rho), lower=settle(lower), upper=settle(upper), n=n)
