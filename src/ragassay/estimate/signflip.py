"""The sign-flip permutation test of paired differences."""

from __future__ import annotations

import msgspec
import numpy as np

from ragassay.estimate.units import NOTHING, Floats

EXACT_UP_TO = 14
"""Non-zero differences up to which all 2^m sign patterns are counted."""
DRAWS = 9_999
"""Random sign patterns beyond that; with the observed one they make 10,000."""
SLACK = 1e-9
"""Two sums closer than this are equal: sums of means of hundredths differ by far more or not at all."""
BLOCK_CELLS = 1 << 20


class SignFlip(msgspec.Struct, frozen=True, kw_only=True):
    """A two-sided p in 0..1, the non-zero differences behind it, and the draws (None: every pattern counted).

    `p` is None where there was nothing to flip: no unit at all.
    """

    p: float | None
    nonzero: int
    draws: int | None


def sign_flip(differences: Floats, *, seed: int, draws: int = DRAWS) -> SignFlip:
    """Return the share of sign patterns whose sum is at least as far from 0 as the observed one.

    `differences` holds one value per independent unit. Zeros cannot flip and are left out. Exact up to 14 non-zero
    values, otherwise p = (1 + hits)/(draws + 1) over PCG64(seed). The order of the values matters to the draws.
    """
    values = differences[np.abs(differences) > NOTHING]
    if values.size == 0:
        return SignFlip(p=1.0 if differences.size else None, nonzero=0, draws=None)
    if values.size <= EXACT_UP_TO:
        patterns = 1 << values.size
        return SignFlip(p=_exact_hits(values) / patterns, nonzero=int(values.size), draws=None)
    hits = _drawn_hits(values, seed, draws)
    return SignFlip(p=(1 + hits) / (draws + 1), nonzero=int(values.size), draws=draws)


def _exact_hits(values: Floats) -> int:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return int(np.count_nonzero(np.abs(sums) >= abs(float(values.sum())) - SLACK))


def _drawn_hits(values: Floats, seed: int, draws: int) -> int:
    generator = np.random.Generator(np.random.PCG64(seed))
    total = float(values.sum())
    row_bytes = (values.size + 7) // 8
    block = max(1, BLOCK_CELLS // int(values.size))
    hits = 0
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        raw = np.frombuffer(generator.bytes(rows * row_bytes), dtype=np.uint8).reshape(rows, row_bytes)
        positive = np.unpackbits(raw, axis=1, count=int(values.size)).astype(np.float64)
        sums = 2.0 * (positive @ values) - total
        hits += int(np.count_nonzero(np.abs(sums) >= abs(total) - SLACK))
    return hits
