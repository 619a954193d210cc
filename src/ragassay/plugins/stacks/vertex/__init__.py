"""Vertex AI Vector Search: collections at Google, asked by vector, by meaning, by words, or by several at once.

The service's surface `v1beta` is Pre-GA, and this has been tested against its wire form alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import InputError
from ragassay.plugins.stacks.stored_index import bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex
from ragassay.plugins.stacks.vectors import embed_chunks, embedder_of, truncated
from ragassay.plugins.stacks.vertex.client import Service
from ragassay.plugins.stacks.vertex.search import MOST_WORDS, VertexEngine
from ragassay.plugins.stacks.vertex.settings import Settings
from ragassay.plugins.stacks.vertex.store import PREFIX, CollectionStore
from ragassay.records import JSON, Chunk, Secret
from ragassay.seams import Embedder, Progress


class Vertex:
    """Takes `project`, `location`, `mode` and how that mode asks; part `embedder` where it asks by our vectors.

    `key` comes from the runner: an access token in the variable that `key_env` names. Without one, the application
    default credentials are used; a server on this machine is asked without any.
    """

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    wire_form_only: ClassVar[bool] = True
    removal: ClassVar[str] = (
        'curl -X DELETE -H "Authorization: Bearer $(gcloud auth print-access-token)" '
        "'https://vectorsearch.googleapis.com/v1beta/projects/{project}/locations/{location}/collections/{name}?force=true'"
    )

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        self._settings = Settings.read(params)
        self._key = key

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Bring the collection up to hold the chunks, find out what its distances mean, and return the retriever."""
        embedder = self._embedder(parts)
        matrix = (
            np.zeros((len(chunks), 0), np.float32) if embedder is None else embed_chunks(embedder, chunks, progress)
        )
        engine, stored = self._engine(chunks, embedder, matrix, progress) if chunks else (None, None)
        return VectorIndex(
            "vertex",
            [chunk.id for chunk in chunks],
            embedder,
            engine,
            dimension=matrix.shape[1],
            zero_is_far=self._settings.mode == "vector",
            about=self._about(chunks, embedder, "distance" if engine is None else engine.how),
            stored=stored,
            left_out=frozenset() if self._settings.asking.filter is None else None,
        )

    @classmethod
    def unsearched(cls, entry: JSON, _chunks: Sequence[Chunk]) -> frozenset[str] | None:
        """Say that every chunk is searched; None with a filter, which the service alone reads."""
        return None if entry.get("filter") else frozenset()

    def _embedder(self, parts: Mapping[str, Any]) -> Embedder | None:
        if self._settings.shape.vector:
            return embedder_of("vertex", parts)
        if "embedder" in parts:
            raise InputError(f"'vertex' has no use for an embedder: mode = {self._settings.mode!r} does not ask by it")
        return None

    def _engine(
        self, chunks: Sequence[Chunk], embedder: Embedder | None, matrix: NDArray[np.float32], progress: Progress
    ) -> tuple[VertexEngine, Stored]:
        settings = self._settings
        digest = digest_of(chunks, embedder, settings.shape.settings())
        name = settings.collection or f"{PREFIX}{digest}"
        service = Service(settings.place, self._key)
        try:
            store = CollectionStore(service, name, settings.shape, settings.asking, chunks)
            reused = bring_up("vertex", name, store, matrix, digest, progress, block=settings.batch)
            engine = VertexEngine(service, store.path, settings.asking, len(chunks))
            engine.settle(chunks, matrix)
            return engine, Stored(name=name, reused=reused, others=store.others())
        except BaseException:
            service.close()
            raise

    def _about(self, chunks: Sequence[Chunk], embedder: Embedder | None, score: str) -> JSON:
        shape, asking = self._settings.shape, self._settings.asking
        about: JSON = {"kind": "vertex", "mode": self._settings.mode, **asking.described(), "score": score}
        if shape.semantic:
            about["semantic"] = {**shape.embedding(), "query_task": asking.query_task}
        if about.get("text_match") == "any":
            about["most_words"] = MOST_WORDS
        if embedder is not None:
            about |= {"truncated_chunks": truncated(embedder, chunks), "embedder": embedder.describe()}
        return {
            **about,
            "location": self._settings.place.location,
            "api": "v1beta",
            "maturity": "preview",
            "google_cloud_vectorsearch": version("google-cloud-vectorsearch"),
        }
