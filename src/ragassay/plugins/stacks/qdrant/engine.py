"""Searching a Qdrant index: the vectors alone, or fused with token weights; the same for embedded engine and server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ragassay.errors import StackError
from ragassay.plugins.stacks.qdrant.settings import Settings
from ragassay.plugins.stacks.qdrant.tokens import Sparse, TokenWeights

Ranked = list[tuple[int, float]]
"""Positions and scores, best first."""


class Points(Protocol):
    """The points of one index, under their positions; may raise anything."""

    def by_vector(self, vector: Sequence[float], limit: int) -> Ranked:
        """Return the nearest, scored as the engine scores: a distance is positive and rises."""
        ...

    def by_tokens(self, tokens: Sparse, limit: int) -> Ranked:
        """Return those that share a token."""
        ...

    def fused(self, vector: Sequence[float] | None, tokens: Sparse | None, limit: int) -> Ranked:
        """Return the engine's own fusion of both lists of the settings' depth; one that is None is left out."""
        ...

    def count(self) -> int:
        """Return how many there are."""
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


class Engine:
    """A `VectorEngine` over the points of `total` chunks; `weights` only where token weights are searched besides."""

    most = 1_000_000_000

    def __init__(self, points: Points, settings: Settings, weights: TokenWeights | None, total: int) -> None:
        self._points = points
        self._settings = settings
        self._weights = weights
        self._total = total
        self._sign = -1 if settings.metric == "euclid" else 1

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> Ranked:
        """Return the `limit` best; raises `StackError` where an exact search returns fewer than there are."""
        if self._weights is not None:
            return self._both(self._weights.question(text), vector)[:limit]
        # An approximate search finds others when it is asked for more: it is asked for `depth` whatever k is.
        asked = limit if self._settings.exact else min(self._total, max(limit, self._settings.depth))
        return self._by_vector(vector, asked)[:limit]

    def count(self) -> int:
        """Return how many points the engine holds."""
        return self._points.count()

    def close(self) -> None:
        """Release what the points hold."""
        self._points.close()

    def _by_vector(self, vector: Sequence[float], limit: int) -> Ranked:
        found = self._points.by_vector(vector, limit)
        if self._settings.exact and len(found) < min(limit, self._total):
            raise StackError(
                f"qdrant returned {len(found)} of {min(limit, self._total)} points: a part of the index did not answer",
                retryable=True,
            )
        return [(at, self._sign * score) for at, score in found]

    def _both(self, tokens: Sparse | None, vector: Sequence[float]) -> Ranked:
        """Return the fusion of the two lists; a vector of zeros is near nothing but by its distance."""
        pointing = any(vector) or self._sign < 0
        if self._settings.fusion == "engine-rrf":
            everything = min(2 * self._settings.depth, self._total)
            return self._points.fused(vector if pointing else None, tokens, everything) if pointing or tokens else []
        lists = [self._closed(lambda limit: self._by_vector(vector, limit))] if pointing else []
        if tokens is not None:
            lists.append(self._closed(lambda limit: self._points.by_tokens(tokens, limit)))
        scores: dict[int, float] = {}
        for ranked in lists:
            for rank, (at, _) in enumerate(ranked):
                scores[at] = scores.get(at, 0.0) + 1 / (self._settings.rrf_k + rank)
        return sorted(scores.items(), key=lambda one: (-one[1], one[0]))

    def _closed(self, search: Callable[[int], Ranked]) -> Ranked:
        """Return the best `depth` of a list, equal scores by position; asks until no group of them is cut."""
        depth = min(self._settings.depth, self._total)
        limit = depth
        while True:
            limit = min(limit * 2, self._total)
            found = search(limit)
            if len(found) < limit or limit == self._total or found[-1][1] != found[depth - 1][1]:
                return sorted(found, key=lambda one: (-one[1], one[0]))[:depth]
