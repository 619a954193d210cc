"""One graph of usearch: filled and saved to a file, or viewed in it and searched."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.exact import cosines
from ragassay.plugins.stacks.matrix import as_int8, int8_scale, unit_rows
from ragassay.plugins.stacks.usearch.client import Index
from ragassay.plugins.stacks.usearch.nodes import Nodes
from ragassay.plugins.stacks.usearch.settings import Settings
from ragassay.records import JSON
from ragassay.seams import Progress

FILE = "graph.usearch"
_BLOCK = 2048


def write_graph(
    folder: Path, matrix: NDArray[np.float32], nodes: Nodes, settings: Settings, progress: Progress
) -> JSON:
    """Save the graph of unit rows in a folder, and return its facts: how many nodes, and what 1 stands for in int8."""
    scale = int8_scale(matrix) if settings.dtype == "i8" else None
    index = _empty(matrix.shape[1], settings)
    names = nodes.first.astype(np.uint64)
    for start in range(0, len(names), _BLOCK):
        block = names[start : start + _BLOCK]
        rows = matrix[block.astype(np.int64)]
        index.add(block, rows if scale is None else as_int8(rows, scale), threads=settings.threads)
        progress(start + len(block), len(names))
    index.save(str(folder / FILE))
    return {"nodes": len(names), "scale": None if scale is None else str(scale)}


class Graph:
    """A saved graph, mapped into memory, as an engine of `VectorIndex`; searches wait for each other."""

    def __init__(self, path: Path, matrix: NDArray[np.float32], nodes: Nodes, settings: Settings, facts: JSON) -> None:
        """Open the file, whose bytes were checked; raises `StackError` where it holds another number of nodes."""
        self.most = settings.expansion_search
        self._matrix = matrix if settings.rescore else None
        self._nodes = nodes
        self._scale = None if facts["scale"] is None else np.float32(facts["scale"])
        self._lock = threading.Lock()
        self._index: Any = _empty(matrix.shape[1], settings)
        self._index.view(str(path))
        self._index.expansion_search = settings.expansion_search
        if len(self._index) != len(nodes.first):
            raise StackError(f"usearch: {path} holds {len(self._index)} of {len(nodes.first)} different vectors")

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return at most `limit` of the `expansion_search` candidates, best first, equal scores by position."""
        query = unit_rows(np.asarray(vector, np.float32)[np.newaxis])[0]
        names, near = self._candidates(query)
        if self._matrix is None:
            positions, scores = self._spread(names, near)
        else:
            positions = self._nodes.positions(names)
            scores = cosines(self._matrix[positions], query)
        order = np.lexsort((positions, -scores))[:limit]
        return list(zip(positions[order].tolist(), scores[order].tolist(), strict=True))

    def count(self) -> int:
        """Return for how many chunks there is a node."""
        return len(self._nodes.first) + sum(len(one) - 1 for one in self._nodes.twins.values())

    def close(self) -> None:
        """Let go of the file, after a search that is under way."""
        with self._lock:
            if self._index is not None:
                self._index.reset()
            self._index = None
        self._matrix = None

    def _candidates(self, query: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the names of the nodes that the graph comes upon, and their cosines as it computes them."""
        asked = query if self._scale is None else as_int8(query[np.newaxis], self._scale)[0]
        with self._lock:
            if self._index is None:
                raise StackError("usearch was asked after it was closed")
            found = self._index.search(asked, min(self.most, len(self._nodes.first)), threads=1)
            return found.keys.astype(np.int64), np.float32(1) - found.distances.astype(np.float32)

    def _spread(
        self, names: NDArray[np.int64], near: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return every chunk that the nodes stand for, with the node's cosine."""
        each = [self._nodes.positions(names[at : at + 1]) for at in range(len(names))]
        return np.concatenate([*each, np.zeros(0, np.int64)]), np.repeat(near, [len(one) for one in each])


class NoGraph:
    """The engine of a corpus in which no vector has a direction: nothing is near."""

    most = 1_000_000_000

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return nothing."""
        return []

    def count(self) -> int:
        """Return 0."""
        return 0

    def close(self) -> None:
        """Release nothing."""


def _empty(dimension: int, settings: Settings) -> Any:
    """Return a graph without nodes: of unit rows the dot product is the cosine, and rounded to int8 it is not."""
    return Index(
        ndim=dimension,
        metric="cos" if settings.dtype == "i8" else "ip",
        dtype=settings.dtype,
        connectivity=settings.connectivity,
        expansion_add=settings.expansion_add,
        enable_key_lookups=False,
    )
