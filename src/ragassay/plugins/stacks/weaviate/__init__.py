"""Weaviate: a collection on a server, by its own client; vectors (flat or HNSW), BM25, or both fused by the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, ClassVar

from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.stored_index import bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.plugins.stacks.weaviate.client import WeaviateConnection, client_version
from ragassay.plugins.stacks.weaviate.search import WeaviateEngine
from ragassay.plugins.stacks.weaviate.settings import read_settings
from ragassay.plugins.stacks.weaviate.store import CAPITAL_PREFIX, WeaviateStore
from ragassay.records import JSON, Chunk, Secret
from ragassay.seams import Embedder, Progress

MAX_BLOCK_NUMBERS = 1_000_000
"""The most numbers in one batch: 4 MB of vectors, well below the 10 MB that a server takes at least."""


class Weaviate:
    """Takes where and how: see `weaviate_settings`; `key` comes from the runner, the part is `embedder`."""

    owns_corpus: ClassVar[bool] = False
    wire_form_only: ClassVar[bool] = True
    """Tested with its client against a local server made from the client's messages, not yet against the service."""
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}
    removal: ClassVar[str] = "curl -X DELETE {url}/v1/schema/{name}"
    """What a person types to remove a collection of that name; with a key, its header besides."""

    @classmethod
    def parts_for(cls, entry: JSON) -> Mapping[str, JSON]:
        """Return no embedder for BM25 alone, which needs none."""
        return {} if entry.get("search") == "text" else cls.default_parts

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        read = Parameters("weaviate", params)
        self._settings = read_settings(read)
        read.finish()
        self._key = key

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and fill a collection with them, or find it there whole; raises `StackError`."""
        settings = self._settings
        embedder = embedder_of("weaviate", parts) if settings.vectors else None
        matrix = embed_chunks(embedder, chunks, progress)
        digest = digest_of(chunks, embedder, settings.shape())
        name = settings.collection or CAPITAL_PREFIX + digest
        connection = WeaviateConnection(settings, self._key)
        engine = stored = None
        with ExitStack() as unless_built:
            unless_built.callback(connection.close)
            server = connection.open()
            if chunks:
                store = WeaviateStore(connection, name, digest, settings, [chunk.text for chunk in chunks])
                block = max(1, min(settings.block, MAX_BLOCK_NUMBERS // matrix.shape[1]))
                reused = bring_up("weaviate", name, store, matrix, digest, progress, block=block)
                stored = Stored(name=name, reused=reused, others=store.others())
                engine = WeaviateEngine(connection, store, settings, len(chunks))
            if engine is not None:
                unless_built.pop_all()
        return VectorIndex(
            "weaviate",
            [chunk.id for chunk in chunks],
            embedder,
            engine,
            dimension=matrix.shape[1],
            zero_is_far=settings.search == "vector" and settings.metric != "l2-squared",
            about=self._about(embedder, chunks, server),
            stored=stored,
        )

    def _about(self, embedder: Embedder | None, chunks: Sequence[Chunk], server: str) -> JSON:
        more = {**self._settings.described(), "server": server, "weaviate_client": client_version()}
        return described("weaviate", embedder, truncated(embedder, chunks), **more)
