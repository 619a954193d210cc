"""The share of the gap between control and oracle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ragassay.estimate import RowScores, gap_share
from ragassay.estimate.gap import NO_SPREAD


def row(name: str, scores: Sequence[int | None]) -> RowScores:
    """Return a row of one pass whose questions are q000, q001, …."""
    return RowScores(name=name, passes=({f"q{i:03}": score for i, score in enumerate(scores)},))


def test_share_by_hand() -> None:
    """Row .5, control .1, oracle .9: half of the gap of .8."""
    n = 20
    found = gap_share(
        row("r", [100, 0] * (n // 2)), row("none", [20, 0] * (n // 2)), row("oracle", [80, 100] * (n // 2)), seed=1
    )
    assert found.established
    assert found.gap == pytest.approx(0.8)
    assert found.share == pytest.approx(0.5)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high


def test_bounds_are_order_statistics_of_the_bootstrap() -> None:
    """With control 0 and oracle 1 the share is the row's mean: bounds equal a plain bootstrap of the mean."""
    scores = [100] * 37 + [0] * 8 + [50] * 15
    found = gap_share(row("r", scores), row("none", [0] * 60), row("oracle", [100] * 60), seed=3)
    generator = np.random.default_rng(99)
    means = np.sort(np.array(scores)[generator.integers(0, 60, size=(9_999, 60))].mean(axis=1)) / 100
    assert found.low == pytest.approx(means[249], abs=0.01)
    assert found.high == pytest.approx(means[9749], abs=0.01)
    assert found.gap_low == 1.0


def test_oracle_and_control_themselves() -> None:
    """The control is at 0 and the oracle at 1 of the gap; as every draw says so, there is no interval, and a note."""
    control, oracle = row("none", [0, 0, 100, 0, 0, 0]), row("oracle", [100, 100, 100, 50, 100, 100])
    at_zero, at_one = (gap_share(r, control, oracle, seed=1) for r in (control, oracle))
    assert (at_zero.share, at_zero.low, at_zero.high) == (0.0, None, None)
    assert (at_one.share, at_one.low, at_one.high) == (1.0, None, None)
    assert at_one.note is not None
    assert "no interval" in at_one.note


def test_share_outside_the_unit_interval_is_kept() -> None:
    """A row below the control has a negative share and one above the oracle more than 1."""
    control, oracle = row("none", [10] * 9 + [20]), row("oracle", [90] * 9 + [80])
    below, above = (
        gap_share(row("r", [0] * 10), control, oracle, seed=1),
        gap_share(row("r", [100] * 10), control, oracle, seed=1),
    )
    assert below.share is not None
    assert above.share is not None
    assert below.share < 0
    assert above.share > 1


def test_gap_that_chance_could_close_is_not_established() -> None:
    """An oracle that beats the control on one question of twenty has no gap to share."""
    found = gap_share(row("r", [50] * 20), row("none", [0] * 20), row("oracle", [100] + [0] * 19), seed=1)
    assert (found.share, found.low, found.high, found.established) == (None, None, None, False)
    assert found.gap == 0.05
    assert found.gap_low == 0.0
    assert found.note == "gap not established: the lower bound of oracle - control is not above 0"


def test_negative_gap_is_not_established() -> None:
    """An oracle below the control is no ceiling."""
    found = gap_share(row("r", [50] * 9), row("none", [100] * 9), row("oracle", [0] * 9), seed=1)
    assert (found.established, found.gap) == (False, -1.0)


def test_lower_bound_just_above_zero_stays_finite() -> None:
    """A gap on 4 of 40 questions has draws without any gap, and still finite bounds."""
    found = gap_share(
        row("r", [0] * 20 + [100] * 20), row("none", [0] * 40), row("oracle", [100] * 4 + [0] * 36), seed=1
    )
    assert found.established
    assert found.low is not None
    assert found.high is not None
    assert np.isfinite([found.low, found.high]).all()


@pytest.mark.parametrize(
    ("scores", "note"),
    [([], "gap not established: no question in common"), ([100], "gap not established: one question in common")],
)
def test_too_few_questions(scores: list[int | None], note: str) -> None:
    """Without two common questions nothing is established, and the note counts them."""
    found = gap_share(row("r", scores), row("none", [0] * len(scores)), row("oracle", [100] * len(scores)), seed=1)
    assert (found.established, found.note, found.n) == (False, note, len(scores))


def test_only_questions_that_all_three_have() -> None:
    """A question that the control or the oracle lacks does not enter."""
    found = gap_share(
        row("r", [100, 50, 0, 100]), row("none", [0, None, 0, 0]), row("oracle", [100, 100, None, 100]), seed=1
    )
    assert (found.n, found.share) == (2, 1.0)


def test_documents_widen_the_interval() -> None:
    """Questions that share documents and go together leave a wider interval."""
    scores: list[int | None] = [100 if i // 10 % 2 else 0 for i in range(60)]
    three = row("r", scores), row("none", [0] * 60), row("oracle", [100] * 60)
    documents = {f"q{i:03}": str(i // 10) for i in range(60)}
    alone, shared = gap_share(*three, seed=1), gap_share(*three, seed=1, documents=documents)
    assert (alone.high or 0) - (alone.low or 0) < (shared.high or 0) - (shared.low or 0)
    one = gap_share(*three, seed=1, documents=dict.fromkeys(documents, "all"))
    assert one.note == "gap not established: one document in common"


def test_same_seed_same_bounds() -> None:
    """The interval is a function of the scores and the seed, which it carries."""
    three = row("r", [100, 0, 50] * 9), row("none", [0, 10, 0] * 9), row("oracle", [100, 90, 80] * 9)
    assert gap_share(*three, seed=4) == gap_share(*three, seed=4)
    assert gap_share(*three, seed=4).seed == 4
    assert gap_share(*three, seed=4) != gap_share(*three, seed=5)


def test_draws_without_a_gap_stand_at_the_end_their_lead_points_to() -> None:
    """A row below the control: draws without a gap are the lowest shares, so the 250th lowest is -.5/(.2/40) = -100.

    The oracle gains .2, .3, .4 and .5 on four of 40 questions. 1.5 % of the draws hold none of the four, and 1.6 %
    only the first, once: together more than 2.5 %.
    """
    oracle = row("oracle", [70, 80, 90, 100] + [50] * 36)
    found = gap_share(row("r", [0] * 40), row("none", [50] * 40), oracle, seed=1)
    assert found.share == pytest.approx(-0.5 / (1.4 / 40))
    assert found.low == pytest.approx(-100)


def test_a_row_like_the_oracle_is_not_certain_even_where_some_draws_have_no_gap() -> None:
    """Right on the oracle's 5 of 36 questions: the share is 1, and its bounds, which coincide, are not printed."""
    control, oracle = row("none", [0] * 36), row("oracle", [100] * 5 + [0] * 31)
    share = gap_share(row("same", [100] * 5 + [0] * 31), control, oracle, seed=1)
    assert (share.share, share.low, share.high) == (1.0, None, None)
    assert share.note == NO_SPREAD
