"""Percentiles that the number of calls can carry."""

from __future__ import annotations

import pytest

from ragassay.estimate import Percentiles, percentiles


def test_nearest_rank() -> None:
    """Of 1..100 ms the 50th and the 95th value."""
    assert percentiles(range(100, 0, -1)) == Percentiles(p50=50, p95=95, p99=None, n=100)


@pytest.mark.parametrize(("n", "p95", "p99"), [(58, None, None), (59, 57, None), (298, 284, None), (299, 285, 297)])
def test_tail_needs_enough_calls(n: int, p95: int | None, p99: int | None) -> None:
    """No p95 below 59 calls and no p99 below 299: the largest value must exceed the percentile with 95 % confidence."""
    found = percentiles(range(1, n + 1))
    assert (found.p95, found.p99) == (p95, p99)


def test_few_and_none() -> None:
    """One call is its own median; no call has none."""
    assert percentiles([7]) == Percentiles(p50=7, p95=None, p99=None, n=1)
    assert percentiles([9, 7]).p50 == 7
    assert percentiles([]) == Percentiles(p50=None, p95=None, p99=None, n=0)
