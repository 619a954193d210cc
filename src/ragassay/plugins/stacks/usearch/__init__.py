"""usearch, embedded in this process: an approximate search of a graph (HNSW) that lies on disk and is mapped."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay import canon
from ragassay.plugins.stacks.kept_folder import kept_folder
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.usearch.graph import FILE, Graph, NoGraph, write_graph
from ragassay.plugins.stacks.usearch.nodes import Nodes, nodes_of
from ragassay.plugins.stacks.usearch.recall import Recall, measured
from ragassay.plugins.stacks.usearch.recall_file import kept_recall
from ragassay.plugins.stacks.usearch.settings import Settings, read_settings
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex, raised_as_stack_error
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk
from ragassay.seams import Progress


class USearch:
    """Takes `connectivity`, `expansion_add`, `expansion_search`, `dtype`, `rescore`, `threads`, and part `embedder`."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}
    needs_cache: ClassVar[bool] = True
    """The graph stays in the workspace's cache."""
    removal: ClassVar[str] = "rm -r .ragassay/cache/indexes/usearch/{name}"
    """What a person types to remove a graph of that name."""

    def __init__(self, **params: Any) -> None:
        self._settings = read_settings(Parameters("usearch", params))

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks, find their graph in the cache or build it, and measure its recall; raises `StackError`."""
        embedder = embedder_of("usearch", parts)
        matrix = embed_chunks(embedder, chunks, progress, unit=True)
        nodes = nodes_of(matrix)
        opened = None
        if len(nodes.first):
            opened = _opened(parts.get("cache"), matrix, nodes, self._settings, progress)
        return VectorIndex(
            "usearch",
            [chunk.id for chunk in chunks],
            embedder,
            NoGraph() if opened is None else opened.engine,
            dimension=matrix.shape[1],
            zero_is_far=True,
            about=described("usearch", embedder, truncated(embedder, chunks), **_about(self._settings, opened)),
            stored=None if opened is None else opened.stored,
            left_out=frozenset(chunks[at].id for at in nodes.zero.tolist()),
        )


class _Opened(NamedTuple):
    """A graph that can be searched, and what is to be said of it; `stored` is None where it is gone afterwards."""

    engine: Graph
    facts: JSON
    recall: Recall
    stored: Stored | None


def _opened(
    cache: Path | None, matrix: NDArray[np.float32], nodes: Nodes, settings: Settings, progress: Progress
) -> _Opened:
    """Return the graph of these vectors, found or built in the cache, or in a temporary folder without one."""
    digest = canon.digest({"stack": "usearch", "vectors": nodes.digest, **settings.shape()})[:32]
    with contextlib.ExitStack() as until_mapped:
        place = cache or Path(until_mapped.enter_context(tempfile.TemporaryDirectory(prefix="ragassay-usearch-")))
        kept = kept_folder(
            "usearch", place, digest, lambda folder: write_graph(folder, matrix, nodes, settings, progress)
        )
        with raised_as_stack_error("usearch", "open its graph"):
            engine = Graph(kept.path / FILE, matrix, nodes, settings, kept.about.facts)
            key = canon.digest({"files": kept.about.files, "vectors": nodes.digest, **settings.searched()})
            recall = kept_recall(place, key, lambda: measured(engine, matrix, nodes.first))
    return _Opened(engine, kept.about.facts, recall, None if cache is None else kept.stored)


def _about(settings: Settings, opened: _Opened | None) -> JSON:
    """Return what is recorded; the scale with int8 alone."""
    facts = {"nodes": 0, "scale": None} if opened is None else opened.facts
    recall = Recall(queries=0, wanted=0, found=0) if opened is None else opened.recall
    scale = {} if facts["scale"] is None else {"scale": facts["scale"]}
    return {
        "metric": "cosine",
        **settings.shape(),
        **scale,
        **settings.searched(),
        "nodes": facts["nodes"],
        "recall": recall.described(),
    }
