"""Bounds, coverage and the floor."""

from __future__ import annotations

import pytest

from ragassay.estimate import coverage, missing_allowed, missing_bounds


@pytest.mark.parametrize(("n", "allowed"), [(0, 0), (24, 0), (49, 0), (50, 1), (60, 1), (100, 2), (2000, 40)])
def test_one_in_fifty_may_be_missing(n: int, allowed: int) -> None:
    """A pass may miss n/50 questions, rounded down."""
    assert missing_allowed(n) == allowed


def test_bounds_by_hand() -> None:
    """1, .5 and two missing of four: .375 at worst, .875 at best."""
    found = missing_bounds([{"a": 100, "b": 50, "c": None, "d": None}])
    assert found is not None
    assert (found.worst, found.best, found.items) == (0.375, 0.875, 2)


def test_nothing_missing_has_no_bounds() -> None:
    """Bounds stand only where something is missing."""
    assert missing_bounds([{"a": 100}, {"a": 0}]) is None
    assert missing_bounds([]) is None


def test_questions_never_asked_count_as_missing() -> None:
    """A question of the benchmark that no pass names is missing in every pass."""
    found = missing_bounds([{"a": 100}, {"a": 100}], ["a", "b"])
    assert found is not None
    assert (found.worst, found.best, found.items) == (0.5, 1.0, 2)


def test_everything_missing_is_zero_to_one() -> None:
    """A row without any score could be anything."""
    found = missing_bounds([{"a": None, "b": None}])
    assert found is not None
    assert (found.worst, found.best) == (0.0, 1.0)


def test_6_of_10_is_below_the_floor() -> None:
    """Ten questions allow none missing: 6 of 10 have a score, which is not enough for a headline number."""
    scores: dict[str, int | None] = {f"q{i}": 50 if i < 6 else None for i in range(10)}
    found = coverage([scores])
    assert (found.asked, found.scored, found.per_pass, found.allowed, found.enough) == (10, 6, (6,), 0, False)


def test_one_missing_item_of_sixty_is_enough_when_another_pass_has_it() -> None:
    """59 of 60 in one pass is within the floor; a question that no pass has is not."""
    whole: dict[str, int | None] = {f"q{i}": 50 for i in range(60)}
    short = {**whole, "q7": None}
    assert coverage([whole, short, whole]).enough
    assert coverage([short, short]).enough is False
    assert coverage([whole, {**short, "q8": None}]).enough is False


def test_no_question_is_not_enough() -> None:
    """An empty benchmark has no headline number."""
    assert coverage([]).enough is False
