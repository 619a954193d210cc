"""Pinecone: a namespace of a serverless index, searched by dense vectors, or by those and token weights together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ragassay.errors import InputError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.pinecone.client import PineconeClient, client_version
from ragassay.plugins.stacks.pinecone.search import PineconeEngine, WeightedTokens
from ragassay.plugins.stacks.pinecone.settings import read_settings
from ragassay.plugins.stacks.pinecone.store import PineconeStore
from ragassay.plugins.stacks.stored_index import PREFIX, bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk, Secret
from ragassay.seams import Progress

MAX_DIMENSIONS = 20_000
MAX_REQUEST_NUMBERS = 70_000
"""The most numbers in one upsert: at 25 bytes each they stay below the 2 MB that the service takes."""


class Pinecone:
    """Takes `index`, `namespace`, `metric`, `sparse`, `alpha`, `k1`, `b`, `cloud`, `region`, `url`, and limits.

    `key` comes from the runner: the secret in the variable that `key_env` names. The part is `embedder`.
    """

    owns_corpus: ClassVar[bool] = False
    wire_form_only: ClassVar[bool] = True
    """Tested with its client against a local server made from the client's models, not yet against the service."""
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        read = Parameters("pinecone", params)
        self._settings = read_settings(read)
        read.finish()
        self._key = key

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and fill a namespace with them, or find it there whole; raises `StackError`."""
        embedder = embedder_of("pinecone", parts)
        if self._key is None:
            raise InputError("'pinecone' needs an API key: name the environment variable that holds it in key_env")
        settings = self._settings
        matrix = embed_chunks(embedder, chunks, progress)
        dimension = matrix.shape[1]
        if dimension > MAX_DIMENSIONS:
            raise InputError(
                f"Pinecone holds vectors of at most {MAX_DIMENSIONS} numbers, and the embedder gives {dimension}"
            )
        # The service refuses a vector of zeros: such a chunk is left out, and is never found.
        positions = [int(at) for at in np.flatnonzero(matrix.any(axis=1))]
        held = frozenset(positions)
        tokens = WeightedTokens([chunk.text for chunk in chunks], settings) if settings.sparse else None
        digest = digest_of(chunks, embedder, settings.shape())
        engine = stored = None
        place: JSON = {}
        if positions:
            index = settings.index or f"ragassay-{settings.metric}-{dimension}"
            namespace = settings.namespace or PREFIX + digest
            client = PineconeClient(settings.url, self._key, timeout_s=settings.timeout_s, wait_s=settings.wait_s)
            store = PineconeStore(
                client, index, namespace, settings, positions, tokens, digest=digest, dimension=dimension
            )
            name = f"{index}/{namespace}"
            try:
                block = max(1, min(settings.block, MAX_REQUEST_NUMBERS // store.numbers()))
                reused = bring_up("pinecone", name, store, matrix[positions], digest, progress, block=block)
                stored, place = Stored(name=name, reused=reused, others=store.others()), store.place()
            except BaseException:
                client.close()
                raise
            engine = PineconeEngine(client, index, namespace, settings, held, tokens)
        left_out = frozenset(chunk.id for at, chunk in enumerate(chunks) if at not in held)
        return VectorIndex(
            "pinecone",
            [chunk.id for chunk in chunks] if positions else [],
            embedder,
            engine,
            dimension=dimension,
            zero_is_far=settings.metric != "euclidean" and tokens is None,
            about=described(
                "pinecone",
                embedder,
                truncated(embedder, chunks),
                **settings.described(),
                **place,
                **({"zero_vectors_left_out": len(left_out)} if left_out else {}),
                approximate=True,
                pinecone=client_version(),
            ),
            stored=stored,
            left_out=left_out,
        )
