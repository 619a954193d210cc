"""The lower median of a window, by exact fractions."""

from __future__ import annotations

import pytest

from ragassay.errors import InputError
from ragassay.estimate import ScoredRun, competition_ranks, lower_median, window_range


def run(name: str, num: int, den: int = 6000, time: int = 0) -> ScoredRun:
    """Return a run of that score."""
    return ScoredRun(run=name, num=num, den=den, time=time)


@pytest.mark.parametrize(("k", "index"), [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2)])
def test_lower_median_takes_the_lower_middle(k: int, index: int) -> None:
    """Of k runs it is the one at (k-1)//2 from below: always a real run, never a mean of two."""
    runs = [run(f"r{i}", 4000 + i) for i in range(k)]
    assert lower_median(runs[::-1]).run == f"r{index}"


def test_scores_are_compared_as_fractions() -> None:
    """Scores that one float cannot tell apart are still ordered: 2^60/(2^60+1) is below (2^60+1)/(2^60+2)."""
    big = 2**60
    low, high = run("low", big, big + 1), run("high", big + 1, big + 2)
    assert low.num / low.den == high.num / high.den
    assert [r.run for r in window_range([high, low])] == ["low", "high"]


def test_equal_scores_go_by_time_then_id() -> None:
    """4500/6000 and 75/100 tie: the earlier run comes first, and of one second the smaller id."""
    later, early_b, early_a = run("x", 4500, time=9), run("b", 75, 100, time=5), run("a", 3, 4, time=5)
    assert lower_median([later, early_b, early_a]).run == "b"
    assert [r.run for r in window_range([later, early_b, early_a])] == ["a", "x"]


def test_competition_ranks_leave_a_hole_after_a_tie() -> None:
    """Equal exact scores share a rank and the next one is counted past them: 1, 2, 2, 4."""
    assert competition_ranks([run("a", 9, 10), run("b", 1, 2), run("c", 50, 100), run("d", 0, 1)]) == [1, 2, 2, 4]
    assert competition_ranks([run("d", 0, 1), run("a", 9, 10)]) == [2, 1]
    assert competition_ranks([]) == []


def test_empty_window_is_refused() -> None:
    """A row without a run has no number, rather than a zero."""
    with pytest.raises(InputError, match="without an eligible run"):
        lower_median([])
    with pytest.raises(InputError, match="without an eligible run"):
        window_range([])


@pytest.mark.parametrize("bad", [(1, 0), (7, 6), (-1, 6), (1, -6)])
def test_impossible_score_is_refused(bad: tuple[int, int]) -> None:
    """A score outside 0..1 is refused with the run's name."""
    with pytest.raises(InputError, match="'odd'"):
        lower_median([run("odd", *bad)])
