"""Two ways to search a collection of Milvus: every vector, which is checked to be exact, or an approximate index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.milvus.collection import Collection
from ragassay.plugins.stacks.milvus.settings import MOST, Settings

_PROVED = 100
_MARGIN = 1e-4
"""Of scores that may differ in float32 sums, times the size of the vectors."""


class Search:
    """Asks for `limit` where every vector is compared, else always for `depth`, so that fewer hits begin more."""

    def __init__(
        self, collection: Collection, settings: Settings, matrix: NDArray[np.float32], release: Callable[[], None]
    ) -> None:
        self.most = MOST if settings.exact else min(settings.depth, len(matrix))
        self._collection = collection
        self._settings = settings
        self._release = release
        # A server leaves out what has no cosine; Milvus Lite gives it 0.
        self._least = int(np.count_nonzero(matrix.any(axis=1))) if settings.metric == "cosine" else len(matrix)
        self._prove(matrix)

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return at most `limit` positions, best first; raises `StackError` where an exact search misses one."""
        if not self._settings.exact:
            return self._collection.nearest(vector, self.most)[:limit]
        found = self._collection.nearest(vector, limit)
        if len(found) < min(limit, self._least):
            raise StackError(f"milvus returned {len(found)} of {min(limit, self._least)} vectors of an exact search")
        return found

    def count(self) -> int:
        """Return how many vectors Milvus holds."""
        return self._collection.count()

    def close(self) -> None:
        """Close the connection, and let the engine in this process go."""
        self._collection.close()
        self._release()

    def _prove(self, matrix: NDArray[np.float32]) -> None:
        """Compare one exact search with the scores computed here, so that an engine that approximates is found."""
        query = matrix[int(np.argmax(np.any(matrix, axis=1)))]
        if not self._settings.exact or not query.any():
            return
        limit = min(_PROVED, self._least)
        found = [score for _, score in self.nearest("", query.tolist(), limit)]
        true = np.sort(scores(self._settings.metric, matrix, query))[::-1][:limit]
        worst = float(np.max(np.abs(true - np.asarray(found))))
        if worst > _MARGIN * max(1.0, float(np.max(np.abs(true)))):
            raise StackError(
                f"milvus: a search of a flat index differs by {worst:.6f} from the exact one, so it is none: "
                "the server approximates what is not sealed (queryNode.segcore.interimIndex), or the index is another"
            )


def scores(metric: str, matrix: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the score of every row in float64."""
    rows, one = matrix.astype(np.float64), query.astype(np.float64)
    if metric == "l2":
        return np.asarray(-np.linalg.norm(rows - one, axis=1))
    if metric == "cosine":
        lengths = np.linalg.norm(rows, axis=1)
        rows = rows / np.where(lengths == 0, 1.0, lengths)[:, np.newaxis]
        one = one / np.linalg.norm(one)
    return np.asarray(rows @ one)
