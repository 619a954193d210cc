"""The most similar rows of a matrix, every row compared, block by block: memory does not grow with the rows.

A fast product finds the rows of a block that can be among the best; their cosines are then summed row by row in
float64 and rounded to float32, so that equal rows have equal scores wherever they stand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragassay.plugins.stacks.matrix import STEP, steps
from ragassay.plugins.stacks.ranking import best

MARGIN = 1e-4
"""More than the error of a float32 dot product of unit vectors: no candidate is missed before the exact pass."""

_AT_ONCE = 64
"""Rows whose float64 products are held at a time: few enough to stay in the processor's cache."""

Positions = NDArray[np.intp]
Scores = NDArray[np.float32]


def cosines(rows: NDArray[np.float32], query: NDArray[np.float32]) -> Scores:
    """Return the cosine of each row with the query, all of them unit vectors or zero, shape (n,)."""
    wide = query.astype(np.float64)
    parts = [(some.astype(np.float64) * wide).sum(axis=1).astype(np.float32) for _, some in steps(rows, _AT_ONCE)]
    return np.concatenate([np.empty(0, np.float32), *parts])


def nearest(
    matrix: NDArray[np.float32], query: NDArray[np.float32], k: int, *, step: int = STEP
) -> tuple[Positions, Scores]:
    """Return positions and cosines of the k rows most similar to a unit vector, best first, ties by position."""
    return nearest_of_each(matrix, query[np.newaxis], k, step=step)[0]


def nearest_of_each(
    matrix: NDArray[np.float32], queries: NDArray[np.float32], k: int, *, step: int = STEP
) -> list[tuple[Positions, Scores]]:
    """Return what `nearest` does for each query, reading the matrix once."""
    found = [(np.empty(0, np.intp), np.empty(0, np.float32)) for _ in queries]
    for start, block in steps(matrix, step):
        rough = block @ queries[0] if len(queries) == 1 else block @ queries.T
        for at, query in enumerate(queries):
            column = rough if len(queries) == 1 else rough[:, at]
            found[at] = _merged(found[at], start, block, column, query, k)
    return found


def _merged(
    held: tuple[Positions, Scores],
    start: int,
    block: NDArray[np.float32],
    rough: NDArray[np.float32],
    query: NDArray[np.float32],
    k: int,
) -> tuple[Positions, Scores]:
    """Return the k best of those that are held and of a block that comes after them."""
    floor = held[1][-1] if len(held[1]) == k else -np.inf
    near = np.flatnonzero(rough >= floor - MARGIN)
    if len(near) > k:
        near = near[rough[near] >= np.partition(rough[near], -k)[-k] - MARGIN]
    if not len(near):
        return held
    positions = np.concatenate([held[0], near + start])
    scores = np.concatenate([held[1], cosines(block[near], query)])
    # Those that are held stand best first, equal scores by position, and before the block: `best` keeps that order.
    chosen = best(scores, k)
    return positions[chosen], scores[chosen]
