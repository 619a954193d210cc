"""One collection on a Qdrant server: made, filled, waited for and searched."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client.http import models

from ragassay.errors import StackError
from ragassay.plugins.stacks.qdrant.connection import Connection
from ragassay.plugins.stacks.qdrant.engine import Ranked
from ragassay.plugins.stacks.qdrant.settings import METRICS, Settings
from ragassay.plugins.stacks.qdrant.tokens import Sparse, TokenWeights
from ragassay.plugins.stacks.stored_index import Held

DENSE, TOKENS = "dense", "tokens"
STAMP = "ragassay_digest"
"""The key of the collection's metadata under which the digest of what it holds stands."""

INDEXED_FROM_KB = 1
"""The server indexes segments of more: an unindexed remainder is searched exactly and would hide HNSW."""

_BYTES = 4
"""Per number of a vector."""

_PAUSE_S = (0.05, 1.0)
_ENGINE_RRF_K = 2


class Collection:
    """A `Store` of `stored_index`, and the `Points` of `qdrant_engine`."""

    def __init__(
        self,
        connection: Connection,
        name: str,
        settings: Settings,
        weights: TokenWeights | None,
        index_timeout_s: float,
    ) -> None:
        self._connection = connection
        self._client = connection.client
        self._name = name
        self._settings = settings
        self._weights = weights
        self._index_timeout_s = index_timeout_s
        self.unit_length = settings.metric == "cosine"
        """The server divides a vector by its length then."""

    def held(self) -> Held | None:
        """Return what the server holds under the name."""
        info = self._connection.found("say what it holds", partial(self._client.get_collection, self._name))
        if info is None:
            return None
        digest = (info.config.metadata or {}).get(STAMP)
        return Held(count=self.count(), digest=digest if isinstance(digest, str) else None)

    def create(self, dimension: int, digest: str) -> None:
        """Make the collection in one shard, without an index as long as it is filled."""
        create = partial(
            self._client.create_collection,
            self._name,
            vectors_config={
                DENSE: models.VectorParams(size=dimension, distance=models.Distance(METRICS[self._settings.metric]))
            },
            sparse_vectors_config=(
                {TOKENS: models.SparseVectorParams(modifier=models.Modifier.IDF)} if self._settings.fused else None
            ),
            shard_number=1,
            hnsw_config=None if self._settings.exact else self._graph(),
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0, default_segment_number=1),
            quantization_config=self._quantization(),
            metadata={STAMP: digest},
        )
        if self._connection.asked("make a collection", create) is not True:
            raise StackError(f"qdrant did not make the collection {self._name!r}", retryable=True)

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write points and wait until the server has applied them."""
        points = [self._point(at, row.tolist()) for at, row in enumerate(rows, first)]
        write = partial(self._client.upsert, self._name, points=points, wait=True)
        done = self._connection.asked("write points", write)
        if done.status != models.UpdateStatus.COMPLETED:
            raise StackError(f"qdrant did not finish writing points: it says {done.status.value!r}", retryable=True)

    def read(self, first: int, count: int) -> tuple[list[int], NDArray[np.float32]]:
        """Return the points that stand there; weights of tokens that are other ones are an error."""
        ids, names = list(range(first, first + count)), [DENSE, *([TOKENS] if self._weights else [])]
        read = partial(self._client.retrieve, self._name, ids=ids, with_payload=False, with_vectors=names)
        held = {one.id: one.vector or {} for one in self._connection.asked("read points", read)}
        places = sorted(at for at in held if isinstance(at, int))
        if self._weights is not None:
            for at in places:
                if not _same(self._weights.rows[at], held[at].get(TOKENS)):
                    raise StackError(
                        f"qdrant: the words of chunk {at + 1} in {self._name!r} were altered; remove it by hand"
                    )
        return places, np.array([held[at].get(DENSE, []) for at in places], np.float32)

    def finish(self) -> None:
        """Have everything indexed, and wait until it is and until no point is hidden from searches."""
        info = self._info()
        if not self._settings.exact and info.config.optimizer_config.indexing_threshold != INDEXED_FROM_KB:
            optimizers = models.OptimizersConfigDiff(indexing_threshold=INDEXED_FROM_KB)
            update = partial(self._client.update_collection, self._name, optimizers_config=optimizers)
            self._connection.asked("begin to index", update)
        deadline, pause = time.monotonic() + self._index_timeout_s, _PAUSE_S[0]
        while not self._ready(info := self._info()):
            if time.monotonic() > deadline:
                raise StackError(
                    f"qdrant has indexed {info.indexed_vectors_count or 0} of {info.points_count or 0} points after "
                    f"{self._index_timeout_s} s and is {info.status.value}; ask again, or raise index_timeout_s",
                    retryable=True,
                )
            time.sleep(pause)
            pause = min(pause * 2, _PAUSE_S[1])

    def by_vector(self, vector: Sequence[float], limit: int) -> Ranked:
        """Return the nearest points, scored as the engine scores."""
        return self._search(query=list(vector), using=DENSE, search_params=self._params(), limit=limit)

    def by_tokens(self, tokens: Sparse, limit: int) -> Ranked:
        """Return the points that share a token."""
        return self._search(query=_sparse(tokens), using=TOKENS, limit=limit)

    def fused(self, vector: Sequence[float] | None, tokens: Sparse | None, limit: int) -> Ranked:
        """Return the server's own reciprocal rank fusion of the lists."""
        depth, lists = self._settings.depth, []
        if vector is not None:
            lists.append(models.Prefetch(query=list(vector), using=DENSE, limit=depth, params=self._params()))
        if tokens is not None:
            lists.append(models.Prefetch(query=_sparse(tokens), using=TOKENS, limit=depth))
        fusion: Any = models.FusionQuery(fusion=models.Fusion.RRF)
        if self._settings.rrf_k != _ENGINE_RRF_K:
            fusion = models.RrfQuery(rrf=models.Rrf(k=self._settings.rrf_k))
        return self._search(query=fusion, prefetch=lists, limit=limit)

    def count(self) -> int:
        """Return how many points the server counts, exactly."""
        count = partial(self._client.count, self._name, exact=True)
        return int(self._connection.asked("count its points", count).count)

    def close(self) -> None:
        """Close the connections; the collection stays."""
        self._connection.close()

    def _info(self) -> Any:
        return self._connection.asked("say whether it is indexed", partial(self._client.get_collection, self._name))

    def _ready(self, info: Any) -> bool:
        if info.status == models.CollectionStatus.RED:
            said = getattr(info.optimizer_status, "error", "no reason given")
            raise StackError(f"qdrant could not index the collection {self._name!r}: {str(said)[:200]}")
        hidden = info.update_queue.deferred_points if info.update_queue else 0
        if self._settings.exact or hidden:
            return not hidden
        rest = (info.points_count or 0) - (info.indexed_vectors_count or 0)
        rest_kb = rest * info.config.params.vectors[DENSE].size * _BYTES / 1024
        return bool(info.status == models.CollectionStatus.GREEN and rest_kb <= INDEXED_FROM_KB)

    def _search(self, **request: Any) -> Ranked:
        query = partial(self._client.query_points, self._name, with_payload=False, with_vectors=False, **request)
        found = self._connection.asked("search", query).points
        strange = [point.id for point in found if not isinstance(point.id, int)]
        if strange:
            raise StackError(f"qdrant returned the point {strange[0]!r}, which is none of this index's")
        return [(point.id, float(point.score)) for point in found]

    def _params(self) -> models.SearchParams:
        settings = self._settings
        if settings.exact:
            return models.SearchParams(exact=True)
        codes = models.QuantizationSearchParams(
            rescore=settings.rescore, oversampling=float(settings.oversampling) if settings.rescore else None
        )
        return models.SearchParams(hnsw_ef=settings.ef, quantization=codes if settings.quantized else None)

    def _graph(self) -> models.HnswConfigDiff:
        return models.HnswConfigDiff(
            m=self._settings.m,
            ef_construct=self._settings.ef_construct,
            full_scan_threshold=self._settings.full_scan_threshold_kb,
        )

    def _quantization(self) -> Any:
        kind = self._settings.quantization
        if kind == "int8":
            return models.ScalarQuantization(scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8))
        if kind == "binary":
            return models.BinaryQuantization(binary=models.BinaryQuantizationConfig())
        if kind == "product":
            rate = models.CompressionRatio(self._settings.compression)
            return models.ProductQuantization(product=models.ProductQuantizationConfig(compression=rate))
        return None

    def _point(self, at: int, vector: list[float]) -> models.PointStruct:
        held: Mapping[str, Any] = {DENSE: vector}
        if self._weights is not None and (row := self._weights.rows[at]) is not None:
            held = {DENSE: vector, TOKENS: _sparse(row)}
        return models.PointStruct(id=at, vector=dict(held))


def _same(wanted: Sparse | None, found: Any) -> bool:
    """Tell whether the server's weights, in 32 bits and in an order of its own, are those of the chunk."""
    there = dict(zip(found.indices, found.values, strict=True)) if found is not None else {}
    numbers, weights = wanted or ([], [])
    return sorted(there) == sorted(numbers) and all(
        abs(there[number] - weight) <= 1e-5 * abs(weight) for number, weight in zip(numbers, weights, strict=True)
    )


def _sparse(tokens: Sparse) -> models.SparseVector:
    return models.SparseVector(indices=tokens[0], values=tokens[1])
