"""Three ways to search a table of LanceDB: vectors, words, or both fused by its own reciprocal rank fusion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from lancedb.rerankers import RRFReranker

from ragassay.plugins.stacks.lancedb.settings import Settings
from ragassay.plugins.stacks.lancedb.table import Ranked, Table

_ALL = 1_000_000_000


class Search(ABC):
    """What is the same for all three: a table, its settings, and its end."""

    most = _ALL

    def __init__(self, table: Table, settings: Settings) -> None:
        self._table = table
        self._settings = settings

    @abstractmethod
    def nearest(self, text: str, vector: Sequence[float], limit: int) -> Ranked:
        """Return at most `limit` positions, best first."""

    def count(self) -> int:
        """Return how many rows LanceDB holds."""
        return self._table.count()

    def close(self) -> None:
        """Let go of the table, and remove what is temporary."""
        self._table.close()

    def _near(self, vector: Sequence[float], limit: int) -> Ranked:
        metric, share = self._settings.metric, 0.5 if self._settings.doubled else 1.0
        return [(at, score_of(metric, far * share)) for at, far in self._table.near(vector, limit)]


class VectorSearch(Search):
    """Every vector compared, or an index; an index is always asked for `depth`, so that fewer hits begin more."""

    def __init__(self, table: Table, settings: Settings) -> None:
        super().__init__(table, settings)
        if settings.index != "flat":
            self.most = settings.depth

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> Ranked:
        """Return at most `limit` positions by their vectors, best first."""
        return self._near(vector, limit if self._settings.index == "flat" else self._settings.depth)[:limit]


class TextSearch(Search):
    """BM25 over the words of the question."""

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> Ranked:
        """Return at most `limit` positions by their words, best first."""
        return self._table.matching(text, limit)


class HybridSearch(Search):
    """The best `depth` by vectors and the best `depth` by words, fused by their ranks."""

    def __init__(self, table: Table, settings: Settings) -> None:
        super().__init__(table, settings)
        self._fusion = RRFReranker(K=settings.rrf_k)

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> Ranked:
        """Return at most `limit` positions of the fused list, best first, equal scores in chunk order."""
        depth, flat = self._settings.depth, self._settings.index == "flat"
        near: Ranked = []
        if any(vector) or self._settings.metric == "l2":
            near = best(lambda many: self._near(vector, many), depth, more=flat)
        words = best(lambda many: self._table.matching(text, many), depth, more=True)
        fused = self._fusion.rerank_hybrid(text, _leg(near), _leg(words))
        pairs = zip(fused["_rowid"].to_pylist(), fused["_relevance_score"].to_pylist(), strict=True)
        return sorted(pairs, key=lambda one: (-one[1], one[0]))[:limit]


def best(ask: Callable[[int], Ranked], depth: int, *, more: bool) -> Ranked:
    """Return the best `depth` of what `ask` finds, equal scores by position; with `more` no group of them is cut."""
    limit = depth + 8 if more else depth
    found = ask(limit)
    while more and len(found) == limit and found[-1][1] == found[depth - 1][1]:
        limit *= 2
        found = ask(limit)
    return sorted(found, key=lambda one: (-one[1], one[0]))[:depth]


def score_of(metric: str, distance: float) -> float:
    """Return the cosine, the dot product, or the Euclidean distance negated, of LanceDB's distance."""
    return 1.0 - distance if metric != "l2" else -float(np.sqrt(max(distance, 0.0)))


def _leg(ranked: Ranked) -> pa.Table:
    return pa.table({"_rowid": pa.array([at for at, _ in ranked], pa.uint64())})
