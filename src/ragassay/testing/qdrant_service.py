"""What a Qdrant server does with collections, for `qdrant_server.py`: the client's own models in and out.

It searches for real, with the engine that runs in a process (qdrant-edge). What is not asked for by the stack `qdrant`
is not there: filters, payloads, shards, aliases.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Any

import qdrant_edge
from qdrant_client.http import models

VERSION = "1.20.0"
_DEFAULT_GRAPH = (16, 100, 10_000)
_SMALLEST_FULL_SCAN = 10


class Refused(Exception):
    """An answer that is an error: an HTTP status and what is said."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


class Service:
    """Collections by name. The attributes are what a test can make it say in place of the truth."""

    def __init__(self) -> None:
        self.version = VERSION
        self.title = "qdrant - vector search engine"
        self.lost = 0
        """How many points a search leaves out at its end, as where a part of the index does not answer."""
        self.strange_id: int | str | None = None
        """The id under which the best point of a search is returned."""
        self.written = models.UpdateStatus.COMPLETED
        self.status: models.CollectionStatus | None = None
        self.deferred = 0
        """How many points are hidden from searches until they are indexed."""
        self.collections: dict[str, Collection] = {}
        self._lock = threading.Lock()

    def info(self) -> models.VersionInfo:
        """Return what the root says."""
        return models.VersionInfo(title=self.title, version=self.version, commit="0" * 40)

    def names(self) -> models.CollectionsResponse:
        """Return the names of all collections."""
        names = [models.CollectionDescription(name=name) for name in sorted(self.collections)]
        return models.CollectionsResponse(collections=names)

    def create(self, name: str, request: models.CreateCollection) -> bool:
        """Make a collection."""
        if name in self.collections:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        graph = request.hnsw_config
        if graph is not None and (graph.full_scan_threshold or _SMALLEST_FULL_SCAN) < _SMALLEST_FULL_SCAN:
            raise Refused(422, "Validation error in JSON body: [hnsw_config.full_scan_threshold: must be 10 or larger]")
        with self._lock:
            self.collections[name] = Collection(request)
        return True

    def update(self, name: str, request: models.UpdateCollection) -> bool:
        """Change the optimizer's threshold, and index where there is one now."""
        collection = self._of(name)
        if request.optimizers_config is not None:
            with self._lock:
                collection.optimize(request.optimizers_config.indexing_threshold)
        return True

    def describe(self, name: str) -> models.CollectionInfo:
        """Return what is said of a collection."""
        collection, held = self._of(name), self._of(name).shard.info()
        red = self.status == models.CollectionStatus.RED
        return models.CollectionInfo(
            status=self.status or models.CollectionStatus.GREEN,
            optimizer_status=(
                models.OptimizersStatusOneOf1(error="out of disk") if red else models.OptimizersStatusOneOf.OK
            ),
            indexed_vectors_count=held.indexed_vectors_count,
            points_count=held.points_count,
            segments_count=held.segments_count,
            config=collection.config(),
            payload_schema={},
            update_queue=models.UpdateQueueInfo(length=0, deferred_points=self.deferred or None),
        )

    def upsert(self, name: str, points: list[Any]) -> models.UpdateResult:
        """Write points; one that is there is written over."""
        collection = self._of(name)
        with self._lock:
            try:
                collection.shard.update(qdrant_edge.UpdateOperation.upsert_points([_point(one) for one in points]))
            except Exception as error:
                raise Refused(400, f"Wrong input: {error}") from error
        return models.UpdateResult(operation_id=1, status=self.written)

    def read(self, name: str, request: models.PointRequest) -> list[models.Record]:
        """Return the points of these ids that are there, with their vectors."""
        ids: list[Any] = [one for one in request.ids if isinstance(one, int)]
        found = self._of(name).shard.retrieve(ids, with_payload=False, with_vector=True)
        return [models.Record(id=int(str(one.id)), payload={}, vector=_read_back(one.vector)) for one in found]

    def count(self, name: str) -> models.CountResult:
        """Return how many points there are."""
        return models.CountResult(count=self._of(name).shard.info().points_count)

    def query(self, name: str, request: models.QueryRequest) -> models.QueryResponse:
        """Search."""
        prefetch = request.prefetch or []
        try:
            found = self._of(name).shard.query(
                qdrant_edge.QueryRequest(
                    10 if request.limit is None else request.limit,
                    query=_query(request.query, request.using),
                    prefetches=[_prefetch(one) for one in (prefetch if isinstance(prefetch, list) else [prefetch])],
                    params=_params(request.params),
                )
            )
        except Refused:
            raise
        except Exception as error:
            raise Refused(400, f"Wrong input: {error}") from error
        points = [models.ScoredPoint(id=int(str(one.id)), version=0, score=one.score) for one in found]
        if points and self.strange_id is not None:
            points[0].id = self.strange_id
        return models.QueryResponse(points=points[: len(points) - self.lost])

    def close(self) -> None:
        """Drop all collections."""
        for collection in self.collections.values():
            collection.close()
        self.collections.clear()

    def _of(self, name: str) -> Collection:
        if name not in self.collections:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return self.collections[name]


class Collection:
    """One collection: the request that made it and the engine's shard with its points."""

    def __init__(self, request: models.CreateCollection) -> None:
        self._request = request
        self._threshold = request.optimizers_config.indexing_threshold if request.optimizers_config else None
        self._folder = tempfile.TemporaryDirectory(prefix="qdrant-stand-in-")
        self.shard = qdrant_edge.EdgeShard.create(str(Path(self._folder.name) / "shard"), self._shard_config())

    def optimize(self, threshold: int | None) -> None:
        """Take a threshold in KB, and index everything unless it is 0."""
        self._threshold = threshold
        if threshold:
            self.shard.optimize()

    def config(self) -> models.CollectionConfig:
        """Return the configuration as a server reports it."""
        m, ef_construct, full_scan = self._graph()
        return models.CollectionConfig(
            params=models.CollectionParams(
                vectors=self._request.vectors, sparse_vectors=self._request.sparse_vectors, shard_number=1
            ),
            hnsw_config=models.HnswConfig(m=m, ef_construct=ef_construct, full_scan_threshold=full_scan),
            optimizer_config=models.OptimizersConfig(
                default_segment_number=1, flush_interval_sec=5, indexing_threshold=self._threshold
            ),
            wal_config=models.WalConfig(wal_capacity_mb=32, wal_segments_ahead=0),
            quantization_config=self._request.quantization_config,
            metadata=self._request.metadata,
        )

    def close(self) -> None:
        """Drop the points."""
        self.shard.close()
        self._folder.cleanup()

    def _graph(self) -> tuple[int, int, int]:
        given = self._request.hnsw_config or models.HnswConfigDiff()
        asked = (given.m, given.ef_construct, given.full_scan_threshold)
        m, ef_construct, full_scan = (b if a is None else a for a, b in zip(asked, _DEFAULT_GRAPH, strict=True))
        return m, ef_construct, full_scan

    def _shard_config(self) -> Any:
        vectors = self._request.vectors
        named = vectors if isinstance(vectors, dict) else {"": vectors}
        sparse = self._request.sparse_vectors or {}
        return qdrant_edge.EdgeConfig(
            vectors={
                name: qdrant_edge.EdgeVectorParams(one.size, getattr(qdrant_edge.Distance, one.distance.value))
                for name, one in named.items()
            },
            sparse_vectors={
                name: qdrant_edge.EdgeSparseVectorParams(
                    modifier=qdrant_edge.Modifier.Idf if one.modifier == models.Modifier.IDF else None
                )
                for name, one in sparse.items()
            },
            hnsw_config=qdrant_edge.HnswIndexConfig(*self._graph(), max_indexing_threads=1),
            quantization_config=_quantization(self._request.quantization_config),
            optimizers=qdrant_edge.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1),
            wal_enabled=False,
        )


def _quantization(config: Any) -> Any:
    if isinstance(config, models.ScalarQuantization):
        return qdrant_edge.ScalarQuantizationConfig(qdrant_edge.ScalarType.Int8)
    if isinstance(config, models.BinaryQuantization):
        return qdrant_edge.BinaryQuantizationConfig()
    if isinstance(config, models.ProductQuantization):
        return qdrant_edge.ProductQuantizationConfig(
            getattr(qdrant_edge.CompressionRatio, config.product.compression.value.upper())
        )
    return None


def _point(point: models.PointStruct) -> Any:
    named = point.vector if isinstance(point.vector, dict) else {"": point.vector}
    return qdrant_edge.Point(point.id, {name: _vector(one) for name, one in named.items()})


def _vector(vector: Any) -> Any:
    if isinstance(vector, models.SparseVector):
        return qdrant_edge.SparseVector(vector.indices, vector.values)
    return list(vector)


def _read_back(vectors: Any) -> Any:
    return {
        name: models.SparseVector(indices=one.indices, values=one.values)
        if isinstance(one, qdrant_edge.SparseVector)
        else list(one)
        for name, one in vectors.items()
    }


def _prefetch(prefetch: models.Prefetch) -> Any:
    limit = 10 if prefetch.limit is None else prefetch.limit
    return qdrant_edge.Prefetch(limit, query=_query(prefetch.query, prefetch.using), params=_params(prefetch.params))


def _query(query: Any, using: str | None) -> Any:
    if isinstance(query, models.NearestQuery):
        query = query.nearest
    if isinstance(query, list | models.SparseVector):
        return qdrant_edge.Query.Nearest(_vector(query), using or "")
    if isinstance(query, models.FusionQuery) and query.fusion == models.Fusion.RRF:
        return qdrant_edge.Fusion.Rrf(k=2)
    if isinstance(query, models.RrfQuery):
        return qdrant_edge.Fusion.Rrf(k=query.rrf.k or 2)
    raise Refused(400, f"this stand-in does not know the query {type(query).__name__}")


def _params(params: models.SearchParams | None) -> Any:
    if params is None:
        return None
    codes = params.quantization
    return qdrant_edge.SearchParams(
        hnsw_ef=params.hnsw_ef,
        exact=bool(params.exact),
        quantization=qdrant_edge.QuantizationSearchParams(
            ignore=bool(codes.ignore), rescore=codes.rescore, oversampling=codes.oversampling
        )
        if codes
        else None,
    )
