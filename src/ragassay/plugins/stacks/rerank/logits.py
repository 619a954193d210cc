"""A cross-encoder's numbers become scores. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError

TRUNCATION = "longest first"
"""A pair that is too long loses tokens from the end of its longer text, until both are as long; then from both."""


def as_scores(logits: NDArray[np.float64], scores: str) -> list[float]:
    """Return the numbers themselves, or with "sigmoid" 1 / (1 + e^−x) of each, in float64.

    Raises `StackError` for NaN and infinity: a score that is none never becomes a low one.
    """
    if not np.isfinite(logits).all():
        raise StackError("the cross-encoder gave NaN or infinity for a passage")
    if scores == "logits":
        return [float(one) for one in logits]
    # Of a large negative x the power would overflow; e^x / (1 + e^x) is the same number.
    power = np.exp(-np.abs(logits))
    return [float(one) for one in np.where(logits >= 0, 1 / (1 + power), power / (1 + power))]
