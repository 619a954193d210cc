"""The score of a run: the mean of the items that have one, kept as a ratio of integers."""

from __future__ import annotations

from collections.abc import Iterable

from ragassay import canon
from ragassay.records import Score


def run_score(hundredths: Iterable[int | None]) -> Score | None:
    """Return Σ hundredths over 100 × scored items, or None where nothing was scored.

    None is an item without a score: it enters neither sum. `decimal` has four places, half-up. Raises `ValueError` for
    an item score outside 0..100.
    """
    scored = [score for score in hundredths if score is not None]
    if any(not 0 <= score <= 100 for score in scored):
        raise ValueError("an item score is an integer from 0 to 100 hundredths")
    if not scored:
        return None
    num, den = sum(scored), 100 * len(scored)
    return Score(num=num, den=den, decimal=canon.ratio_string(num, den))
