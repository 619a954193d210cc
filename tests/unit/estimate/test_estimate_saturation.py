"""Flags of questions that separate no rows."""

from __future__ import annotations

from ragassay.estimate import QuestionFlags, saturation


def test_ceiling_floor_and_known() -> None:
    """All right is ceiling, all wrong is floor, a control at .25 is known; a question that separates has no flag."""
    rows: list[dict[str, float | None]] = [
        {"all": 1.0, "none": 0.0, "some": 1.0, "known": 0.5},
        {"all": 1.0, "none": 0.0, "some": 0.5, "known": 0.25},
    ]
    found = saturation(rows, {"all": 0.0, "some": 0.2499, "known": 0.25})
    assert set(found) == {"all", "none", "known"}
    assert found["all"] == QuestionFlags(question="all", ceiling=True, floor=False, known_without_retrieval=False)
    assert found["none"].floor
    assert found["known"].known_without_retrieval


def test_missing_is_not_the_floor() -> None:
    """A question without scores is not flagged as unanswerable, nor is one that a single row has."""
    assert saturation([{"q": None}, {"q": None}]) == {}
    assert saturation([{"q": 0.0}, {"q": None}]) == {}
    assert saturation([]) == {}
