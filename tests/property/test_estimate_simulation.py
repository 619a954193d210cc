"""What the estimates promise, checked by simulation on data like a published board's.

The worlds follow that board: rows of .755 with 61 % exact ones and 13 % zeros, a control of .078 with 85 % zeros.
Each tolerance is three standard errors of a proportion at that number of simulated boards; seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from ragassay.estimate import RowScores, compare, gap_share, holm, row_interval
from ragassay.estimate.signflip import sign_flip

N = 60


def questions(
    generator: np.random.Generator, ones: float, zeros: float, low: float, n: int = N
) -> npt.NDArray[np.float64]:
    """Return question means: a share of exact ones, a share of zeros, the rest even between `low` and 1."""
    kind = generator.random(n)
    middle = generator.uniform(low, 1, n)
    return np.where(kind < ones, 1.0, np.where(kind < ones + zeros, 0.0, middle))


def slack(p: float, boards: int) -> float:
    """Return three standard errors of a proportion."""
    return 3 * math.sqrt(p * (1 - p) / boards)


@pytest.mark.parametrize(
    ("ones", "zeros", "low", "expected"),
    [(0.61, 0.13, 0.1154, 0.960), (0.30, 0.30, 0.0, 0.955), (0.0, 0.85, 0.04, 0.934)],
    ids=["good row .755", "middling row .5", "control .078"],
)
def test_row_interval_covers_the_true_mean(ones: float, zeros: float, low: float, expected: float) -> None:
    """2,000 boards: coverage is what the design's own simulation gave (96.0, 95.5, 93.4 %) within 3 SE plus .01.

    The extra .01 is for the spread between question worlds with the same mean and the same shares.
    """
    generator = np.random.default_rng(20261130)
    truth = ones + (1 - ones - zeros) * (low + 1) / 2
    covered = 0
    for _ in range(2_000):
        means = questions(generator, ones, zeros, low)
        found = row_interval({str(i): float(x) for i, x in enumerate(means)})
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    assert covered / 2_000 == pytest.approx(expected, abs=slack(expected, 2_000) + 0.01)


def test_clustered_interval_covers_where_the_plain_one_does_not() -> None:
    """20 documents of 3 alike questions, 1,000 boards: by document about 95 %, by question far less."""
    generator = np.random.default_rng(7)
    documents = {f"q{i}": f"d{i // 3}" for i in range(N)}
    plain = clustered = 0
    for _ in range(1_000):
        shared = np.repeat(questions(generator, 0.4, 0.3, 0.0, 20), 3)
        means = {f"q{i}": float(x) for i, x in enumerate(shared)}
        for found, by_document in ((row_interval(means), False), (row_interval(means, documents), True)):
            assert found is not None
            hit = (found.low or 0) <= 0.55 <= (found.high or 0)
            clustered += hit and by_document
            plain += hit and not by_document
    assert clustered / 1_000 == pytest.approx(0.95, abs=slack(0.95, 1_000) + 0.01)
    assert plain / 1_000 < 0.85


def test_sign_flip_keeps_its_level() -> None:
    """1,000 boards with two equal rows: p ≤ .05 in 5 % within 3 SE, p ≤ .01 in no more than 1 % plus 3 SE."""
    generator = np.random.default_rng(11)
    p = []
    for seed in range(1_000):
        difference = questions(generator, 0.61, 0.13, 0.1154) - questions(generator, 0.61, 0.13, 0.1154)
        p.append(sign_flip(difference, seed=seed, draws=999).p or 0.0)
    values = np.array(p)
    assert (values <= 0.05).mean() == pytest.approx(0.05, abs=slack(0.05, 1_000))
    assert (values <= 0.01).mean() <= 0.01 + slack(0.01, 1_000)


def test_holm_keeps_the_family_level() -> None:
    """300 boards of six equal rows: some false claim in at most 5 % plus 3 SE, unadjusted in far more."""
    generator = np.random.default_rng(13)
    false, unadjusted = 0, 0
    for seed in range(300):
        base = generator.random(40) < 0.75
        rows = [np.where(generator.random(40) < 0.3, generator.random(40) < 0.75, base).astype(float) for _ in range(6)]
        raw = {(i, j): sign_flip(rows[i] - rows[j], seed=seed, draws=199).p for i in range(6) for j in range(i + 1, 6)}
        false += int(any(p is not None and p <= 0.05 for p in holm(raw).values()))
        unadjusted += int(any(p is not None and p <= 0.05 for p in raw.values()))
    assert false / 300 <= 0.05 + slack(0.05, 300)
    assert unadjusted / 300 > 0.15


def test_paired_interval_and_detectable_difference() -> None:
    """1,000 boards with a true lead of .1: the interval covers it in 95 %, and a lead of mde is found in about 80 %."""
    generator = np.random.default_rng(17)
    covered = found_mde = 0
    for seed in range(1_000):
        noise = generator.choice([-0.5, -0.25, 0.0, 0.0, 0.0, 0.25, 0.5], size=N)
        left = np.clip(50 + 100 * (noise / 2 + 0.1), 0, 100).astype(int)
        a = RowScores(name="a", passes=({f"q{i}": int(x) for i, x in enumerate(left)},))
        b = RowScores(name="b", passes=({f"q{i}": 50 for i in range(N)},))
        found = compare(a, b, seed=seed, draws=199)
        assert found.interval is not None
        assert found.mde is not None
        truth = float(np.mean([int(50 + 100 * (x / 2 + 0.1)) - 50 for x in (-0.5, -0.25, 0, 0, 0, 0.25, 0.5)])) / 100
        covered += found.interval.low <= truth <= found.interval.high
        shifted = noise / 2 + 2.80 * float(np.std([-0.25, -0.125, 0, 0, 0, 0.125, 0.25])) / math.sqrt(N)
        found_mde += (sign_flip(shifted, seed=seed, draws=199).p or 1) <= 0.05
    assert covered / 1_000 == pytest.approx(0.95, abs=slack(0.95, 1_000))
    assert found_mde / 1_000 == pytest.approx(0.80, abs=slack(0.80, 1_000))


def test_repeatability_covers_the_difference_on_these_questions() -> None:
    """600 times three passes over the same 30 questions: 95 % of the intervals hold the noise-free difference."""
    generator = np.random.default_rng(19)
    true_a, true_b = generator.integers(30, 71, size=30), generator.integers(30, 71, size=30)
    truth = float((true_a - true_b).mean()) / 100
    covered = 0
    for seed in range(600):
        rows = [
            RowScores(
                name=name,
                passes=tuple(
                    {f"q{i}": int(x + generator.integers(-20, 21)) for i, x in enumerate(true)} for _ in range(3)
                ),
            )
            for name, true in (("a", true_a), ("b", true_b))
        ]
        found = compare(*rows, seed=seed, draws=9).repeatability
        assert found is not None
        covered += found.low <= truth <= found.high
    assert covered / 600 == pytest.approx(0.95, abs=slack(0.95, 600))


def test_share_of_the_gap_covers() -> None:
    """400 boards of 60 questions: the percentile bootstrap holds the true share in 95 % within 3 SE plus .01."""
    generator = np.random.default_rng(23)
    covered = 0
    for seed in range(400):
        hard = generator.random(N)
        chance = generator.random((3, N))
        rows = [(hard + 0.6 * chance[k] < level).astype(int) * 100 for k, level in enumerate((0.8, 0.3, 1.2))]
        named = [
            RowScores(name=str(k), passes=({f"q{i}": int(x) for i, x in enumerate(row)},)) for k, row in enumerate(rows)
        ]
        share = gap_share(*named, seed=seed, draws=999)
        assert share.low is not None
        assert share.high is not None
        covered += share.low <= TRUE_SHARE <= share.high
    assert covered / 400 == pytest.approx(0.95, abs=slack(0.95, 400) + 0.01)


def below(level: float) -> float:
    """Return P(U + .6·V < level) for two independent even draws, by a fine grid."""
    grid = (np.arange(100_000) + 0.5) / 100_000
    return float(np.clip(level - 0.6 * grid, 0, 1).mean())


TRUE_SHARE = (below(0.8) - below(0.3)) / (below(1.2) - below(0.3))
