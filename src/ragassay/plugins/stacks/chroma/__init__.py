"""Chroma: its engine in this process, or with `url` a server; every question checked to be exact, or plain HNSW."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any, ClassVar

from ragassay.plugins.stacks.chroma.collection import Collection
from ragassay.plugins.stacks.chroma.connection import Connection
from ragassay.plugins.stacks.chroma.search import ExactSearch, GraphSearch, distinct_rows
from ragassay.plugins.stacks.chroma.settings import read_address, read_settings
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.stored_index import PREFIX, bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk, Secret
from ragassay.seams import Progress


class Chroma:
    """Takes `metric`, `exact`, those of HNSW, the part `embedder`, and for a server `url` and what reaches it.

    `key` comes from the runner: the secret in the variable that `key_env` names.
    """

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}
    removal: ClassVar[str] = (
        "curl -X DELETE {url}/api/v2/tenants/default_tenant/databases/default_database/collections/{name}"
    )
    """What a person types to remove a collection of that name; another tenant or database in their places."""

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        read = Parameters("chroma", params)
        self._settings = read_settings(read)
        self._address = read_address(read, key)
        read.finish()

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and index them, in memory or on the server; raises `StackError`."""
        embedder = embedder_of("chroma", parts)
        matrix = embed_chunks(embedder, chunks, progress)
        digest = digest_of(chunks, embedder, self._settings.shape())
        name = self._address.collection or PREFIX + digest
        connection = Connection(self._address)
        engine: ExactSearch | GraphSearch | None = None
        stored = None
        with ExitStack() as unless_built:
            unless_built.callback(connection.close)
            server = connection.server_version()
            if chunks:
                rows, places = distinct_rows(matrix) if self._settings.exact else (matrix, [])
                collection = Collection(connection, name, self._settings)
                reused = bring_up("chroma", name, collection, rows, digest, progress, block=self._settings.batch)
                if self._address.url:
                    stored = Stored(name=name, reused=reused, others=connection.others(name))
                if self._settings.exact:
                    engine = ExactSearch(collection, self._settings.metric, places)
                    engine.prove(rows[0])
                else:
                    engine = GraphSearch(collection, self._settings.metric, len(chunks), self._settings.ef_search)
            if engine is not None:
                unless_built.pop_all()
        return VectorIndex(
            "chroma",
            [chunk.id for chunk in chunks],
            embedder,
            engine,
            dimension=matrix.shape[1],
            zero_is_far=self._settings.metric != "l2",
            about=described(
                "chroma",
                embedder,
                truncated(embedder, chunks),
                **self._settings.described(),
                **({"server": server} if self._address.url else {}),
                chromadb=version("chromadb"),
            ),
            stored=stored,
        )
