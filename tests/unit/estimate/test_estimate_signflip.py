"""The sign-flip test against enumeration and hand counts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ragassay.estimate.signflip import sign_flip


def enumerated(values: list[float]) -> float:
    """Return p by walking every sign pattern."""
    observed = abs(sum(values))
    hits: int = sum(
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) >= observed - 1e-9
        for signs in product((1, -1), repeat=len(values))
    )
    return float(hits / 2 ** len(values))


@pytest.mark.parametrize(
    ("values", "p"),
    [([1.0], 1.0), ([1.0, 1.0], 0.5), ([1.0] * 5, 0.0625), ([1.0] * 6, 0.03125), ([1.0, -1.0], 1.0), ([2.0, 1.0], 0.5)],
)
def test_small_cases_by_hand(values: list[float], p: float) -> None:
    """m differences of one sign give 2/2^m; five cannot reach .05 and six can."""
    assert sign_flip(np.array(values), seed=1).p == p


def test_exact_equals_enumeration() -> None:
    """Up to 14 non-zero differences p is the share of all sign patterns, ties included, zeros left out."""
    generator = np.random.default_rng(7)
    for size in range(1, 15):
        values = generator.choice([-1, -0.75, -0.5, -0.25, 1 / 3, 0.25, 0.5, 1], size=size)
        found = sign_flip(np.concatenate([values, np.zeros(5)]), seed=1)
        assert (found.nonzero, found.draws) == (size, None)
        assert found.p == pytest.approx(enumerated(values.tolist()), abs=1e-12)


def test_drawn_p_is_near_the_exact_one() -> None:
    """With 16 differences 9,999 draws come within 4 standard errors of the enumerated p."""
    values = np.random.default_rng(3).normal(0.3, 1, size=16)
    exact = enumerated(values.tolist())
    found = sign_flip(values, seed=11)
    assert found.draws == 9_999
    assert found.p is not None
    assert abs(found.p - exact) < 4 * (exact * (1 - exact) / 9_999) ** 0.5


def test_same_seed_same_p_and_block_size_does_not_matter() -> None:
    """p is a function of the values and the seed."""
    values = np.random.default_rng(5).normal(0.1, 1, size=40)
    assert sign_flip(values, seed=1) == sign_flip(values, seed=1)
    assert sign_flip(values, seed=1) != sign_flip(values, seed=2)
    assert sign_flip(-values, seed=1) == sign_flip(values, seed=1)


def test_drawn_p_is_never_zero() -> None:
    """The observed pattern counts itself: the smallest p is 1/10,000."""
    assert sign_flip(np.ones(200), seed=1).p == 1 / 10_000


def test_nothing_to_flip() -> None:
    """Only zeros: every pattern is as far out as the observed one, p = 1. No value at all: no p."""
    assert sign_flip(np.zeros(9), seed=1).p == 1.0
    assert sign_flip(np.array([]), seed=1).p is None


def test_rounding_residue_is_no_difference() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floats; it does not count as a difference."""
    assert sign_flip(np.array([0.1 + 0.2 - 0.3, 0.5]), seed=1).nonzero == 1
