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

_ALONE = 393_216
"""Numbers in a block for one query: beyond 460,800 OpenBLAS splits a product with a vector between threads, and waits
longer for them than it computes, many times so where the processor has other work."""
_AT_ONCE = 64
"""Rows whose float64 products are held at a time: few enough to stay in the processor's cache."""

Positions = NDArray[np.intp]
Scores = NDArray[np.float32]

_NOTHING = (np.empty(0, np.intp), np.empty(0, np.float32))


def cosines(rows: NDArray[np.float32], query: NDArray[np.float32]) -> Scores:
    """Return the cosine of each row with the query, all of them unit vectors or zero, shape (n,)."""
    wide = query.astype(np.float64)
    parts = [(some.astype(np.float64) * wide).sum(axis=1).astype(np.float32) for _, some in steps(rows, _AT_ONCE)]
    return np.concatenate([np.empty(0, np.float32), *parts])


def nearest(
    matrix: NDArray[np.float32], query: NDArray[np.float32], k: int, *, step: int | None = None
) -> tuple[Positions, Scores]:
    """Return positions and cosines of the k rows most similar to a unit vector, best first, ties by position.

    `step` is the rows in a block; it changes nothing but the time that it takes.
    """
    found = _NOTHING
    for start, block in steps(matrix, step or max(1, _ALONE // max(1, matrix.shape[1]))):
        found = _merged(found, start, block, block @ query, query, k)
    return found


def nearest_of_each(
    matrix: NDArray[np.float32], queries: NDArray[np.float32], k: int, *, step: int = STEP
) -> list[tuple[Positions, Scores]]:
    """Return what `nearest` does for each query, reading the matrix once."""
    found = [_NOTHING for _ in queries]
    for start, block in steps(matrix, step):
        rough = block @ queries.T
        found = [
            _merged(held, start, block, rough[:, at], query, k)
            for at, (held, query) in enumerate(zip(found, queries, strict=True))
        ]
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
