"""Qdrant's engine in this process (qdrant-edge): one shard in a temporary folder."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.qdrant.engine import Ranked
from ragassay.plugins.stacks.qdrant.settings import METRICS, Settings
from ragassay.plugins.stacks.qdrant.tokens import Sparse, TokenWeights
from ragassay.plugins.stacks.vector_index import points

DENSE, TOKENS = "dense", "tokens"
_BLOCK = 512


class EdgeShard:
    """The points of one index, gone after `close`."""

    def __init__(self, matrix: NDArray[np.float32], settings: Settings, weights: TokenWeights | None) -> None:
        self._settings = settings
        self._folder = tempfile.TemporaryDirectory(prefix="ragassay-qdrant-")
        try:
            config = shard_config(matrix.shape[1], settings)
            self._shard = qdrant_edge.EdgeShard.create(str(Path(self._folder.name) / "shard"), config)
            self._fill(matrix, weights)
        except BaseException:
            self._folder.cleanup()
            raise

    def by_vector(self, vector: Sequence[float], limit: int) -> Ranked:
        """Return the nearest points, scored as the engine scores."""
        return self._asked(limit, query=_nearest(vector), params=self._params())

    def by_tokens(self, tokens: Sparse, limit: int) -> Ranked:
        """Return the points that share a token."""
        return self._asked(limit, query=_sharing(tokens))

    def fused(self, vector: Sequence[float] | None, tokens: Sparse | None, limit: int) -> Ranked:
        """Return the engine's own reciprocal rank fusion of the lists."""
        depth, lists = self._settings.depth, []
        if vector is not None:
            lists.append(qdrant_edge.Prefetch(depth, query=_nearest(vector), params=self._params()))
        if tokens is not None:
            lists.append(qdrant_edge.Prefetch(depth, query=_sharing(tokens)))
        return self._asked(limit, query=qdrant_edge.Fusion.Rrf(k=self._settings.rrf_k), prefetches=lists)

    def count(self) -> int:
        """Return how many points the engine holds."""
        return int(self._shard.info().points_count)

    def close(self) -> None:
        """Close the shard and remove its folder."""
        self._shard.close()
        self._folder.cleanup()

    def _asked(self, limit: int, **request: Any) -> Ranked:
        found = self._shard.query(qdrant_edge.QueryRequest(limit, **request))
        return [(int(str(point.id)), float(point.score)) for point in found]

    def _params(self) -> Any:
        settings = self._settings
        if settings.exact:
            return qdrant_edge.SearchParams(exact=True)
        codes = qdrant_edge.QuantizationSearchParams(
            rescore=settings.rescore, oversampling=float(settings.oversampling) if settings.rescore else None
        )
        return qdrant_edge.SearchParams(hnsw_ef=settings.ef, quantization=codes if settings.quantized else None)

    def _fill(self, matrix: NDArray[np.float32], weights: TokenWeights | None) -> None:
        for first, rows in points(matrix, _BLOCK):
            block = [_point(at, row.tolist(), weights) for at, row in enumerate(rows, first)]
            self._shard.update(qdrant_edge.UpdateOperation.upsert_points(block))
        if not self._settings.exact:
            self._shard.optimize()
        if (stored := self.count()) != len(matrix):
            raise StackError(f"qdrant holds {stored} of {len(matrix)} chunks after indexing")


def shard_config(dimension: int, settings: Settings) -> Any:
    """Return the engine's configuration of an index."""
    return qdrant_edge.EdgeConfig(
        vectors={
            DENSE: qdrant_edge.EdgeVectorParams(dimension, getattr(qdrant_edge.Distance, METRICS[settings.metric]))
        },
        sparse_vectors=(
            {TOKENS: qdrant_edge.EdgeSparseVectorParams(modifier=qdrant_edge.Modifier.Idf)} if settings.fused else None
        ),
        hnsw_config=qdrant_edge.HnswIndexConfig(
            settings.m, settings.ef_construct, settings.full_scan_threshold_kb, max_indexing_threads=1
        ),
        quantization_config=_quantization(settings),
        # Everything is indexed in one segment: an unindexed remainder would be searched exactly and hide HNSW.
        optimizers=qdrant_edge.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1),
        wal_enabled=False,
    )


def _quantization(settings: Settings) -> Any:
    if settings.quantization == "int8":
        return qdrant_edge.ScalarQuantizationConfig(qdrant_edge.ScalarType.Int8)
    if settings.quantization == "binary":
        return qdrant_edge.BinaryQuantizationConfig()
    if settings.by_product:
        return qdrant_edge.ProductQuantizationConfig(
            getattr(qdrant_edge.CompressionRatio, settings.compression.upper())
        )
    return None


def _point(at: int, vector: list[float], weights: TokenWeights | None) -> Any:
    held: dict[str, Any] = {DENSE: vector}
    if weights is not None and (row := weights.rows[at]) is not None:
        held[TOKENS] = qdrant_edge.SparseVector(*row)
    return qdrant_edge.Point(at, held)


def _nearest(vector: Sequence[float]) -> Any:
    return qdrant_edge.Query.Nearest(list(vector), DENSE)


def _sharing(tokens: Sparse) -> Any:
    return qdrant_edge.Query.Nearest(qdrant_edge.SparseVector(*tokens), TOKENS)
