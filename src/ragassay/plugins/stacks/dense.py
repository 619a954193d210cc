"""Exact cosine similarity over any embedder: every chunk is compared, nothing is approximated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.ranking import best, shortest
from ragassay.plugins.stacks.vectors import described, embed_chunks, embed_query, embedder_of, release, truncated
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Embedder, Progress

_MARGIN = 1e-4
"""More than the error of a float32 dot product of unit vectors: no candidate is missed before the exact pass."""


class Dense:
    """Exact cosine; takes no parameters but the part `embedder`."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}

    def __init__(self, **params: Any) -> None:
        Parameters("dense", params).finish()

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> DenseIndex:
        """Embed all chunks; raises `StackError` for a broken embedder, `InputError` without one."""
        embedder = embedder_of("dense", parts)
        matrix = unit_rows(embed_chunks(embedder, chunks, progress))
        about = described("dense", embedder, truncated(embedder, chunks), metric="cosine", numpy=np.__version__)
        return DenseIndex([chunk.id for chunk in chunks], matrix, embedder, about)


class DenseIndex:
    """Unit vectors in chunk order."""

    def __init__(self, ids: Sequence[str], matrix: NDArray[np.float32], embedder: Embedder, about: JSON) -> None:
        self._ids = list(ids)
        self._matrix = matrix
        self._embedder = embedder
        self._described = about

    def search(self, text: str, k: int) -> list[Hit]:
        """Return the k most similar chunks, best first, equal scores in chunk order; scores are cosines.

        A question whose vector is zero is similar to nothing: an empty list.
        """
        if not self._ids or k < 1:
            return []
        query = unit_rows(embed_query(self._embedder, text, self._matrix.shape[1])[np.newaxis])[0]
        if not query.any():
            return []
        near, scores = cosines(self._matrix, query, k)
        return [Hit(chunk=self._ids[int(near[at])], score=shortest(scores[at])) for at in best(scores, k)]

    def describe(self) -> JSON:
        """Return the embedder, the metric, truncated chunks and versions."""
        return dict(self._described)

    def close(self) -> None:
        """Close the embedder; the index itself is plain memory."""
        release(self._embedder)


def cosines(
    matrix: NDArray[np.float32], query: NDArray[np.float32], k: int
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return positions and cosines of every row that can be among the k best.

    A fast product finds the candidates; their cosines are then summed row by row in float64, so that equal rows
    have equal scores wherever they stand.
    """
    rough = matrix @ query
    count = min(k, len(rough))
    floor = np.partition(rough, -count)[-count] - _MARGIN
    near = np.flatnonzero(rough >= floor)
    exact = (matrix[near].astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    return near, exact.astype(np.float32)


def unit_rows(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `matrix` with every row scaled to length 1; a zero row stays zero (its cosine with anything is 0)."""
    lengths = np.sqrt((matrix.astype(np.float64) ** 2).sum(axis=1, keepdims=True)) if len(matrix) else np.ones((0, 1))
    unit: NDArray[np.float32] = (matrix / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return unit
