"""The share of the closable gap: how far from control to oracle a row goes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ragassay.estimate.results import GapShare, settle
from ragassay.estimate.scores import RowScores
from ragassay.estimate.signflip import BLOCK_CELLS, DRAWS
from ragassay.estimate.units import NOTHING, Floats, Units

TAIL = 0.025
NO_SPREAD = "no interval: both bounds are the same number, so these questions say nothing of the share's spread"


def gap_share(
    row: RowScores,
    control: RowScores,
    oracle: RowScores,
    *,
    seed: int,
    documents: Mapping[str, str] | None = None,
    draws: int = DRAWS,
) -> GapShare:
    """Return (row - control)/(oracle - control) on the questions that all three have, with a 95 % interval.

    Percentile bootstrap over questions (over documents where they are shared). Bounds are order statistics: of
    9,999 draws the 250th from either end. Absent unless the lower bound of oracle - control is above 0; at most 249
    draws then have no gap, and they fall outside both bounds. Without bounds, and with a note, where both would be
    the same number: a bootstrap that cannot vary does not mean certainty.
    """
    means = [r.means() for r in (row, control, oracle)]
    common = sorted(q for q in set(means[0]) & set(means[1]) & set(means[2]) if all(m[q] is not None for m in means))
    values = np.array([[m[q] for q in common] for m in means], dtype=np.float64).reshape(3, len(common))
    units = Units(common, documents)
    if units.count < 2:
        where = f"{'one' if common else 'no'} {units.named(1)}"
        gap = float((values[2] - values[1]).mean()) if common else None
        return _absent(gap, None, len(common), seed, draws, f"gap not established: {where} in common")
    lead, gaps = values[0] - values[1], values[2] - values[1]
    sums = _resampled(lead, gaps, units, seed, draws)
    gap = float(gaps.mean())
    rank = max(1, int(TAIL * (draws + 1)))
    gap_low = float(np.sort(sums[:, 1] / sums[:, 2])[rank - 1])
    if gap_low <= NOTHING or gap <= NOTHING:
        note = "gap not established: the lower bound of oracle - control is not above 0"
        return _absent(gap, gap_low, len(common), seed, draws, note)
    shares = _shares(sums)
    spread = bool(shares[draws - rank] - shares[rank - 1] > NOTHING)
    return GapShare(
        share=settle(float(lead.mean()) / gap),
        low=settle(float(shares[rank - 1])) if spread else None,
        high=settle(float(shares[draws - rank])) if spread else None,
        note=None if spread else NO_SPREAD,
        established=True,
        gap=settle(gap),
        gap_low=settle(gap_low),
        n=len(common),
        seed=seed,
        draws=draws,
    )


def _absent(gap: float | None, gap_low: float | None, n: int, seed: int, draws: int, note: str) -> GapShare:
    return GapShare(
        share=None,
        low=None,
        high=None,
        established=False,
        gap=None if gap is None else settle(gap),
        gap_low=None if gap_low is None else settle(gap_low),
        n=n,
        seed=seed,
        draws=draws,
        note=note,
    )


def _resampled(lead: Floats, gaps: Floats, units: Units, seed: int, draws: int) -> Floats:
    """Return per draw the sums of lead, gap and question count over units drawn with replacement (draws × 3)."""
    generator = np.random.Generator(np.random.PCG64(seed))
    totals = np.column_stack([units.sums(lead), units.sums(gaps), units.sums(np.ones_like(lead))])
    sums = np.empty((draws, 3))
    block = max(1, BLOCK_CELLS // units.count)
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        chosen = generator.integers(0, units.count, size=(rows, units.count))
        chosen += np.arange(rows)[:, None] * units.count
        counts = np.bincount(chosen.ravel(), minlength=rows * units.count).reshape(rows, units.count)
        sums[start : start + rows] = counts.astype(np.float64) @ totals
    return sums


def _shares(sums: Floats) -> Floats:
    """Return the sorted shares of all draws; one without a gap stands at the end that its lead points to."""
    lead, gaps = sums[:, 0], sums[:, 1]
    shares = np.where(lead >= 0, np.inf, -np.inf)
    np.divide(lead, gaps, out=shares, where=gaps > NOTHING)
    return np.sort(shares)
