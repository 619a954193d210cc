"""The interval of one row."""

from __future__ import annotations

import math

import pytest
from scipy.optimize import brentq
from scipy.stats import t as student_t

from ragassay.estimate import Interval, row_interval


def interval(values: list[float], documents: dict[str, str] | None = None) -> Interval:
    """Return the interval of questions q0, q1, … with these means."""
    found = row_interval({f"q{i}": value for i, value in enumerate(values)}, documents)
    assert found is not None
    return found


def test_hand_worked_example() -> None:
    """1, 1, 1, 0: m = .75, SE² = .25/4, n_eff = .1875/.0625 = 3, t₃ = 3.1824 gives [.1307, .9836]."""
    found = interval([1, 1, 1, 0])
    assert (found.mean, found.n, found.n_eff) == (0.75, 4, 3.0)
    assert found.low == pytest.approx(0.130690, abs=1e-6)
    assert found.high == pytest.approx(0.983570, abs=1e-6)
    assert found.note is None


@pytest.mark.parametrize(
    "values",
    [[1, 0.5, 0.25, 0, 1, 1], [0.1, 0.9], [0.0] * 50 + [1.0], [1.0] * 37 + [0.0] * 8 + [0.5] * 15],
)
def test_ends_solve_the_score_equation(values: list[float]) -> None:
    """Both ends are the roots of |m - x| = t·√(x(1-x)/n_eff), found here by bisection."""
    found = interval(values)
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
    n_eff = mean * (1 - mean) / (variance / len(values))
    t = float(student_t.ppf(0.975, len(values) - 1))

    def distance(x: float) -> float:
        return abs(mean - x) - t * math.sqrt(x * (1 - x) / n_eff)

    assert found.n_eff == pytest.approx(n_eff)
    assert found.low == pytest.approx(brentq(distance, 1e-15, mean - 1e-9), abs=1e-8)
    assert found.high == pytest.approx(brentq(distance, mean + 1e-9, 1 - 1e-15), abs=1e-8)


def test_all_wrong_or_all_right_keeps_a_width() -> None:
    """45 equal questions at 0 or 1 have SE 0: n_eff is 45 and the far end is t²/45 ÷ (1 + t²/45) = .0828 away."""
    wrong, right = interval([0.0] * 45), interval([1.0] * 45)
    ratio = 2.015367574**2 / 45
    assert (wrong.n_eff, wrong.low, right.n_eff, right.high) == (45.0, 0.0, 45.0, 1.0)
    assert wrong.high == pytest.approx(ratio / (1 + ratio), abs=1e-9)
    assert right.low == pytest.approx(1 / (1 + ratio), abs=1e-9)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 0.7])
def test_equal_means_are_not_certainty(value: float) -> None:
    """Rounding noise in the mean of equal values does not make n_eff huge and the interval a point."""
    found = interval([value] * 60)
    assert found.n_eff == 60
    assert (found.high or 0) - (found.low or 0) > 0.1


def test_missing_questions_leave_the_denominator() -> None:
    """A question without a score changes n and nothing else."""
    with_gap = row_interval({"a": 1.0, "b": None, "c": 0.0, "d": 0.5})
    without = row_interval({"a": 1.0, "c": 0.0, "d": 0.5})
    assert with_gap == without
    assert with_gap is not None
    assert with_gap.n == 3


def test_nothing_scored_has_no_mean() -> None:
    """No question, or only missing ones, is None: there is no mean to show."""
    assert row_interval({}) is None
    assert row_interval({"a": None, "b": None}) is None


def test_one_question_has_a_mean_and_no_interval() -> None:
    """One question says nothing about others; the note says so."""
    found = interval([0.75])
    assert (found.mean, found.low, found.high, found.n_eff) == (0.75, None, None, None)
    assert found.note == "one question: no interval can be given"


def test_two_questions_have_a_wide_interval() -> None:
    """Two opposite questions: n_eff 1 and t = 12.706 leave almost everything open."""
    found = interval([0, 1])
    assert found.n_eff == 1
    assert found.low == pytest.approx(0.0015, abs=1e-3)
    assert found.high == pytest.approx(0.9985, abs=1e-3)


def test_clusters_by_hand() -> None:
    """Documents {1, 1} and {0, 1}: residual sums ±.5, SE² = 2·(.25 + .25)/16 = .0625, df 1."""
    documents = {"q0": "A", "q1": "A", "q2": "B", "q3": "B"}
    found = interval([1, 1, 0, 1], documents)
    assert found.n_eff == 3
    t = 12.706204736
    low = (0.75 + t**2 / 6 - t * math.sqrt(0.0625 + t**2 / 36)) / (1 + t**2 / 3)
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.note == "over 2 documents that 4 questions share"


def test_cluster_residuals_that_cancel_give_n_eff_documents() -> None:
    """Two documents with equal means have SE 0: n_eff is the number of documents, not of questions."""
    found = interval([1, 0, 0, 1], {"q0": "A", "q1": "A", "q2": "B", "q3": "B"})
    assert found.n_eff == 2


def test_one_document_has_no_interval() -> None:
    """All questions from one document: a mean, no interval, a note."""
    found = interval([1, 0, 0.5], dict.fromkeys(("q0", "q1", "q2"), "A"))
    assert (found.mean, found.low, found.high) == (0.5, None, None)
    assert found.note == "one document: no interval can be given"


def test_question_without_a_document_stands_alone() -> None:
    """A question that the mapping does not name is its own unit, even where a document has the same name."""
    found = interval([1, 0, 0.5, 1], {"q0": "q2", "q1": "q2"})
    assert found.note == "over 3 documents that 4 questions share"
