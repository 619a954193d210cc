"""An index on a Qdrant server, over REST or gRPC (`qdrant-client`)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from ragassay.plugins.stacks.qdrant.address import Address
from ragassay.plugins.stacks.qdrant.collection import Collection
from ragassay.plugins.stacks.qdrant.connection import Connection
from ragassay.plugins.stacks.qdrant.engine import Engine
from ragassay.plugins.stacks.qdrant.settings import Settings
from ragassay.plugins.stacks.qdrant.tokens import TokenWeights
from ragassay.plugins.stacks.stored_index import PREFIX, bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex
from ragassay.plugins.stacks.vectors import described, truncated
from ragassay.records import Chunk
from ragassay.seams import Embedder, Progress

_BLOCK = 128
"""Points per request: 128 vectors of 4,096 numbers are 2 MB over gRPC."""


def build(
    address: Address,
    settings: Settings,
    chunks: Sequence[Chunk],
    embedder: Embedder,
    matrix: NDArray[np.float32],
    weights: TokenWeights | None,
    progress: Progress,
) -> VectorIndex:
    """Make the collection hold the chunks, and return the retriever over it; raises `StackError`."""
    digest = digest_of(chunks, embedder, settings.shape())
    name = address.collection or PREFIX + digest
    connection = Connection(address)
    engine, stored = None, None
    with ExitStack() as unless_built:
        unless_built.callback(connection.close)
        server = connection.server_version()
        if chunks:
            collection = Collection(connection, name, settings, weights, address.index_timeout_s)
            reused = bring_up("qdrant", name, collection, matrix, digest, progress, block=_BLOCK)
            others = (one for one in connection.collections() if one.startswith(PREFIX) and one != name)
            stored = Stored(name=name, reused=reused, others=tuple(sorted(others)))
            engine = Engine(collection, settings, weights, len(chunks))
        if engine is not None:
            unless_built.pop_all()
    return VectorIndex(
        "qdrant",
        [chunk.id for chunk in chunks],
        embedder,
        engine,
        dimension=matrix.shape[1],
        zero_is_far=settings.zero_is_far,
        about=described(
            "qdrant",
            embedder,
            truncated(embedder, chunks),
            **settings.described(),
            server={"version": server, "transport": address.transport},
            qdrant_client=version("qdrant-client"),
        ),
        stored=stored,
    )
