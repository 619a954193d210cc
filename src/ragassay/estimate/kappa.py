"""Agreement on levels: the table of both raters, weighted kappa, AC2, agreement on what is rare."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragassay.errors import InputError
from ragassay.estimate.correlation import NO_PAIR, constant_reason
from ragassay.estimate.ratings import LEVELS, Ratings, both_rated, check_levels, nearest_level
from ragassay.estimate.results import settle
from ragassay.estimate.undefined import Undefined
from ragassay.records import Record


class Table(Record, frozen=True):
    """How often the first rater gave level i where the second gave level j: `counts[i][j]`, fixed labels `levels`."""

    levels: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        """Return the number of items in the table."""
        return sum(sum(row) for row in self.counts)

    @property
    def diagonal(self) -> int:
        """Return the number of items on which both gave the same level."""
        return sum(row[i] for i, row in enumerate(self.counts))

    @property
    def first(self) -> tuple[int, ...]:
        """Return how often the first rater gave each level."""
        return tuple(sum(row) for row in self.counts)

    @property
    def second(self) -> tuple[int, ...]:
        """Return how often the second rater gave each level."""
        return tuple(sum(column) for column in zip(*self.counts, strict=True))


def contingency(a: Ratings, b: Ratings, levels: Sequence[int] = LEVELS) -> Table:
    """Return the table of the items that both scored, each score on its nearest level (half up).

    Every level has its row and column, also where nobody used it. Raises `InputError` for a bad score or levels.
    """
    check_levels(levels)
    at = {level: index for index, level in enumerate(levels)}
    counts = [[0] * len(levels) for _ in levels]
    for x, y in both_rated(a, b):
        counts[at[nearest_level(x, levels)]][at[nearest_level(y, levels)]] += 1
    return Table(levels=tuple(levels), counts=tuple(tuple(row) for row in counts))


def quadratic_weighted_kappa(a: Ratings, b: Ratings, levels: Sequence[int] = LEVELS) -> float | Undefined:
    """Return Cohen's kappa with quadratic weights over fixed levels, -1..1.

    1 - Σ(i-j)²·O_ij / Σ(i-j)²·E_ij with i and j the positions of the levels, O the table and E what its margins give
    under independence: J. Cohen (1968), Psychol. Bull. 70. `Undefined` where a rater used one level only.
    """
    return table_kappa(contingency(a, b, levels))


def table_kappa(table: Table) -> float | Undefined:
    """Return the quadratic weighted kappa of a table."""
    reason = undefined_on_levels(table)
    if reason is not None:
        return reason
    cells = [(i, j) for i in range(len(table.levels)) for j in range(len(table.levels))]
    observed = sum((i - j) ** 2 * table.counts[i][j] for i, j in cells)
    expected = sum((i - j) ** 2 * table.first[i] * table.second[j] for i, j in cells)
    return settle(1 - observed * table.n / expected)


def gwet_ac2(a: Ratings, b: Ratings, levels: Sequence[int] = LEVELS) -> float | Undefined:
    """Return Gwet's AC2 with quadratic weights over fixed levels, at most 1.

    With weights w_ij = 1 - (i-j)²/(L-1)², π_i the mean of both margins and L levels: observed Σ w_ij·O_ij/n, by chance
    Σ w_ij/(L(L-1))·Σ π_i(1-π_i). K. L. Gwet (2008), Br. J. Math. Stat. Psychol. 61. `Undefined` where a rater used one
    level only, though the formula would give a number.
    """
    return table_ac2(contingency(a, b, levels))


def table_ac2(table: Table) -> float | Undefined:
    """Return Gwet's AC2 of a table."""
    reason = undefined_on_levels(table)
    if reason is not None:
        return reason
    size, n, far = len(table.levels), table.n, (len(table.levels) - 1) ** 2
    cells = [(i, j) for i in range(size) for j in range(size)]
    observed = sum((far - (i - j) ** 2) * table.counts[i][j] for i, j in cells) / (far * n)
    weights = sum(far - (i - j) ** 2 for i, j in cells) / far
    used = [x + y for x, y in zip(table.first, table.second, strict=True)]
    chance = weights / (size * (size - 1)) * sum(u * (2 * n - u) for u in used) / (4 * n * n)
    return settle((observed - chance) / (1 - chance))


def positive_agreement(
    a: Ratings, b: Ratings, positive: Collection[int], levels: Sequence[int] = LEVELS
) -> float | Undefined:
    """Return how far both agree on the levels called `positive`: 2·both/(2·both + only the first + only the second).

    D. V. Cicchetti and A. R. Feinstein (1990), J. Clin. Epidemiol. 43. `Undefined` where nobody gave such a level.
    """
    return table_positive(contingency(a, b, levels), positive)


def table_positive(table: Table, positive: Collection[int]) -> float | Undefined:
    """Return the positive agreement of a table; raises `InputError` for a level that it has not."""
    unknown = sorted(set(positive) - set(table.levels))
    if unknown or not positive:
        raise InputError(f"positive levels are some of {list(table.levels)}, not {sorted(positive)}")
    chosen = [index for index, level in enumerate(table.levels) if level in positive]
    both = sum(table.counts[i][j] for i in chosen for j in chosen)
    given = sum(table.first[i] + table.second[i] for i in chosen)
    if not given:
        names = ", ".join(str(table.levels[index]) for index in chosen)
        return Undefined(reason=f"nobody gave {names}" if table.n else NO_PAIR)
    return settle(2 * both / given)


def undefined_on_levels(table: Table) -> Undefined | None:
    """Return why nothing can be corrected for chance in this table, or None."""
    if not table.n:
        return Undefined(reason=NO_PAIR)
    first, second = (sum(map(bool, margin)) < 2 for margin in (table.first, table.second))
    return Undefined(reason=constant_reason(first, second).replace("score", "level")) if first or second else None
