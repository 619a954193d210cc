"""Searching a collection of Weaviate: by vector, by words, or by both fused, and every way to answer it wrongly."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ragassay.errors import StackError
from ragassay.plugins.stacks.weaviate.client import WeaviateConnection
from ragassay.plugins.stacks.weaviate.settings import Settings
from ragassay.plugins.stacks.weaviate.store import TEXT, VECTOR, WeaviateStore, position_of

with warnings.catch_warnings():  # as in weaviate_client: the import changes the process's filter
    from weaviate.classes.query import HybridFusion, MetadataQuery

MOST = 10_000
"""The largest limit: a server's QUERY_MAXIMUM_RESULTS, unless it was started with another."""

_FUSIONS = {"relativeScore": HybridFusion.RELATIVE_SCORE, "ranked": HybridFusion.RANKED}


class WeaviateEngine:
    """Asks one collection of `total` objects.

    Where the answer depends on how many are asked for, as in a graph and in a fusion, `depth` are, whatever k is.
    """

    def __init__(self, connection: WeaviateConnection, store: WeaviateStore, settings: Settings, total: int) -> None:
        self._connection = connection
        self._store = store
        self._settings = settings
        self._total = total
        self.most = MOST if settings.exact else settings.depth
        self._search: Callable[[str, Sequence[float], int], list[tuple[int, float]]] = {
            "vector": self._by_vector,
            "text": self._by_text,
            "hybrid": self._by_both,
        }[settings.search]

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return the best `limit` positions with their scores; raises `StackError` where the answer is not whole."""
        asked = limit if self._settings.exact else self._settings.depth
        found = self._search(text, vector, asked)
        if len({at for at, _ in found}) != len(found):
            raise StackError("weaviate returned the same object twice in one answer")
        if len(found) > asked:
            raise StackError(f"weaviate returned {len(found)} objects where {asked} were asked for")
        if found and found[0][1] < found[-1][1]:
            raise StackError("weaviate lists a worse object first: the meaning of its scores is not the documented one")
        return found[:limit]

    def count(self) -> int:
        """Return how many objects the collection holds, asked of the server."""
        return self._store.count()

    def close(self) -> None:
        """Close the connections; the collection stays."""
        self._connection.close()

    def _by_vector(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        near = self._store.collection.query.near_vector
        reply = self._asked(
            near,
            near_vector=list(vector),
            target_vector=VECTOR,
            limit=limit,
            return_metadata=MetadataQuery(distance=True),
        )
        base = 1.0 if self._settings.metric == "cosine" else 0.0
        return self._whole([(at, base - self._number(said.distance)) for at, said in reply], limit)

    def _by_text(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        if not self._has_words(text):
            return []
        query = self._store.collection.query.bm25
        metadata = MetadataQuery(score=True)
        reply = self._asked(query, query=text, query_properties=[TEXT], limit=limit, return_metadata=metadata)
        return [(at, self._number(said.score)) for at, said in reply]

    def _by_both(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return the server's fusion; a half that the question has nothing for is not asked, and has no weight."""
        pointing = any(vector) or self._settings.metric == "l2-squared"
        words = self._has_words(text)
        if not pointing and not words:
            return []
        alpha = float(self._settings.alpha) if pointing and words else float(pointing)
        reply = self._asked(
            self._store.collection.query.hybrid,
            query=text if words else None,
            query_properties=[TEXT],
            vector=list(vector),
            target_vector=VECTOR,
            alpha=alpha,
            fusion_type=_FUSIONS[self._settings.fusion],
            limit=limit,
            return_metadata=MetadataQuery(score=True),
        )
        found = [(at, self._number(said.score)) for at, said in reply]
        return self._whole(found, limit) if alpha else found

    def _asked(self, search: Callable[..., Any], **how: Any) -> list[tuple[int, Any]]:
        """Return the position of each object and what is said of it."""
        reply = self._connection.asked("search", lambda: search(return_properties=False, **how))
        return [(self._position(one.uuid), one.metadata) for one in reply.objects]

    def _position(self, id: Any) -> int:
        position = position_of(id)
        if position is None or position >= self._total:
            raise StackError(
                f"weaviate returned the object {id}, which ragassay did not put into the collection; let nobody else "
                "write to it"
            )
        return position

    def _number(self, said: float | None) -> float:
        if said is None:
            raise StackError("weaviate returned an object without its score")
        return float(said)

    def _whole(self, found: list[tuple[int, float]], limit: int) -> list[tuple[int, float]]:
        """Return what was found by vector, which a flat index leaves nothing out of, and a graph never everything."""
        least = min(limit, self._total) if self._settings.index == "flat" else 1
        if len(found) < least:
            raise StackError(f"weaviate returned {len(found)} objects, and there are {least} to return", retryable=True)
        return found

    def _has_words(self, text: str) -> bool:
        """Tell whether a question holds anything that can be a word; the server is not asked for an empty one."""
        if self._settings.tokenization == "word":
            return any(char.isalnum() for char in text)
        return bool(text.strip())
