"""Qdrant, the engine itself, embedded in this process (qdrant-edge): exact or HNSW search over any embedder."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import qdrant_edge
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.ranking import shortest
from ragassay.plugins.stacks.vectors import described, embed_chunks, embed_query, embedder_of, release, truncated
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Embedder, Progress

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

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> QdrantIndex:
        """Embed all chunks and index them in a temporary folder; raises `StackError` for an engine error."""
        embedder = embedder_of("qdrant", parts)
        matrix = embed_chunks(embedder, chunks, progress)
        graph = {} if self._exact else {"hnsw": self._hnsw()}
        about = described(
            "qdrant",
            embedder,
            truncated(embedder, chunks),
            metric=self._metric,
            exact=self._exact,
            **graph,
            qdrant_edge_py=version("qdrant-edge-py"),
        )
        index = QdrantIndex([chunk.id for chunk in chunks], embedder, about)
        try:
            index.fill(matrix)
        except BaseException:
            index.close()
            raise
        return index

    def _hnsw(self) -> JSON:
        return {
            "m": self._m,
            "ef_construct": self._ef_construct,
            "ef": self._ef,
            "full_scan_threshold_kb": self._full_scan_kb,
        }


class QdrantIndex:
    """One shard in a temporary folder, gone after `close`."""

    def __init__(self, ids: Sequence[str], embedder: Embedder, about: JSON) -> None:
        self._ids = list(ids)
        self._embedder = embedder
        self._described = about
        self._folder = tempfile.TemporaryDirectory(prefix="ragassay-qdrant-")
        self._shard: qdrant_edge.EdgeShard | None = None
        self._dimension = 0
        self._lock = threading.Lock()

    def fill(self, matrix: NDArray[np.float32]) -> None:
        """Index one vector per id; nothing to do for an empty corpus."""
        if not self._ids:
            return
        self._dimension = matrix.shape[1]
        try:
            self._shard = qdrant_edge.EdgeShard.create(str(Path(self._folder.name) / "shard"), self._config())
            for start in range(0, len(matrix), _BLOCK):
                block = enumerate(matrix[start : start + _BLOCK], start)
                points = [qdrant_edge.Point(at, row.tolist()) for at, row in block]
                self._shard.update(qdrant_edge.UpdateOperation.upsert_points(points))
            if "hnsw" in self._described:
                self._shard.optimize()
            stored = self.count()
        except Exception as error:  # the engine raises plain Exception
            raise StackError(f"qdrant could not index {len(self._ids)} chunks: {error}") from error
        if stored != len(self._ids):
            raise StackError(f"qdrant holds {stored} of {len(self._ids)} chunks after indexing")

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k chunks, best first, equal scores in chunk order.

        A higher score is better for every metric: a Euclidean distance is returned negated. A question whose
        vector is zero is near nothing under cosine and dot: an empty list.
        """
        if not self._ids or k < 1:
            return []
        query = embed_query(self._embedder, text, self._dimension)
        if not query.any() and self._described["metric"] != "euclid":
            return []
        ranked = self._nearest(query.tolist(), min(k, len(self._ids)))
        sign = -1 if self._described["metric"] == "euclid" else 1
        return [Hit(chunk=self._ids[at], score=sign * shortest(np.float32(score)) + 0.0) for at, score in ranked[:k]]

    def count(self) -> int:
        """Return how many points the engine holds; none for an empty corpus. Raises `StackError` after `close`."""
        if self._shard is None:
            if self._ids:
                raise StackError("qdrant was asked after it was closed")
            return 0
        try:
            return int(self._shard.info().points_count)
        except Exception as error:  # the engine raises plain Exception
            raise StackError(f"qdrant could not count its points: {error}") from error

    def describe(self) -> JSON:
        """Return metric, exact or HNSW parameters, truncated chunks, the embedder and the engine's version."""
        return dict(self._described)

    def close(self) -> None:
        """Close the shard, remove its folder, and close the embedder."""
        with self._lock:
            shard, self._shard = self._shard, None
            if shard is not None:
                shard.close()
            self._folder.cleanup()
        release(self._embedder)

    def _nearest(self, query: list[float], k: int) -> list[tuple[int, float]]:
        """Return (position, score) best first; asks for more until no tie is cut, since the engine cuts ties anyhow."""
        limit = k
        while True:
            limit = min(limit * 2 + 8, len(self._ids))
            found = self._ask(query, limit)
            if len(found) < limit or limit == len(self._ids) or found[-1][1] != found[k - 1][1]:
                best_first = 1 if self._described["metric"] == "euclid" else -1
                return sorted(found, key=lambda one: (best_first * one[1], one[0]))

    def _ask(self, query: list[float], limit: int) -> list[tuple[int, float]]:
        shard = self._shard
        if shard is None:
            raise StackError("qdrant was asked after it was closed")
        hnsw = self._described.get("hnsw")
        params = qdrant_edge.SearchParams(exact=hnsw is None, hnsw_ef=None if hnsw is None else hnsw["ef"])
        try:
            nearest = qdrant_edge.Query.Nearest(query)
            points = shard.search(qdrant_edge.SearchRequest(nearest, limit, params=params))
            return [(int(str(point.id)), point.score) for point in points]
        except Exception as error:  # the engine raises plain Exception
            raise StackError(f"qdrant could not search: {error}") from error

    def _config(self) -> qdrant_edge.EdgeConfig:
        hnsw = self._described.get("hnsw") or {"m": 16, "ef_construct": 100, "full_scan_threshold_kb": 10_000}
        metric = getattr(qdrant_edge.Distance, METRICS[self._described["metric"]])
        return qdrant_edge.EdgeConfig(
            vectors=qdrant_edge.EdgeVectorParams(self._dimension, metric),
            hnsw_config=qdrant_edge.HnswIndexConfig(
                hnsw["m"], hnsw["ef_construct"], hnsw["full_scan_threshold_kb"], max_indexing_threads=1
            ),
            # Everything is indexed in one segment: an unindexed remainder would be searched exactly and hide HNSW.
            optimizers=qdrant_edge.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1),
            wal_enabled=False,
        )
