"""One collection on a Weaviate server: an object's id says its chunk's position, the description the whole's digest."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.stored_index import Held
from ragassay.plugins.stacks.weaviate.client import WeaviateConnection
from ragassay.plugins.stacks.weaviate.settings import DYNAMIC_EF, Settings
from ragassay.records import JSON

with warnings.catch_warnings():  # as in weaviate_client: the import changes the process's filter
    from weaviate.classes.config import (
        Configure,
        ConsistencyLevel,
        DataType,
        Property,
        StopwordsPreset,
        Tokenization,
        VectorDistances,
    )
    from weaviate.classes.data import DataObject

CAPITAL_PREFIX = "Ragassay_"
"""Names of collections begin with a capital letter."""

VECTOR = "chunk"
"""The name of the vector of each object."""

TEXT = "text"
_STAMP = "ragassay_digest="
_UUID = 0x72616761_7373_8179_8000_000000000000
"""Ids are UUIDs of version 8 that begin with the letters of the name and end with the position."""

_QUANTIZERS = ("rq", "pq", "bq", "sq")
_PAUSE_S = (0.05, 2.0)


class WeaviateStore:
    """A `Store` of `stored_index`; `texts` are the chunks', which are written where words are searched."""

    def __init__(
        self, connection: WeaviateConnection, name: str, digest: str, settings: Settings, texts: Sequence[str]
    ) -> None:
        self._connection = connection
        self._name = name
        self._digest = digest
        self._settings = settings
        self._texts = texts
        used = connection.client.collections.use(name)
        self.collection = used.with_consistency_level(ConsistencyLevel(settings.consistency))
        """The client's handle."""
        self.unit_length = settings.metric == "cosine"
        """A server divides a vector by its length then."""

    def held(self) -> Held | None:
        """Return what the server holds under the name; raises `StackError` where it is ours and indexed otherwise."""
        found = self._connection.class_of(self._name)
        if found is None:
            return None
        said = str(found.get("description") or "")
        digest = said.removeprefix(_STAMP) if said.startswith(_STAMP) else None
        if digest == self._digest:
            self._check_index(found)
        return Held(count=self.count(), digest=digest)

    def create(self, dimension: int, digest: str) -> None:
        """Make the collection, in one shard; one that somebody made alike in the meantime is as good."""
        try:
            self._connection.asked("make a collection", lambda: self._create(digest))
        except StackError:
            held = self.held()
            if held is None or held.digest != digest:
                raise
            return
        self.held()

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write objects, those that are there already over; raises `StackError` where one of them was refused."""
        objects = [self._object(at, row) for at, row in enumerate(rows, first)]
        self._connection.patiently("write objects", lambda: self.collection.data.insert_many(objects))

    def read(self, first: int, count: int) -> tuple[list[int], NDArray[np.float32]]:
        """Return the rows that stand there, zeros where no vectors are kept; a text that is another is an error."""
        settings, query = self._settings, self.collection.query
        ids = [id_of(at) for at in range(first, first + count)]

        def ask() -> Any:
            return query.fetch_objects_by_ids(
                ids,
                limit=count,
                include_vector=[VECTOR] if settings.vectors else False,
                return_properties=[TEXT] if settings.texts else False,
            )

        found = self._connection.patiently("read objects", ask).objects
        held = {at: one for one in found if (at := position_of(UUID(int=one.uuid.int))) is not None}
        places = sorted(held)
        if settings.texts and any(held[at].properties.get(TEXT) != self._texts[at] for at in places):
            raise StackError(f"weaviate: a text in {self._name!r} was altered; remove the collection by hand")
        if not settings.vectors:
            return places, np.zeros((len(places), 1), np.float32)
        return places, np.array([held[at].vector.get(VECTOR, []) for at in places], np.float32)

    def finish(self) -> None:
        """Wait until every vector is in the index: a server may take objects first and index them later."""
        deadline, pause = time.monotonic() + self._settings.wait_s, _PAUSE_S[0]
        while rest := self._unfinished():
            if time.monotonic() + pause > deadline:
                raise StackError(
                    f"weaviate: {self._name!r} was not indexed within {self._settings.wait_s} s: {rest}. "
                    "Run again: it goes on from there",
                    retryable=True,
                )
            time.sleep(pause)
            pause = min(pause * 2, _PAUSE_S[1])

    def count(self) -> int:
        """Return how many objects the collection holds, asked of the server."""
        aggregate = self.collection.aggregate.over_all
        return int(self._connection.asked("count its objects", lambda: aggregate(total_count=True)).total_count or 0)

    def others(self) -> tuple[str, ...]:
        """Return ragassay's other collections on the server, sorted."""
        names = self._connection.class_names()
        return tuple(sorted(name for name in names if name.startswith(CAPITAL_PREFIX) and name != self._name))

    def _create(self, digest: str) -> None:
        settings = self._settings
        self._connection.client.collections.create(
            self._name,
            description=_STAMP + digest,
            properties=[self._property()] if settings.texts else [],
            vector_config=Configure.Vectors.self_provided(name=VECTOR, vector_index_config=self._index()),
            inverted_index_config=Configure.inverted_index(
                bm25_b=float(settings.b),
                bm25_k1=float(settings.k1),
                stopwords_preset=StopwordsPreset(settings.stopwords),
            ),
            replication_config=Configure.replication(factor=settings.replicas),
            sharding_config=Configure.sharding(desired_count=1),
        )

    def _property(self) -> Property:
        return Property(
            name=TEXT,
            data_type=DataType.TEXT,
            index_filterable=False,
            index_searchable=True,
            tokenization=Tokenization(self._settings.tokenization),
        )

    def _index(self) -> object:
        settings, index = self._settings, Configure.VectorIndex
        # Without this a server quantises by the default that it was started with, a flat index too.
        how = {"distance_metric": VectorDistances(settings.metric), "quantizer": index.Quantizer.none()}
        if settings.index == "flat":
            return index.flat(**how)
        return index.hnsw(
            **how,
            ef=settings.ef,
            ef_construction=settings.ef_construction,
            max_connections=settings.max_connections,
            dynamic_ef_min=DYNAMIC_EF["min"],
            dynamic_ef_max=DYNAMIC_EF["max"],
            dynamic_ef_factor=DYNAMIC_EF["factor"],
        )

    def _check_index(self, found: JSON) -> None:
        vector = (found.get("vectorConfig") or {}).get(VECTOR) or {}
        index = vector.get("vectorIndexConfig") or {}
        there = (vector.get("vectorIndexType"), index.get("distance"))
        wanted = (self._settings.index, self._settings.metric)
        if there != wanted:
            raise StackError(
                f"weaviate: {self._name!r} is indexed by {there[0]} and {there[1]}, and this row asks for {wanted[0]} "
                f"and {wanted[1]}; somebody changed it: remove it by hand"
            )
        if on := [kind for kind in _QUANTIZERS if (index.get(kind) or {}).get("enabled")]:
            raise StackError(
                f"weaviate: the server quantises the vectors of {self._name!r} ({', '.join(on)}), which nobody asked "
                "for and which changes results; unset DEFAULT_QUANTIZATION there and remove the collection by hand"
            )

    def _unfinished(self) -> str:
        """Return what is still to be done, the empty string for nothing; raises `StackError` for a shard that ended."""
        if not self._settings.vectors:
            return ""
        shards = self._connection.shards(self._name)
        for shard in shards:
            if shard.get("status") == "READONLY":
                raise StackError(f"weaviate: a shard of {self._name!r} is read-only; look for a full disk or memory")
        rest = sum(int(shard.get("vectorQueueSize") or 0) for shard in shards)
        states = sorted({str(shard.get("status")) for shard in shards})
        return f"{rest} vectors wait, and it is {', '.join(states)}" if rest or states != ["READY"] else ""

    def _object(self, at: int, row: NDArray[np.float32]) -> DataObject:
        return DataObject(
            uuid=id_of(at),
            properties={TEXT: self._texts[at]} if self._settings.texts else {},
            vector={VECTOR: row.tolist()} if self._settings.vectors else None,
        )


def id_of(position: int) -> UUID:
    """Return the id of the object of the chunk at a position."""
    return UUID(int=_UUID + position)


def position_of(id: UUID) -> int | None:
    """Return the position that an id stands for, None for an object that is not ragassay's."""
    position = id.int - _UUID
    return position if 0 <= position < 2**48 else None
