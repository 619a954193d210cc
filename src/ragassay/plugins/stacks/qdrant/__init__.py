"""Qdrant: its engine in this process (qdrant-edge), or with `url` a server; exact, HNSW, quantised, fused."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import PluginError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.qdrant.address import SMALLEST_FULL_SCAN_KB, read_address
from ragassay.plugins.stacks.qdrant.embedded import EdgeShard
from ragassay.plugins.stacks.qdrant.engine import Engine
from ragassay.plugins.stacks.qdrant.settings import read_settings
from ragassay.plugins.stacks.qdrant.tokens import TokenWeights
from ragassay.plugins.stacks.vector_index import VectorIndex, raised_as_stack_error
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk, Secret
from ragassay.seams import Embedder, Progress

_SERVER = "ragassay.plugins.stacks.qdrant.server"
"""Imported by name, where `url` is given: without it no client is needed, and none is named as needed."""


class Qdrant:
    """Takes `metric`, `exact`, those of HNSW, quantisation and fusion, the part `embedder`, and for a server `url`.

    `key` comes from the runner: the secret in the variable that `key_env` names.
    """

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}
    removal: ClassVar[str] = "curl -X DELETE {url}/collections/{name}"
    """What a person types to remove a collection of that name; with a key, its header besides."""
    wire_form_only: ClassVar[str] = "url"
    """With this parameter it has been tested against the wire form alone, not against the service."""

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        read = Parameters("qdrant", params)
        self._settings = read_settings(read)
        self._address = read_address(read, key)
        read.note(*self._settings.problems(SMALLEST_FULL_SCAN_KB if self._address else 1))
        read.finish()
        if self._address is not None and find_spec("qdrant_client") is None:
            raise PluginError("'qdrant' needs its client to reach a server: pip install 'ragassay[qdrant]'")

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and index them, in a temporary folder or on the server; raises `StackError`."""
        embedder = embedder_of("qdrant", parts)
        matrix = embed_chunks(embedder, chunks, progress)
        weights = None
        if self._settings.fused:
            k1, b = float(self._settings.k1), float(self._settings.b)
            weights = TokenWeights([chunk.text for chunk in chunks], k1, b)
        if self._address is None:
            return self._embedded(chunks, embedder, matrix, weights)
        server = importlib.import_module(_SERVER)
        built: VectorIndex = server.build(self._address, self._settings, chunks, embedder, matrix, weights, progress)
        return built

    def _embedded(
        self, chunks: Sequence[Chunk], embedder: Embedder, matrix: NDArray[np.float32], weights: TokenWeights | None
    ) -> VectorIndex:
        engine = None
        if chunks:
            with raised_as_stack_error("qdrant", f"index {len(chunks)} chunks"):
                engine = Engine(EdgeShard(matrix, self._settings, weights), self._settings, weights, len(chunks))
        return VectorIndex(
            "qdrant",
            [chunk.id for chunk in chunks],
            embedder,
            engine,
            dimension=matrix.shape[1],
            zero_is_far=self._settings.zero_is_far,
            about=described(
                "qdrant",
                embedder,
                truncated(embedder, chunks),
                **self._settings.described(),
                qdrant_edge_py=version("qdrant-edge-py"),
            ),
        )
