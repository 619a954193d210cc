"""Qdrant, the engine itself, embedded in this process (qdrant-edge): exact or HNSW search over any embedder."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import qdrant_edge
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.vector_index import VectorIndex, points, raised_as_stack_error
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk
from ragassay.seams import Progress

METRICS = {"cosine": "Cosine", "dot": "Dot", "euclid": "Euclid"}
_BLOCK = 512


class Qdrant:
    """Takes `metric`, `exact`, for HNSW `m`, `ef_construct`, `ef`, `full_scan_threshold_kb`, and part `embedder`."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}

    def __init__(self, **params: Any) -> None:
        read = Parameters("qdrant", params)
        self._metric = read.choice("metric", "cosine", tuple(METRICS))
        self._exact = read.flag("exact", True)
        self._m = read.integer("m", 16, low=4, high=512)
        self._ef_construct = read.integer("ef_construct", 100, low=4, high=100_000)
        self._ef = read.integer("ef", 128, low=1, high=100_000)
        self._full_scan_kb = read.integer("full_scan_threshold_kb", 10_000, low=1, high=1_000_000_000)
        read.finish()

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and index them in a temporary folder; raises `StackError` for an engine error."""
        embedder = embedder_of("qdrant", parts)
        matrix = embed_chunks(embedder, chunks, progress)
        hnsw = None if self._exact else self._hnsw()
        engine = None
        if chunks:
            with raised_as_stack_error("qdrant", f"index {len(chunks)} chunks"):
                engine = EdgeShard(matrix, self._metric, hnsw)
        return VectorIndex(
            "qdrant",
            [chunk.id for chunk in chunks],
            embedder,
            engine,
            dimension=matrix.shape[1],
            zero_is_far=self._metric != "euclid",
            about=described(
                "qdrant",
                embedder,
                truncated(embedder, chunks),
                metric=self._metric,
                exact=self._exact,
                **({} if hnsw is None else {"hnsw": hnsw}),
                qdrant_edge_py=version("qdrant-edge-py"),
            ),
        )

    def _hnsw(self) -> JSON:
        return {
            "m": self._m,
            "ef_construct": self._ef_construct,
            "ef": self._ef,
            "full_scan_threshold_kb": self._full_scan_kb,
        }


class EdgeShard:
    """One shard in a temporary folder, gone after `close`; a Euclidean distance is returned negated."""

    most = 1_000_000_000

    def __init__(self, matrix: NDArray[np.float32], metric: str, hnsw: JSON | None) -> None:
        self._hnsw = hnsw
        self._sign = -1 if metric == "euclid" else 1
        self._folder = tempfile.TemporaryDirectory(prefix="ragassay-qdrant-")
        try:
            self._shard = qdrant_edge.EdgeShard.create(
                str(Path(self._folder.name) / "shard"), _config(matrix.shape[1], metric, hnsw)
            )
            self._fill(matrix)
        except BaseException:
            self._folder.cleanup()
            raise

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return the `limit` nearest positions, best first."""
        params = qdrant_edge.SearchParams(
            exact=self._hnsw is None, hnsw_ef=None if self._hnsw is None else self._hnsw["ef"]
        )
        request = qdrant_edge.SearchRequest(qdrant_edge.Query.Nearest(list(vector)), limit, params=params)
        return [(int(str(point.id)), self._sign * point.score) for point in self._shard.search(request)]

    def count(self) -> int:
        """Return how many points the engine holds."""
        return int(self._shard.info().points_count)

    def close(self) -> None:
        """Close the shard and remove its folder."""
        self._shard.close()
        self._folder.cleanup()

    def _fill(self, matrix: NDArray[np.float32]) -> None:
        for first, rows in points(matrix, _BLOCK):
            block = [qdrant_edge.Point(at, row.tolist()) for at, row in enumerate(rows, first)]
            self._shard.update(qdrant_edge.UpdateOperation.upsert_points(block))
        if self._hnsw is not None:
            self._shard.optimize()
        if (stored := self.count()) != len(matrix):
            raise StackError(f"qdrant holds {stored} of {len(matrix)} chunks after indexing")


def _config(dimension: int, metric: str, hnsw: JSON | None) -> qdrant_edge.EdgeConfig:
    graph = hnsw or {"m": 16, "ef_construct": 100, "full_scan_threshold_kb": 10_000}
    return qdrant_edge.EdgeConfig(
        vectors=qdrant_edge.EdgeVectorParams(dimension, getattr(qdrant_edge.Distance, METRICS[metric])),
        hnsw_config=qdrant_edge.HnswIndexConfig(
            graph["m"], graph["ef_construct"], graph["full_scan_threshold_kb"], max_indexing_threads=1
        ),
        # Everything is indexed in one segment: an unindexed remainder would be searched exactly and hide HNSW.
        optimizers=qdrant_edge.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1),
        wal_enabled=False,
    )
