"""Two rows, question by question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel

from ragassay.errors import InputError
from ragassay.estimate import Comparison, RowScores, ScoredRun, compare
from ragassay.records import to_json


def row(name: str, *passes: Sequence[int | None], shown: ScoredRun | None = None) -> RowScores:
    """Return a row whose questions are q000, q001, …."""
    maps = tuple({f"q{i:03}": score for i, score in enumerate(scores)} for scores in passes)
    return RowScores(name=name, passes=maps, shown=shown)


def test_t_interval_equals_scipy() -> None:
    """The interval is the one of a paired t test on question means."""
    generator = np.random.default_rng(1)
    left, right = (generator.integers(0, 101, size=(3, 40)) for _ in range(2))
    found = compare(row("a", *left.tolist()), row("b", *right.tolist()), seed=1)
    expected = ttest_rel(left.mean(axis=0) / 100, right.mean(axis=0) / 100).confidence_interval()
    assert found.interval is not None
    assert found.interval.low == pytest.approx(expected.low, abs=1e-9)
    assert found.interval.high == pytest.approx(expected.high, abs=1e-9)


def test_detectable_difference_by_hand() -> None:
    """d = .5, .5, 0, 0: sd = .288675, mde = 2.80·sd/2 = .404145, above the .25 seen; 4·(mde/.25)² = 10.45 questions."""
    found = compare(row("a", [50, 50, 0, 0]), row("b", [0, 0, 0, 0]), seed=1)
    assert found.difference == 0.25
    assert found.mde == pytest.approx(0.404145, abs=1e-6)
    assert found.power_note == "this design could not have shown it"
    assert found.questions_needed == 11
    assert (found.wins, found.ties, found.losses, found.nonzero) == (2, 2, 0, 2)
    assert found.p == 0.5
    assert found.p_note == "only 2 of 4 questions differ: cannot reach p ≤ .05"


def test_significant_difference_below_the_detectable_one_is_worded_apart() -> None:
    """Eight wins and one loss of 16: p = .039 and .4375 < mde .440; "could not have shown it" would be false."""
    found = compare(row("a", [100] * 8 + [0] * 8), row("b", [0] * 8 + [100] + [0] * 7), seed=1)
    assert found.p == 0.0390625
    assert found.difference is not None
    assert found.mde is not None
    assert found.difference < found.mde
    assert found.power_note == "shown, though smaller than what this design shows with power .8"


def test_five_differences_cannot_and_six_can() -> None:
    """Below 6 non-zero differences the note stands; at 6 of one sign p is .03125 and it is gone."""
    five = compare(row("a", [100] * 5 + [0]), row("b", [0] * 6), seed=1)
    six = compare(row("a", [100] * 6 + [0]), row("b", [0] * 7), seed=1)
    assert (five.p, six.p) == (0.0625, 0.03125)
    assert "cannot reach p ≤ .05" in (five.p_note or "")
    assert six.p_note is None


def test_220_items_20_discordant_16_to_4_rejects() -> None:
    """The paired test sees 16 against 4 of 220 as McNemar's exact test does (p = .0118)."""
    left = [100] * 16 + [0] * 4 + [100] * 150 + [0] * 50
    right = [0] * 16 + [100] * 4 + [100] * 150 + [0] * 50
    found = compare(row("a", left), row("b", right), seed=20261130)
    exact = binomtest(4, 20).pvalue
    assert (found.n, found.nonzero, found.wins, found.losses) == (220, 20, 16, 4)
    assert found.p == pytest.approx(exact, abs=4 * (exact / 9_999) ** 0.5)
    assert found.p is not None
    assert found.p < 0.05


def test_6_of_10_judged_compares_the_common_questions() -> None:
    """Of 10 questions 6 judged: the four without a score are named, never counted as 0, and bounds are given."""
    broken = row("bm25", [100, 100, 0, 100, 50, 100, None, None, None, None])
    whole = row("dense", [100, 50, 0, 100, 50, 100, 0, 0, 100, 100])
    found = compare(broken, whole, seed=1)
    assert (found.n, found.excluded) == (6, ("q006", "q007", "q008", "q009"))
    assert found.difference == pytest.approx(0.5 / 6)
    assert found.bounds is not None
    assert (found.bounds.worst, found.bounds.best, found.bounds.items) == (-0.15, 0.25, 4)
    assert found.depends_on_missing


def test_unequal_question_sets_are_named() -> None:
    """Questions of only one row are excluded by name."""
    a = RowScores(name="a", passes=({"x": 100, "y": 50},))
    b = RowScores(name="b", passes=({"y": 0, "z": 0},))
    found = compare(a, b, seed=1)
    assert (found.n, found.excluded) == (1, ("x", "z"))
    assert found.interval is None
    assert found.interval_note == "one question in common: no interval can be given"


def test_nothing_in_common_is_absent_not_zero() -> None:
    """Disjoint question sets have no difference, no p and a reason."""
    found = compare(RowScores(name="a", passes=({"x": 100},)), RowScores(name="b", passes=({"z": 0},)), seed=1)
    assert (found.difference, found.interval, found.p, found.mde) == (None, None, None, None)
    assert found.interval_note == "no question has a score in both rows"
    assert found.p_note == "no question has a score in both rows: nothing can be tested"
    assert found.bounds is not None
    assert (found.bounds.worst, found.bounds.best) == (0.0, 1.0)


def test_two_empty_rows() -> None:
    """Rows without a pass compare to nothing, without an error."""
    found = compare(RowScores(name="a", passes=()), RowScores(name="b", passes=()), seed=1)
    assert (found.n, found.difference, found.p, found.bounds) == (0, None, None, None)


def test_identical_rows_get_no_interval_of_width_zero() -> None:
    """Rows that agree everywhere: difference 0, p 1, no interval and no detectable difference."""
    found = compare(row("a", [100, 0, 50]), row("b", [100, 0, 50]), seed=1)
    assert (found.difference, found.p, found.interval, found.mde, found.power_note) == (0.0, 1.0, None, None, None)
    assert found.interval_note == "the same difference on all questions: its spread cannot be estimated"
    assert found.p_note == "only 0 of 3 questions differ: cannot reach p ≤ .05"
    assert found.deciding == ()


def test_equal_fractions_of_unequal_pass_counts_tie() -> None:
    """(33 + 33 + 34)/3 against (34 + 33 + 33)/3, and 1/3 of three passes against the same of six, differ by 0."""
    a = row("a", [33, 0], [33, 0], [34, 1])
    b = row("b", [34, 0], [33, 0], [33, 0], [33, 1], [34, 1], [33, 0])
    found = compare(a, b, seed=1)
    assert (found.ties, found.nonzero) == (2, 0)


def test_deciding_questions_are_ordered_by_size_then_id() -> None:
    """The largest differences come first whatever their sign; ties go by id; equal questions are left out."""
    found = compare(row("a", [100, 0, 50, 100, 25]), row("b", [75, 100, 50, 0, 0]), seed=1)
    assert found.deciding == ("q001", "q003", "q000", "q004")
    assert found.differences == {"q000": 0.25, "q001": -1.0, "q002": 0.0, "q003": 1.0, "q004": 0.25}


def test_swapping_rows_mirrors_everything() -> None:
    """compare(b, a) has the opposite signs and the same p, detectable difference and deciding questions."""
    generator = np.random.default_rng(2)
    left, right = (generator.integers(0, 101, size=(3, 30)).tolist() for _ in range(2))
    left[0][4] = None
    forth, back = (compare(row("a", *x), row("b", *y), seed=5) for x, y in ((left, right), (right, left)))
    assert forth.difference == -(back.difference or 0)
    assert (forth.p, forth.mde, forth.deciding, forth.bound_p) == (back.p, back.mde, back.deciding, back.bound_p)
    assert forth.interval is not None
    assert back.interval is not None
    assert (forth.interval.low, forth.interval.high) == (-back.interval.high, -back.interval.low)
    assert forth.bounds is not None
    assert back.bounds is not None
    assert (forth.bounds.worst, forth.bounds.best) == (-back.bounds.best, -back.bounds.worst)


def test_documents_are_the_units_of_interval_and_flips() -> None:
    """Eight questions of two documents: two flips, so p is .5 where single questions would give .0078."""
    documents = {f"q{i:03}": "AB"[i // 4] for i in range(8)}
    left, right = row("a", [100, 90, 80, 90, 100, 80, 70, 90]), row("b", [0] * 8)
    alone, shared = compare(left, right, seed=1), compare(left, right, seed=1, documents=documents)
    assert (alone.p, alone.units) == (2 / 2**8, 8)
    assert (shared.p, shared.units, shared.nonzero) == (0.5, 2, 2)
    assert shared.p_note == "only 2 of 2 documents differ: cannot reach p ≤ .05"
    assert shared.interval_note == "over 2 documents that 8 questions share"


def test_one_document_has_no_interval() -> None:
    """All questions from one document: a difference and a note."""
    documents = dict.fromkeys((f"q{i:03}" for i in range(3)), "A")
    found = compare(row("a", [100, 50, 0]), row("b", [0, 0, 0]), seed=1, documents=documents)
    assert (found.difference, found.interval, found.p) == (0.5, None, 1.0)
    assert found.interval_note == "one document in common: no interval can be given"


def lead_with_missing(missing: int) -> Comparison:
    """Return eight wins of 1 and `missing` more questions that row a lost to failures."""
    return compare(row("a", [100] * 8 + [None] * missing), row("b", [0] * 8 + [100] * missing), seed=1)


def test_lead_that_survives_its_bound_does_not_depend_on_missing_items() -> None:
    """Eight wins against one unknown: the worst case still leads with p ≤ .05."""
    found = lead_with_missing(1)
    assert found.bounds is not None
    assert found.bounds.worst == pytest.approx(7 / 9)
    assert (found.bound_p, found.depends_on_missing) == (20 / 2**9, False)


def test_lead_whose_significance_does_not_survive_depends_on_missing_items() -> None:
    """Eight wins against two unknown: the worst case still leads, but with p = .109."""
    found = lead_with_missing(2)
    assert found.bounds is not None
    assert found.bounds.worst > 0
    assert found.bound_p == pytest.approx(112 / 1024)
    assert found.depends_on_missing


def test_missing_pass_of_a_scored_question_counts_in_the_bounds() -> None:
    """A question that one pass of three lost has a mean, and still moves the bounds by a third of it."""
    found = compare(row("a", [100, 0], [None, 0], [100, 0]), row("b", [0, 0], [0, 0], [0, 0]), seed=1)
    assert (found.n, found.excluded, found.difference) == (2, (), 0.5)
    assert found.bounds is not None
    assert found.bounds.worst == pytest.approx(1 / 3)
    assert (found.bounds.best, found.bounds.items) == (0.5, 1)


def test_lower_medians_with_the_other_sign_are_reported() -> None:
    """Where the numbers that a board shows order the rows the other way round, the comparison says so."""
    shown_a = ScoredRun(run="r1", num=50, den=200, time=1)
    shown_b = ScoredRun(run="r2", num=60, den=200, time=1)
    found = compare(
        row("a", [50, 50], [50, 50], [100, 90], shown=shown_a),
        row("b", [60, 60], [60, 60], [60, 60], shown=shown_b),
        seed=1,
    )
    assert (found.difference or 0) > 0
    assert found.window_note == "the lower medians shown have the other sign than this difference of means"


@pytest.mark.parametrize(("k_a", "k_b", "told"), [(3, 3, False), (1, 1, False), (2, 2, True), (3, 5, True)])
def test_even_or_unequal_pass_counts_are_reported(k_a: int, k_b: int, told: bool) -> None:
    """Lower medians are compared at equal, odd numbers of passes; otherwise a note says they mislead."""
    found = compare(row("a", *[[100, 0]] * k_a), row("b", *[[50, 0]] * k_b), seed=1)
    assert (found.window_note is not None) == told


def test_bad_score_is_refused() -> None:
    """A score that is no hundredth never enters a comparison."""
    with pytest.raises(InputError, match="q000"):
        compare(row("a", [101]), row("b", [0]), seed=1)


def test_comparison_can_be_written_as_json() -> None:
    """A comparison is plain data: camelCase names, no objects inside."""
    written = to_json(compare(row("a", [100, 50]), row("b", [0, 50]), seed=1))
    assert written["powerNote"] == "this design could not have shown it"
    assert written["differences"] == {"q000": 1.0, "q001": 0.0}
