"""One index on a server of either service: made, filled, merged, and marked as whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.elastic.client import ElasticClient
from ragassay.plugins.stacks.elastic.dialect import TEXT, VECTOR, Dialect
from ragassay.plugins.stacks.elastic.replies import Bulk, Kept, Written, reason
from ragassay.plugins.stacks.elastic.settings import Settings
from ragassay.plugins.stacks.stored_index import Held
from ragassay.records import JSON

DIGEST, MERGED = "ragassay_digest", "ragassay_merged"
"""Under the mapping's `_meta`: what the index holds, and whether it was merged after its last document was written."""

ATTEMPTS = 4
_PAUSE_S = 0.25


class ElasticStore:
    """A `Store` of `stored_index`: one shard without a copy, so that there is one list of scores and no other."""

    def __init__(
        self,
        client: ElasticClient,
        dialect: Dialect,
        index: str,
        settings: Settings,
        texts: Sequence[str],
        index_timeout_s: int,
    ) -> None:
        self._client = client
        self._dialect = dialect
        self._index = index
        self._settings = settings
        self._texts = texts
        self._index_timeout_s = index_timeout_s
        self._digest = ""
        self._merged = False
        self.unit_length = settings.metric == "cosine"
        """A graph by cosine may keep a vector divided by its length."""

    def held(self) -> Held | None:
        """Return what the server holds under the name."""
        mapping = self._client.mapping(self._index)
        if mapping is None:
            return None
        meta = mapping.get("_meta")
        digest = meta.get(DIGEST) if isinstance(meta, dict) else None
        if not isinstance(meta, dict) or not isinstance(digest, str):
            return Held(count=0, digest=None)
        self._digest, self._merged = digest, meta.get(MERGED) is True
        if not self._merged:  # what was written and not merged may not be searchable yet
            self._client.refresh(self._index)
        return Held(count=self._client.count(self._index), digest=digest)

    def create(self, dimension: int, digest: str) -> None:
        """Make the index, empty, with the digest beside it."""
        self._digest = digest
        fields: JSON = {}
        settings: JSON = {"number_of_shards": 1, "number_of_replicas": 0}
        if self._settings.vectors:
            fields[VECTOR] = self._dialect.field(self._settings, dimension)
            settings |= self._dialect.index_settings(self._settings)
        if self._settings.texts:
            bm25 = {"type": "BM25", "k1": float(self._settings.k1), "b": float(self._settings.b)}
            settings["similarity"] = {"ragassay": bm25}
            fields[TEXT] = {"type": "text", "analyzer": self._settings.analyzer, "similarity": "ragassay"}
        mappings = {"dynamic": "strict", "_meta": self._meta(merged=False), "properties": fields}
        self._client.create(self._index, {"settings": {"index": settings}, "mappings": mappings})

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write documents, and check what became of each; a server that is overloaded is asked again, in pauses."""
        if self._merged:
            self._client.remark(self._index, self._meta(merged=False))
            self._merged = False
        operations: list[JSON] = []
        for at, row in enumerate(rows, first):
            operations += [{"index": {"_id": str(at)}}, self._document(at, row)]
        ids = [str(at) for at in range(first, first + len(rows))]
        _patiently(lambda: self._written(ids, self._client.bulk(self._index, operations)))

    def read(self, first: int, count: int) -> tuple[list[int], NDArray[np.float32]]:
        """Return the rows that stand there, zeros for no vector; a text that is another one is an error."""
        settings = self._settings
        fields = [*([VECTOR] if settings.vectors else []), *([TEXT] if settings.texts else [])]
        found = self._client.kept(
            self._index, [str(at) for at in range(first, first + count)], self._dialect.reading(fields)
        )
        held = {int(one.id): one for one in found}
        places = sorted(held)
        if settings.texts and any(_value(held[at], TEXT) != [self._texts[at]] for at in places):
            raise StackError(f"{self._client.kind}: a text in {self._index!r} was altered; remove the index by hand")
        rows = [_value(held[at], VECTOR) for at in places]
        width = max((len(row) for row in rows), default=1) or 1
        return places, np.array([row or [0.0] * width for row in rows], np.float32).reshape(len(places), width)

    def finish(self) -> None:
        """Merge the index into one segment, whose statistics and graph are those of all documents and of no other."""
        if self._merged:
            return
        self._client.refresh(self._index)
        self._client.merge(self._index, self._index_timeout_s)
        self._client.refresh(self._index)
        self._client.remark(self._index, self._meta(merged=True))

    def _meta(self, *, merged: bool) -> JSON:
        return {DIGEST: self._digest, MERGED: merged}

    def _document(self, at: int, row: NDArray[np.float32]) -> JSON:
        document: JSON = {}
        # A cosine with a vector of zeros is not defined, and both services refuse it: such a chunk has no vector.
        if self._settings.vectors and (self._settings.metric != "cosine" or row.any()):
            document[VECTOR] = row.tolist()
        if self._settings.texts:
            document[TEXT] = self._texts[at]
        return document

    def _written(self, ids: Sequence[str], reply: Bulk) -> None:
        done = [item.index for item in reply.items]
        if [one.id for one in done] != list(ids):
            raise StackError(f"{self._client.kind} answered for {len(done)} documents of {len(ids)} that were written")
        failed = [one for one in done if one.error is not None or not 200 <= one.status < 300]
        if failed or reply.errors:
            raise StackError(
                f"{self._client.kind} did not write {len(failed)} of {len(ids)} documents to {self._index!r}: "
                + (_said(failed[0]) if failed else "it reports errors and names none"),
                retryable=bool(failed) and all(one.status == 429 or one.status >= 500 for one in failed),
            )


def _value(one: Kept, field: str) -> list[Any]:
    value = one.fields.get(field, one.source.get(field, []))
    return value if isinstance(value, list) else [value]


def _said(one: Written) -> str:
    return f"document {one.id}: status {one.status}: {reason({'error': one.error})[:300] or 'no reason given'}"


def _patiently(write: Callable[[], Any]) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            write()
            return
        except StackError as error:
            if not error.retryable or attempt == ATTEMPTS:
                raise
        time.sleep(_PAUSE_S * 2**attempt)
