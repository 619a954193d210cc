"""Searching one index of Vectorize: a query, and every way in which its answer can be wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from ragassay.errors import StackError
from ragassay.plugins.stacks.vectorize.api import VectorizeApi
from ragassay.plugins.stacks.vectorize.forms import Matches
from ragassay.records import JSON

MOST = 100
"""The largest topK of a query that returns neither values nor metadata."""
MOST_PRECISE = 50
"""The largest topK of a query that returns values."""


class VectorizeEngine:
    """Asks one index; Euclidean distances and negative dot products come back negated.

    `expected` are the positions that may come back: those of all vectors, or of those that the filter lets through.
    """

    def __init__(
        self,
        api: VectorizeApi,
        index: str,
        expected: Set[int],
        metric: str,
        precise: bool,
        namespace: str | None,
        filter: Mapping[str, Any] | None,
    ) -> None:
        self.most = MOST_PRECISE if precise else MOST
        self._api = api
        self._index = index
        self._expected = expected
        self._metric = metric
        self._sign = 1 if metric == "cosine" else -1
        self._asked: JSON = {"returnValues": precise, "returnMetadata": "none"}
        if namespace is not None:
            self._asked["namespace"] = namespace
        if filter is not None:
            self._asked["filter"] = dict(filter)

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return `limit` positions with scores, best first, fewer only where there are no more to return."""
        found = self._api.query(self._index, {"vector": list(vector), "topK": limit, **self._asked})
        self._check(found, limit)
        scored = [(int(match.id), self._sign * match.score) for match in found.matches]
        if scored and scored[0][1] < scored[-1][1]:
            raise StackError(
                f"Vectorize lists the worst match first: under {self._metric!r} a match of {found.matches[0].score!r} "
                f"stands before one of {found.matches[-1].score!r}. The meaning of its scores is not the documented one"
            )
        return scored

    def count(self) -> int:
        """Return how many vectors the index holds, asked of the service."""
        return self._api.info(self._index).vector_count

    def close(self) -> None:
        """Close the connections; the index stays."""
        self._api.close()

    def _check(self, found: Matches, limit: int) -> None:
        ids = [match.id for match in found.matches]
        if found.count != len(ids):
            raise StackError(f"Vectorize announced {found.count} matches and sent {len(ids)}", retryable=True)
        if len(ids) > limit:
            raise StackError(f"Vectorize returned {len(ids)} matches where {limit} were asked for")
        if len(set(ids)) != len(ids):
            raise StackError("Vectorize returned the same vector twice in one answer")
        for one in ids:
            if not (one.isascii() and one.isdecimal() and int(one) in self._expected):
                raise StackError(
                    f"Vectorize returned the vector {one[:64]!r}, which is none that {self._index!r} should return; "
                    "let nobody else write to that index"
                )
        if len(ids) < (wanted := min(limit, len(self._expected))):
            raise StackError(f"Vectorize returned {len(ids)} matches, and there are {wanted} to return", retryable=True)
