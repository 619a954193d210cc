"""Searching an index of either service: by vectors, by words, or by both with their ranks fused here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ragassay.errors import StackError
from ragassay.plugins.stacks.elastic.client import ElasticClient
from ragassay.plugins.stacks.elastic.dialect import TEXT, Dialect
from ragassay.plugins.stacks.elastic.settings import WINDOW, Settings
from ragassay.plugins.stacks.fusing import fused
from ragassay.records import JSON, Hit

Ranked = list[tuple[int, float]]
"""Positions and scores, best first."""

LONGEST_MATCH = 1_000
"""Characters of a question that is sent as it is: it has no more tokens, and a query takes 1,024 clauses."""
MOST_CLAUSES = 1_024


class ElasticEngine:
    """A `VectorEngine`: `vectors` of the `total` documents have a vector."""

    def __init__(
        self, client: ElasticClient, dialect: Dialect, index: str, settings: Settings, *, vectors: int, total: int
    ) -> None:
        self._client = client
        self._dialect = dialect
        self._index = index
        self._settings = settings
        self._vectors = vectors
        self._total = total
        graph = settings.search == "vector" and not settings.exact
        self.most = settings.candidates if graph else WINDOW

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> Ranked:
        """Return the `limit` best; raises `StackError` for an answer that is not whole."""
        if self._settings.search == "vector":
            return self._near(vector, limit)
        if self._settings.search == "text":
            return self._matching(text, limit)
        return self._both(text, vector)[:limit]

    def count(self) -> int:
        """Return how many documents the index holds."""
        return self._client.count(self._index)

    def close(self) -> None:
        """Close the connections; the index stays."""
        self._client.close()

    def _near(self, vector: Sequence[float], limit: int) -> Ranked:
        found = self._search(self._dialect.near(self._settings, vector), limit)
        wanted = min(limit, self._vectors)
        if self._settings.exact and len(found) < wanted:
            raise StackError(
                f"{self._client.kind} returned {len(found)} of {wanted} documents with a vector: "
                "a part of the index did not answer",
                retryable=True,
            )
        return [(at, self._dialect.metric(self._settings, score)) for at, score in found]

    def _matching(self, text: str, limit: int) -> Ranked:
        query = self._query(text)
        return [] if query is None else self._search({"query": query}, limit)

    def _query(self, text: str) -> JSON | None:
        """Return the query of a question's words; of a long one every word once, counted, which scores the same."""
        if len(text) <= LONGEST_MATCH:
            return {"match": {TEXT: {"query": text}}}
        counts = Counter(self._client.tokens(self._index, TEXT, text))
        if len(counts) > MOST_CLAUSES:
            raise StackError(
                f"the question holds {len(counts)} different words, and a query takes {MOST_CLAUSES}; ask a shorter one"
            )
        terms = [{"term": {TEXT: {"value": token, "boost": times}}} for token, times in counts.items()]
        return {"bool": {"should": terms}} if terms else None

    def _both(self, text: str, vector: Sequence[float]) -> Ranked:
        """Return the fusion of the best `depth` of both lists; a vector of zeros has none but by its distance."""
        lists: list[Ranked] = []
        if any(vector) or self._settings.metric == "l2":
            lists.append(self._closed(lambda limit: self._near(vector, limit), grows=self._settings.exact))
        lists.append(self._closed(lambda limit: self._matching(text, limit), grows=True))
        hits = [[Hit(chunk=str(at), score=score) for at, score in ranked] for ranked in lists]
        merged = fused(hits, depth=self._settings.depth, rrf_k=self._settings.rrf_k)
        return sorted(((int(hit.chunk), hit.score) for hit in merged), key=lambda one: (-one[1], one[0]))

    def _closed(self, search: Callable[[int], Ranked], *, grows: bool) -> Ranked:
        """Return the best `depth` of a list, equal scores by position; asks until no group of them is cut."""
        most = min(self._total, WINDOW if grows else self._settings.candidates)
        limit = depth = min(self._settings.depth, most)
        while True:
            limit = min(limit * 2, most)
            found = search(limit)
            if len(found) < limit or limit == most or found[-1][1] != found[depth - 1][1]:
                return sorted(found, key=lambda one: (-one[1], one[0]))[:depth]

    def _search(self, asked: JSON, limit: int) -> Ranked:
        body = {**asked, "size": limit, "_source": False, "track_total_hits": True}
        found = self._client.search(self._index, body)
        kind = self._client.kind
        if len(found.hits) > limit:
            raise StackError(f"{kind} returned {len(found.hits)} hits where {limit} were asked for")
        if found.total.relation != "eq" or len(found.hits) < min(limit, found.total.value):
            raise StackError(
                f"{kind} returned {len(found.hits)} of {found.total.value} hits that it found", retryable=True
            )
        ranked = [(self._position(hit.index, hit.id), hit.score) for hit in found.hits]
        if len({at for at, _ in ranked}) != len(ranked):
            raise StackError(f"{kind} returned the same document twice in one answer")
        return ranked

    def _position(self, index: str, id: str) -> int:
        if index == self._index and id.isascii() and id.isdecimal() and int(id) < self._total:
            return int(id)
        raise StackError(
            f"{self._client.kind} returned the document {id[:64]!r} of {index[:64]!r}, which ragassay did not put "
            f"into {self._index!r}; let nobody else write there"
        )
