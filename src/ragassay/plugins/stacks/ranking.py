"""Ranking a score per chunk: best first, equal scores in chunk order, whatever the hardware did to the last bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best(scores: NDArray[np.float32], k: int) -> list[int]:
    """Return the positions of the k highest of `scores` (shape (n,)), best first, ties by position."""
    count = min(k, scores.shape[0])
    if count <= 0:
        return []
    floor = np.partition(scores, -count)[-count]
    pool = np.flatnonzero(scores >= floor)
    order = np.lexsort((pool, -scores[pool]))
    return [int(at) for at in pool[order][:count]]


def shortest(score: np.float32) -> float:
    """Return the number whose decimal form is the shortest that reads back to `score`; keeps order and equality."""
    return float(str(np.float32(score)))
