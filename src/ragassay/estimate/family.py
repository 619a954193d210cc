"""Several rows at once: Holm's adjustment, rank intervals, and who is not distinguished from whom."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from ragassay.errors import InputError
from ragassay.estimate.results import Comparison, RankInterval, settle

Pair = TypeVar("Pair", bound=Hashable)


def holm(pvalues: Mapping[Pair, float | None]) -> dict[Pair, float | None]:
    """Return Holm's adjusted p of each pair; a pair without p stays None and does not enlarge the family.

    With m tested pairs sorted upwards, adjusted(i) = max over j ≤ i of min(1, (m - j + 1)·p(j)).
    S. Holm (1979), Scand. J. Statist. 6. Raises `InputError` for a p outside 0..1.
    """
    tested = [(pair, p) for pair, p in pvalues.items() if p is not None]
    wrong = [f"{pair}: {p!r}" for pair, p in tested if not 0.0 <= p <= 1.0]
    if wrong:
        raise InputError("p-values lie between 0 and 1", wrong)
    adjusted: dict[Pair, float | None] = dict.fromkeys(pvalues)
    floor = 0.0
    for step, (pair, p) in enumerate(sorted(tested, key=lambda item: item[1])):
        floor = max(floor, min(1.0, (len(tested) - step) * p))
        adjusted[pair] = settle(floor)
    return adjusted


def adjusted_pvalues(rows: Sequence[str], comparisons: Sequence[Comparison]) -> dict[tuple[str, str], float | None]:
    """Return Holm's p for each pair (a, b) of `rows`; comparisons with others (control, oracle) are left out.

    Raises `InputError` where a row stands twice or a pair is compared twice: each would count double.
    """
    if len(set(rows)) != len(rows):
        raise InputError(f"a row stands twice in the family {list(rows)}")
    family = [c for c in comparisons if c.a in rows and c.b in rows]
    pairs = [frozenset((c.a, c.b)) for c in family]
    if len(set(pairs)) != len(pairs) or any(len(pair) < 2 for pair in pairs):
        raise InputError("each pair of different rows is compared once")
    return holm({(c.a, c.b): c.p for c in family})


def rank_intervals(
    rows: Sequence[str], comparisons: Sequence[Comparison], alpha: float = 0.05
) -> dict[str, RankInterval]:
    """Return for each row [1 + rows significantly above, rows - rows significantly below], after Holm.

    A pair that was not compared, or has no p, separates nothing.
    """
    above, below = _separated(rows, comparisons, alpha)
    return {
        row: RankInterval(
            row=row,
            first=1 + len(above[row]),
            last=len(rows) - len(below[row]),
            above=tuple(above[row]),
            below=tuple(below[row]),
        )
        for row in rows
    }


def not_distinguished(
    first: str, rows: Sequence[str], comparisons: Sequence[Comparison], alpha: float = 0.05
) -> list[str]:
    """Return the other rows whose difference from `first` is not significant after Holm, in the order of `rows`."""
    above, below = _separated(rows, comparisons, alpha)
    if first not in above:
        raise InputError(f"the row {first!r} is not in the family {list(rows)}")
    return [row for row in rows if row != first and row not in above[first] and row not in below[first]]


def _separated(
    rows: Sequence[str], comparisons: Sequence[Comparison], alpha: float
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return per row the rows significantly above it and those significantly below, each in the order of `rows`."""
    adjusted = adjusted_pvalues(rows, comparisons)
    differences = {(c.a, c.b): c.difference for c in comparisons}
    better: set[tuple[str, str]] = set()
    for (a, b), p in adjusted.items():
        difference = differences[a, b]
        if p is not None and p <= alpha and difference:
            better.add((a, b) if difference > 0 else (b, a))
    above = {row: [other for other in rows if (other, row) in better] for row in rows}
    below = {row: [other for other in rows if (row, other) in better] for row in rows}
    return above, below


def leads(difference: float | None, adjusted_p: float | None, others: Sequence[float] = ()) -> bool:
    """True when the difference is above 0, Holm's p is at most .05, and every other judge sees the same sign.

    `others` are the differences under each further judge that scored both rows; 0 is not the same sign.
    """
    if difference is None or adjusted_p is None or difference <= 0 or adjusted_p > 0.05:
        return False
    return all(other > 0 for other in others)
