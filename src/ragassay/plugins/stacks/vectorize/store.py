"""One index on a Cloudflare account, filled by blocks; its digest stands in the index's description."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay.plugins.stacks.stored_index import PREFIX, Held
from ragassay.plugins.stacks.vectorize.api import VectorizeApi
from ragassay.plugins.stacks.vectorize.filter import PROPERTIES
from ragassay.records import JSON

_MARK = "ragassay "


class VectorizeStore:
    """The index `name`: a vector's id is its chunk's position; `metadata` holds one table per chunk, or nothing."""

    def __init__(
        self, api: VectorizeApi, name: str, metric: str, namespace: str | None, metadata: Sequence[JSON]
    ) -> None:
        self._api = api
        self._name = name
        self._metric = metric
        self._namespace = namespace
        self._metadata = metadata
        self._pending: str | None = None
        self._ready = not metadata

    def held(self) -> Held | None:
        """Return what stands under the name; an index without our mark in its description is somebody else's."""
        index = self._api.get(self._name)
        if index is None:
            return None
        said = index.description or ""
        digest = said.removeprefix(_MARK) if said.startswith(_MARK) else None
        return Held(count=self._api.info(self._name).vector_count, digest=digest)

    def create(self, dimension: int, digest: str) -> None:
        """Make the index, empty."""
        config = {"dimensions": dimension, "metric": self._metric}
        self._api.create({"name": self._name, "description": _MARK + digest, "config": config})

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Upload vectors; those that are there already are written over."""
        if not self._ready:
            self._index_metadata()
        lines = b"\n".join(msgspec.json.encode(self._line(at, row)) for at, row in enumerate(rows, first))
        self._pending = self._api.upsert(self._name, lines)

    def finish(self) -> None:
        """Wait until the last upload can be searched; mutations are processed in their order."""
        if self._pending is not None:
            self._api.wait_for(self._name, self._pending)

    def others(self) -> tuple[str, ...]:
        """Return the names of ragassay's other indexes on this account, sorted."""
        names = {index.name for index in self._api.list() if index.name.startswith(PREFIX)}
        return tuple(sorted(names - {self._name}))

    def _line(self, at: int, row: NDArray[np.float32]) -> JSON:
        line: JSON = {"id": str(at), "values": row.tolist()}
        if self._namespace is not None:
            line["namespace"] = self._namespace
        if self._metadata:
            line["metadata"] = self._metadata[at]
        return line

    def _index_metadata(self) -> None:
        """Have the filter's properties indexed first: vectors that came before would never be found by them."""
        there = {one.property_name for one in self._api.metadata_indexes(self._name).metadata_indexes}
        for name in sorted(set(self._metadata[0]) - there):
            self._api.wait_for(self._name, self._api.create_metadata_index(self._name, name, PROPERTIES[name]))
        self._ready = True
