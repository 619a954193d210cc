"""Latency percentiles that the number of calls can carry."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.estimate.results import Percentiles

P95_FROM = 59
"""1 - .95^59 = .951: from here the slowest call lies above the true p95 with 95 % confidence."""
P99_FROM = 299
"""1 - .99^299 = .950, by the same rule."""


def percentiles(ms: Sequence[int]) -> Percentiles:
    """Return nearest-rank percentiles: the value at rank ceil(p·n); p95 from 59 calls, p99 from 299, else None."""
    ordered = sorted(ms)
    n = len(ordered)
    return Percentiles(
        p50=_at(ordered, 50) if n else None,
        p95=_at(ordered, 95) if n >= P95_FROM else None,
        p99=_at(ordered, 99) if n >= P99_FROM else None,
        n=n,
    )


def _at(ordered: Sequence[int], percent: int) -> int:
    return int(ordered[-(-percent * len(ordered) // 100) - 1])
