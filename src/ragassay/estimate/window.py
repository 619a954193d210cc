"""The number that a board shows for a row: the lower median of its window, always a real run's score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

from ragassay.errors import InputError
from ragassay.records import Record


class ScoredRun(Record, frozen=True):
    """A run's exact score `num`/`den` (0..1) and its time in Unix seconds."""

    run: str
    num: int
    den: int
    time: int


def by_score(scores: Sequence[ScoredRun]) -> list[ScoredRun]:
    """Return the runs from the lowest exact score up, equal scores by time and then by run id."""
    wrong = [f"run {s.run!r}: {s.num}/{s.den}" for s in scores if s.den <= 0 or not 0 <= s.num <= s.den]
    if wrong:
        raise InputError("a run's score is num/den with den > 0 and 0 <= num <= den", wrong)
    return sorted(scores, key=cmp_to_key(_order))


def _order(a: ScoredRun, b: ScoredRun) -> int:
    left, right = a.num * b.den, b.num * a.den
    if left != right:
        return -1 if left < right else 1
    if (a.time, a.run) == (b.time, b.run):
        return 0
    return -1 if (a.time, a.run) < (b.time, b.run) else 1


def lower_median(scores: Sequence[ScoredRun]) -> ScoredRun:
    """Return the run at index (k-1)//2 of `by_score`; scores are compared as fractions, never as floats.

    Raises `InputError` for an empty window: a row without a run has no number.
    """
    if not scores:
        raise InputError("a row without an eligible run has no score to show")
    return by_score(scores)[(len(scores) - 1) // 2]


def window_range(scores: Sequence[ScoredRun]) -> tuple[ScoredRun, ScoredRun]:
    """Return the runs with the lowest and the highest score; it is no confidence interval."""
    if not scores:
        raise InputError("a row without an eligible run has no range to show")
    ordered = by_score(scores)
    return ordered[0], ordered[-1]


def competition_ranks(scores: Sequence[ScoredRun]) -> list[int]:
    """Return the rank of each exact score, in the order given; higher is better, equal scores share: 1, 2, 2, 4."""
    return [1 + sum(own.num * other.den < other.num * own.den for other in scores) for own in scores]
