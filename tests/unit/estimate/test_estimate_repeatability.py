"""The interval from pass noise alone."""

from __future__ import annotations

import math

import pytest

from ragassay.estimate import RowScores, compare


def row(name: str, *passes: dict[str, int | None], deterministic: bool = False) -> RowScores:
    """Return a row of these passes."""
    return RowScores(name=name, passes=passes, deterministic=deterministic)


def test_hand_worked_example() -> None:
    """Two questions, two passes: d = .375, Σ s²/k = .125, v = 4, t₄ = 2.7764: reach 2.7764·√.125/2 = .4908."""
    a = row("a", {"q1": 100, "q2": 50}, {"q1": 50, "q2": 50})
    b = row("b", {"q1": 0, "q2": 25}, {"q1": 0, "q2": 75})
    found = compare(a, b, seed=1)
    # s² of (1, .5) is .125, of (.25, .75) also .125; each over k = 2, so the sum is .125; n = 2.
    reach = 2.7764451 * math.sqrt(0.125) / 2
    assert found.difference == 0.375
    assert found.repeatability is not None
    assert found.repeatability.low == pytest.approx(0.375 - reach, abs=1e-6)
    assert found.repeatability.high == pytest.approx(0.375 + reach, abs=1e-6)
    assert found.repeatability_note is None


def test_only_questions_with_two_passes_in_both_rows_count() -> None:
    """A question that one row has once is left out, and the note counts the rest."""
    a = row("a", {"q1": 60, "q2": 50}, {"q1": 50, "q2": None})
    b = row("b", {"q1": 10, "q2": 25}, {"q1": 20, "q2": 75})
    found = compare(a, b, seed=1)
    assert found.repeatability is not None
    assert (found.repeatability.low + found.repeatability.high) / 2 == pytest.approx(0.4)
    assert found.repeatability_note == "over the 1 of 2 questions with two passes in both rows"


def test_one_pass_says_so() -> None:
    """Without a second pass there is a sentence and no interval."""
    found = compare(row("a", {"q1": 100, "q2": 0}), row("b", {"q1": 0, "q2": 0}), seed=1)
    assert found.repeatability is None
    assert (found.repeatability_note or "").startswith("one pass")


def test_deterministic_row_says_so_by_name() -> None:
    """A deterministic row has no pass noise: a sentence names it."""
    a = row("bm25", {"q1": 100}, {"q1": 100}, deterministic=True)
    found = compare(a, row("dense", {"q1": 0}, {"q1": 50}), seed=1)
    assert found.repeatability is None
    assert found.repeatability_note == "deterministic: identical passes (bm25)"


def test_identical_passes_are_no_certainty() -> None:
    """Rows whose passes agree everywhere get no interval of width 0."""
    found = compare(row("a", {"q1": 100}, {"q1": 100}), row("b", {"q1": 0}, {"q1": 0}), seed=1)
    assert found.repeatability is None
    assert (found.repeatability_note or "").startswith("identical passes")
