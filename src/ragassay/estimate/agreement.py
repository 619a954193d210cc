"""All that is printed of two raters: judge and person, judge and judge."""

from __future__ import annotations

from ragassay.estimate.correlation import NO_PAIR, Correlation, spearman
from ragassay.estimate.kappa import Table, contingency, table_ac2, table_kappa, table_positive
from ragassay.estimate.ratings import LEVELS, Ratings, both_rated
from ragassay.estimate.results import settle
from ragassay.estimate.undefined import Undefined
from ragassay.records import Record


class Skew(Record, frozen=True):
    """What is read beside kappa where more than 70 % of all ratings are one level: chance correction then misleads."""

    level: int
    """The common level, in hundredths."""
    ratings: int
    """How many of the 2n ratings are that level."""
    ac2: float | Undefined
    """Gwet's AC2, quadratic weights."""
    positive: float | Undefined
    """Agreement on every other level: of the ratings that leave the common level, the share that both gave."""
    negative: float | Undefined
    """Agreement on the common level itself."""


class Agreement(Record, frozen=True):
    """How two raters agree on the `n` items that both scored; differences are the first minus the second, in 0..1."""

    n: int
    left_out: int
    """Items that only one of them scored, or neither."""
    rounded: int
    """Of the 2n ratings, those that are on none of the five levels; kappa, AC2, `exact` and `table` round them."""
    spearman: Correlation | Undefined
    """On the hundredths."""
    qwk: float | Undefined
    """Quadratic weighted kappa on the five levels."""
    bias: float | Undefined
    """Mean signed difference of the hundredths, in -1..1; above 0 the first is the more generous."""
    mae: float | Undefined
    """Mean absolute difference of the hundredths, in 0..1."""
    exact: float | Undefined
    """Share of items on the same level."""
    exact_hundredths: float | Undefined
    """Share of items with the same hundredths."""
    table: Table
    skew: Skew | None
    """None unless more than 70 % of all ratings are one level."""


def agreement(a: Ratings, b: Ratings) -> Agreement:
    """Return all measures of agreement of two raters over the same items in the same order, None for no score.

    An item without a score from both enters nothing and is counted. Raises `InputError` for a bad score.
    """
    pairs, table = both_rated(a, b), contingency(a, b)
    return Agreement(
        n=len(pairs),
        left_out=len(a) - len(pairs),
        rounded=sum(score not in LEVELS for pair in pairs for score in pair),
        spearman=spearman(a, b),
        qwk=table_kappa(table),
        bias=mean_signed_difference(a, b),
        mae=mean_absolute_error(a, b),
        exact=settle(table.diagonal / table.n) if table.n else Undefined(reason=NO_PAIR),
        exact_hundredths=exact_agreement(a, b),
        table=table,
        skew=_skew(table),
    )


def mean_signed_difference(a: Ratings, b: Ratings) -> float | Undefined:
    """Return the mean of a - b over the items that both scored, in -1..1."""
    pairs = both_rated(a, b)
    return settle(sum(x - y for x, y in pairs) / (100 * len(pairs))) if pairs else Undefined(reason=NO_PAIR)


def mean_absolute_error(a: Ratings, b: Ratings) -> float | Undefined:
    """Return the mean of |a - b| over the items that both scored, in 0..1."""
    pairs = both_rated(a, b)
    return settle(sum(abs(x - y) for x, y in pairs) / (100 * len(pairs))) if pairs else Undefined(reason=NO_PAIR)


def exact_agreement(a: Ratings, b: Ratings) -> float | Undefined:
    """Return the share of items with the same hundredths, of those that both scored."""
    pairs = both_rated(a, b)
    return settle(sum(x == y for x, y in pairs) / len(pairs)) if pairs else Undefined(reason=NO_PAIR)


def _skew(table: Table) -> Skew | None:
    used = [x + y for x, y in zip(table.first, table.second, strict=True)]
    most = max(used)
    if 10 * most <= 7 * 2 * table.n:
        return None
    common = table.levels[used.index(most)]
    return Skew(
        level=common,
        ratings=most,
        ac2=table_ac2(table),
        positive=table_positive(table, [level for level in table.levels if level != common]),
        negative=table_positive(table, [common]),
    )
