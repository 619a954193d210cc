"""One namespace of a Pinecone index: a record's id is its chunk's position, its metadata the digest of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.pinecone.client import PineconeClient
from ragassay.plugins.stacks.pinecone.search import WeightedTokens
from ragassay.plugins.stacks.pinecone.settings import Settings
from ragassay.plugins.stacks.stored_index import PREFIX, Held
from ragassay.records import JSON

_MARK = "ragassay"


class PineconeStore:
    """Holds the chunks at `positions`, and their token weights where there are `tokens`."""

    def __init__(
        self,
        client: PineconeClient,
        index: str,
        namespace: str,
        settings: Settings,
        positions: Sequence[int],
        tokens: WeightedTokens | None,
        *,
        digest: str,
        dimension: int,
    ) -> None:
        self._client = client
        self._index = index
        self._namespace = namespace
        self._settings = settings
        self._positions = positions
        self._tokens = tokens
        self._digest = digest
        self._dimension = dimension
        self._written = False

    def numbers(self) -> int:
        """Return how many numbers one record holds at most; the digest counts as four."""
        return self._dimension + 4 + (2 * self._tokens.longest if self._tokens else 0)

    def held(self) -> Held | None:
        """Return what the namespace holds, None where the index or the namespace is not there.

        Raises `StackError` for an index whose vectors are of another kind.
        """
        model = self._client.described(self._index)
        if model is None:
            return None
        self._check(self._client.ready(self._index))
        count = self._count()
        return Held(count=count, digest=self._digest_there()) if count else None

    def create(self, dimension: int, digest: str) -> None:
        """Make the index where there is none; a namespace begins with its first record."""
        settings = self._settings
        if self._client.described(self._index) is None:
            self._client.create(self._index, dimension, settings.metric, settings.cloud, settings.region)
        self._check(self._client.ready(self._index))

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write records; those that are there already are written over."""
        records = [self._record(self._positions[at], row) for at, row in enumerate(rows, first)]
        index = self._client.index(self._index)
        reply = self._client.patiently(lambda: index.upsert(vectors=records, namespace=self._namespace))
        if reply.upserted_count != len(records):
            raise StackError(
                f"pinecone stored {reply.upserted_count} of {len(records)} records that were sent", retryable=True
            )
        self._written = True

    def finish(self) -> None:
        """Wait until the namespace counts every record: what was written last is seen a little later."""
        wanted = len(self._positions)
        if self._written:
            seen = f"{self._index}/{self._namespace} did not count {wanted} records"
            self._client.waited_for(lambda: True if self._count() == wanted else None, seen)

    def place(self) -> JSON:
        """Return where the index runs, as the service says it: cloud and region, or the pods of an older index."""
        spec = self._client.ready(self._index).spec
        if spec.serverless is not None:
            return {"cloud": str(spec.serverless.cloud), "region": str(spec.serverless.region)}
        if spec.pod is not None:
            return {"environment": str(spec.pod.environment), "pod_type": str(spec.pod.pod_type)}
        return {} if spec.byoc is None else {"environment": str(spec.byoc.environment)}

    def others(self) -> tuple[str, ...]:
        """Return ragassay's other namespaces in this index and its other indexes in the project, sorted."""
        spaces = {f"{self._index}/{name}" for name in self._spaces() if name.startswith(PREFIX)}
        indexes = {name for name in self._client.names() if name.startswith(f"{_MARK}-")}
        return tuple(sorted((spaces | indexes) - {self._index, f"{self._index}/{self._namespace}"}))

    def _record(self, position: int, row: NDArray[np.float32]) -> dict[str, Any]:
        record: dict[str, Any] = {"id": str(position), "values": row.tolist(), "metadata": {_MARK: self._digest}}
        if self._tokens is not None and (weights := self._tokens.of_chunk(position)) is not None:
            record["sparse_values"] = weights
        return record

    def _spaces(self) -> dict[str, int]:
        index = self._client.index(self._index)
        stats = self._client.patiently(index.describe_index_stats)
        return {str(name): int(space.vector_count) for name, space in stats.namespaces.items()}

    def _count(self) -> int:
        return self._spaces().get(self._namespace, 0)

    def _digest_there(self) -> str | None:
        """Return the digest that stands with one record, None where there is none."""
        index, namespace = self._client.index(self._index), self._namespace
        page = self._client.patiently(lambda: index.list_paginated(namespace=namespace, limit=1))
        ids = [item.id for item in page.vectors if item.id]
        if not ids:
            return None
        records = self._client.patiently(lambda: index.fetch(ids=ids[:1], namespace=namespace)).vectors
        found = ((record.metadata or {}).get(_MARK) for record in records.values())
        return next((digest for digest in found if isinstance(digest, str)), None)

    def _check(self, model: Any) -> None:
        wanted = (self._settings.metric, self._dimension, "dense")
        there = (str(model.metric), model.dimension, str(model.vector_type))
        if there != wanted:
            raise StackError(
                f"pinecone: the index of {self._index}/{self._namespace} compares {there[2]} vectors of {there[1]} "
                f"numbers by {there[0]}, and this row has {wanted[2]} ones of {wanted[1]} by {wanted[0]}; "
                "name another index, or leave the name out"
            )
