"""Question means: absent is not zero."""

from __future__ import annotations

import pytest

from ragassay.errors import InputError
from ragassay.estimate import RowScores, question_means, row_interval


def test_mean_is_over_the_passes_that_have_the_question() -> None:
    """A missing pass does not pull a question down: (100 + 50)/2 with one of three passes missing."""
    passes: list[dict[str, int | None]] = [{"q1": 100, "q2": 0}, {"q1": None, "q2": 0}, {"q1": 50}]
    assert question_means(passes) == {"q1": 0.75, "q2": 0.0}


def test_question_without_any_score_is_none() -> None:
    """A question that no pass has stays in the answer, as None and not as 0."""
    assert question_means([{"q1": None, "q2": 25}, {"q1": None, "q2": 25}]) == {"q1": None, "q2": 0.25}


def test_no_pass_has_no_question() -> None:
    """No pass at all is an empty mapping, and a row of it has no interval."""
    assert question_means([]) == {}
    assert row_interval(RowScores(name="empty", passes=()).means()) is None


@pytest.mark.parametrize("score", [101, -1, 0.5, "50", True, float("nan")])
def test_anything_but_hundredths_is_refused_by_place(score: object) -> None:
    """A score that is no integer from 0 to 100 is refused, with pass and question."""
    passes = [{"q1": 100}, {"q1": score}]
    with pytest.raises(InputError) as caught:
        question_means(passes)  # type: ignore[arg-type]
    assert caught.value.problems == (f"pass 2, question 'q1': {score!r}",)


@pytest.mark.parametrize("mean", [1.0001, -0.1, float("nan"), float("inf")])
def test_mean_outside_the_unit_interval_is_refused(mean: float) -> None:
    """Question means that cannot be means of scores are refused by name."""
    with pytest.raises(InputError, match="'q1'"):
        row_interval({"q1": mean})
