"""Two ways to search a collection of Chroma: all of it, which is checked to be exact, or its graph as it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.chroma.collection import Collection


def distinct_rows(matrix: NDArray[np.float32]) -> tuple[NDArray[np.float32], list[list[int]]]:
    """Return each different row once, in order, and for each the positions that it stands at."""
    places: dict[bytes, list[int]] = {}
    for at, row in enumerate(matrix):
        places.setdefault((row + np.float32(0)).tobytes(), []).append(at)
    firsts = [positions[0] for positions in places.values()]
    return np.ascontiguousarray(matrix[firsts]), list(places.values())


class ExactSearch:
    """Asks for every vector that there is, so that nothing is left to the graph, and checks that all came.

    Chroma has no exhaustive search. Equal vectors tear its graph apart, so each different one is stored once;
    `places` says which positions it stands for.
    """

    most = 1_000_000_000

    def __init__(self, collection: Collection, metric: str, places: Sequence[Sequence[int]]) -> None:
        self._collection = collection
        self._metric = metric
        self._places = places

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return the `limit` nearest positions, best first; raises `StackError` where one vector did not come."""
        found = self._collection.nearest(vector, len(self._places))
        wrong = [at for at, _ in found if not 0 <= at < len(self._places)]
        if wrong:
            raise StackError(f"chroma returned {wrong[0]}, and it was given {len(self._places)} vectors")
        if len(found) != len(self._places):
            raise StackError(
                f"chroma returned {len(found)} of {len(self._places)} vectors, so this is no exact search: its graph "
                "does not reach the rest; remove the collection, so that it is built anew, raise max_neighbors and "
                "ef_construction, or set exact = false"
            )
        scored = [(place, score_of(self._metric, far)) for at, far in found for place in self._places[at]]
        return sorted(scored, key=lambda one: (-one[1], one[0]))[:limit]

    def prove(self, row: NDArray[np.float32]) -> None:
        """Search once, so that a graph that does not hold together is found when it is built."""
        self.nearest("", row.tolist(), 1)

    def count(self) -> int:
        """Return how many vectors Chroma holds, and how many chunks more they stand for."""
        return self._collection.count() + sum(len(places) - 1 for places in self._places)

    def close(self) -> None:
        """Close the connection, or let the engine go."""
        self._collection.close()


class GraphSearch:
    """Searches the graph with `ef_search` candidates; always asks for all of them, so that fewer hits begin more."""

    def __init__(self, collection: Collection, metric: str, size: int, ef_search: int) -> None:
        self._collection = collection
        self._metric = metric
        self.most = ef_search
        self._asked = min(ef_search, size)

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return at most `limit` of the positions that the graph leads to, best first."""
        found = self._collection.nearest(vector, self._asked)
        return [(at, score_of(self._metric, far)) for at, far in found[:limit]]

    def count(self) -> int:
        """Return how many vectors Chroma holds."""
        return self._collection.count()

    def close(self) -> None:
        """Close the connection, or let the engine go."""
        self._collection.close()


def score_of(metric: str, distance: float) -> float:
    """Return the cosine, the dot product, or the Euclidean distance negated, of Chroma's distance."""
    return 1.0 - distance if metric != "l2" else -float(np.sqrt(max(distance, 0.0)))
