"""What the rule of a check promises, by simulation: two equal rows seldom fail, a large drop is found, laws hold."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.estimate import drop

N = 60
BOARDS = 1_500
SCORE = st.integers(0, 100).map(lambda hundredths: hundredths / 100)


def means(generator: np.random.Generator, truth: npt.NDArray[np.float64], passes: int = 3) -> npt.NDArray[np.float64]:
    """Return question means of some passes, each of which is right with the question's own probability."""
    return generator.binomial(passes, truth) / passes


def failures(
    ease: float, *, lost: float, allowed: float, boards: int = BOARDS, changed: float = 0.15, seed: int = 5
) -> float:
    """Return the share of boards that fail where a changed row answers a share of the questions afresh, less well.

    A new retriever wins some questions and loses others: a share `changed` of them is drawn anew from the same mix,
    and a share `lost` of all is lost for good.
    """
    generator = np.random.default_rng(seed)
    failed = 0
    for _ in range(boards):
        before = np.where(generator.random(N) < ease, 0.97, 0.05)
        afresh = np.where(generator.random(N) < ease, 0.97, 0.05)
        now = np.where(generator.random(N) < changed, afresh, before)
        now = np.where(generator.random(N) < lost, 0.0, now)
        a, b = means(generator, now), means(generator, before)
        found = drop(
            {str(i): float(x) for i, x in enumerate(a)},
            {str(i): float(x) for i, x in enumerate(b)},
            allowed=allowed,
            seed=int(generator.integers(2**62)),
            draws=999,
        )
        failed += found.outcome == "dropped"
    return failed / boards


@pytest.mark.parametrize("ease", [0.1, 0.5, 0.75, 0.95])
def test_two_equal_rows_fail_at_most_at_the_stated_rate(ease: float) -> None:
    """Equal rows at every level of score fail in at most 2.5 % of boards, within three standard errors."""
    assert failures(ease, lost=0.0, allowed=0.0) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / BOARDS)


def test_two_equal_rows_hardly_ever_fail_where_a_drop_is_allowed() -> None:
    """With .05 allowed, equal rows fail in less than 1 % of boards."""
    assert failures(0.75, lost=0.0, allowed=0.05) < 0.01


def test_a_drop_of_just_what_is_allowed_fails_seldom() -> None:
    """A true drop of about .05 where .05 is allowed fails in at most 5 % of boards."""
    assert failures(0.75, lost=0.05 / 0.74, allowed=0.05, changed=0.0) <= 0.05


@pytest.mark.parametrize(("lost", "allowed", "share"), [(0.4, 0.0, 0.97), (0.4, 0.05, 0.97), (0.6, 0.2, 0.9)])
def test_a_large_drop_is_found(lost: float, allowed: float, share: float) -> None:
    """A row that loses two fifths of its questions fails on nearly every board of 60, also with some drop allowed."""
    assert failures(0.75, lost=lost, allowed=allowed, boards=300) > share


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=30),
    st.floats(0, 0.5),
    st.floats(0, 0.4),
    st.sampled_from([0.8, 0.9, 0.95, 0.99]),
)
def test_laws_of_the_rule(pairs: list[tuple[float, float]], allowed: float, more: float, level: float) -> None:
    """Allowing more never fails a board that held; one that fails fell by more than is allowed, on 2 units or more."""
    now = {str(i): a for i, (a, _) in enumerate(pairs)}
    before = {str(i): b for i, (_, b) in enumerate(pairs)}
    found = drop(now, before, allowed=allowed, level=level, seed=1, draws=199)
    wider = drop(now, before, allowed=allowed + more, level=level, seed=1, draws=199)
    order = ("dropped", "inconclusive", "held")
    assert order.index(wider.outcome) >= order.index(found.outcome)
    back = drop(before, now, allowed=allowed, level=level, seed=1, draws=199)
    assert not (found.outcome == back.outcome == "dropped")
    if found.outcome == "dropped":
        assert found.difference < -allowed
        assert found.units > 1
        assert found.interval is None or found.interval.high < -allowed
    if found.outcome != "inconclusive":
        assert found.needed is None
