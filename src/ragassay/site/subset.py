"""Which question sets are parts of another. Pure, and without anything that the base install lacks."""

from __future__ import annotations


def is_subset(benchmark_id: str) -> bool:
    """Tell whether a question set is a subset of another (`…#12`), which is never eligible."""
    return "#" in benchmark_id
