"""Searching a namespace of Pinecone: a dense query, or one with token weights, and every way to answer it wrongly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set
from typing import Any

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.pinecone.client import PineconeClient
from ragassay.plugins.stacks.pinecone.settings import Settings
from ragassay.plugins.stacks.qdrant.tokens import TokenWeights

MOST = 10_000
"""The largest top_k."""
MOST_TOKENS = 1000
"""The most weights of one record that every documented limit allows."""


class WeightedTokens:
    """BM25 in two halves: what a chunk decides stands in the index, the rarity of a token in the query.

    The service adds up: score = alpha · dense product + (1 − alpha) · Σ idf(t) · f(t, question) · w(t, chunk), with
    idf(t) = ln(1 + (N − n + 0.5) / (n + 0.5)) over the N chunks, of which n hold t.
    """

    def __init__(self, texts: Sequence[str], settings: Settings) -> None:
        self._weights = TokenWeights(texts, float(settings.k1), float(settings.b))
        rows = [row for row in self._weights.rows if row is not None]
        self.longest = max((len(numbers) for numbers, _ in rows), default=0)
        """The most tokens of one chunk."""
        if self.longest > MOST_TOKENS:
            raise InputError(
                f"Pinecone takes at most {MOST_TOKENS} token weights of a chunk, and one has {self.longest} different "
                "tokens; split the pages into shorter chunks, or set sparse = false"
            )
        held, total = Counter(number for numbers, _ in rows for number in numbers), len(texts)
        self._idf = {number: math.log(1 + (total - n + 0.5) / (n + 0.5)) for number, n in held.items()}

    def of_chunk(self, position: int) -> dict[str, Any] | None:
        """Return the weights of a chunk as the service takes them; None where it holds no token."""
        row = self._weights.rows[position]
        return None if row is None else {"indices": row[0], "values": row[1]}

    def of_question(self, text: str, share: float) -> dict[str, Any] | None:
        """Return the weights of a question, times `share`; None where no chunk holds one of its tokens."""
        found = self._weights.question(text)
        if found is None or share == 0:
            return None
        numbers, counts = found
        weights = [share * self._idf[number] * count for number, count in zip(numbers, counts, strict=True)]
        return {"indices": numbers, "values": weights}


class PineconeEngine:
    """Asks one namespace; a squared Euclidean distance comes back negated. `expected` are the positions stored."""

    most = MOST

    def __init__(
        self,
        client: PineconeClient,
        index: str,
        namespace: str,
        settings: Settings,
        expected: Set[int],
        tokens: WeightedTokens | None,
    ) -> None:
        self._client = client
        self._index = index
        self._namespace = namespace
        self._metric = settings.metric
        self._alpha = float(settings.alpha)
        self._expected = expected
        self._tokens = tokens

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return `limit` positions with scores, best first, fewer only where there are no more."""
        asked: dict[str, Any] = {"vector": list(vector)}
        if self._tokens is not None:
            asked["vector"] = [self._alpha * value for value in vector]
            weights = self._tokens.of_question(text, 1 - self._alpha)
            if weights is not None:
                asked["sparse_vector"] = weights
            elif not any(asked["vector"]):
                return []
        index = self._client.index(self._index)
        reply = self._client.once(lambda: index.query(top_k=limit, namespace=self._namespace, **asked))
        sign = -1 if self._metric == "euclidean" else 1
        scored = [(self._position(match.id), sign * float(match.score)) for match in reply.matches]
        self._check(scored, limit)
        return scored

    def count(self) -> int:
        """Return how many records the namespace holds, asked of the service."""
        index = self._client.index(self._index)
        spaces = self._client.once(index.describe_index_stats).namespaces
        return int(spaces[self._namespace].vector_count) if self._namespace in spaces else 0

    def close(self) -> None:
        """Close the connections; index and namespace stay."""
        self._client.close()

    def _position(self, id: str) -> int:
        if id.isascii() and id.isdecimal() and int(id) in self._expected:
            return int(id)
        raise StackError(
            f"pinecone returned the record {id[:64]!r}, which ragassay did not put into "
            f"{self._index}/{self._namespace}; let nobody else write to that namespace"
        )

    def _check(self, scored: Sequence[tuple[int, float]], limit: int) -> None:
        if len({at for at, _ in scored}) != len(scored):
            raise StackError("pinecone returned the same record twice in one answer")
        if len(scored) > limit:
            raise StackError(f"pinecone returned {len(scored)} matches where {limit} were asked for")
        if len(scored) < (wanted := min(limit, len(self._expected))):
            raise StackError(
                f"pinecone returned {len(scored)} matches, and there are {wanted} to return", retryable=True
            )
        if scored and scored[0][1] < scored[-1][1]:
            raise StackError(
                f"pinecone lists the worst match first under {self._metric!r}: "
                "the meaning of its scores is not the documented one"
            )
