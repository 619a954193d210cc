"""Bringing up a row of Elasticsearch or OpenSearch: chunks embedded, an index found or filled, a retriever over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import msgspec

from ragassay.errors import InputError
from ragassay.plugins.stacks.elastic.client import ElasticClient
from ragassay.plugins.stacks.elastic.dialect import Dialect
from ragassay.plugins.stacks.elastic.search import ElasticEngine
from ragassay.plugins.stacks.elastic.settings import Address, Settings, Words, read_row
from ragassay.plugins.stacks.elastic.store import ElasticStore
from ragassay.plugins.stacks.stored_index import PREFIX, bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk, Secret
from ragassay.seams import Embedder, Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 128
"""Documents per request: 128 vectors of 4,096 numbers are some 11 MB, and a server takes 100 by default."""


class Connects(Protocol):
    """Makes the client of one service; asks nothing yet."""

    def __call__(self, address: Address) -> ElasticClient:
        """Return the client."""
        ...


class ElasticStack:
    """Takes where and how: see `settings`; `key` comes from the runner, the part is `embedder`."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}
    needs_folder: ClassVar[bool] = True
    """`ca_certs` is relative to the board."""
    wire_form_only: ClassVar[bool] = True
    """Tested with its client against a local server with the documented shapes, not yet against the service."""
    removal: ClassVar[str] = "curl -X DELETE {url}/{name}"
    """What a person types to remove an index of that name; with a key or a password, its header besides."""

    words: ClassVar[Words]
    dialect: ClassVar[Dialect]
    client: ClassVar[Connects]

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        self._settings, self._address = read_row(self.words, params, key)

    @classmethod
    def parts_for(cls, entry: JSON) -> Mapping[str, JSON]:
        """Return no embedder for BM25 alone, which needs none."""
        return {} if entry.get("search") == "text" else cls.default_parts

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and fill an index with them, or find it there whole; raises `StackError`."""
        return build(self.dialect, self.client, self._settings, self._address, chunks, parts, progress)


def build(
    dialect: Dialect,
    connect: Connects,
    settings: Settings,
    address: Address,
    chunks: Sequence[Chunk],
    parts: Mapping[str, Any],
    progress: Progress,
) -> VectorIndex:
    """Make an index hold the chunks, or find it whole, and return the retriever over it; raises `StackError`."""
    kind = dialect.kind
    embedder = embedder_of(kind, parts) if settings.vectors else None
    matrix = embed_chunks(embedder, chunks, progress)
    if matrix.shape[1] > dialect.max_dimension:
        raise InputError(
            f"{kind!r} holds vectors of at most {dialect.max_dimension} numbers, and the embedder gives "
            f"{matrix.shape[1]}"
        )
    digest = digest_of(chunks, embedder, settings.shape())
    name = address.index or PREFIX + digest
    client = connect(_with_certificates(kind, address, parts))
    vectors = int(matrix.any(axis=1).sum()) if settings.metric == "cosine" else len(chunks)
    engine, stored = None, None
    with ExitStack() as unless_built:
        unless_built.callback(client.close)
        versions = client.about()
        if chunks:
            texts = [chunk.text for chunk in chunks]
            store = ElasticStore(client, dialect, name, settings, texts, address.index_timeout_s)
            reused = bring_up(kind, name, store, matrix, digest, progress, block=BLOCK)
            stored = Stored(name=name, reused=reused, others=tuple(client.others(PREFIX, name)))
            engine = ElasticEngine(client, dialect, name, settings, vectors=vectors, total=len(chunks))
        if engine is not None:
            unless_built.pop_all()
    left_out = len(chunks) - vectors if settings.vectors else 0
    return VectorIndex(
        kind,
        [chunk.id for chunk in chunks],
        embedder,
        engine,
        dimension=matrix.shape[1],
        zero_is_far=settings.zero_is_far,
        about=_about(settings, embedder, chunks, left_out, versions),
        stored=stored,
        left_out=_never_found(settings, chunks, matrix),
    )


def _never_found(settings: Settings, chunks: Sequence[Chunk], matrix: NDArray[np.float32]) -> frozenset[str]:
    """Return the ids of the chunks of which no search knows: without a direction, where only vectors are compared."""
    if settings.search != "vector" or settings.metric != "cosine":
        return frozenset()
    return frozenset(chunk.id for chunk, some in zip(chunks, matrix, strict=True) if not some.any())


def _with_certificates(kind: str, address: Address, parts: Mapping[str, Any]) -> Address:
    """Return the address with the path of its certificates relative to the board."""
    if address.ca_certs is None:
        return address
    path = Path(parts.get("folder", ".")) / Path(address.ca_certs).expanduser()
    if not path.is_file():
        raise InputError(f"{kind!r}: ca_certs names no file: {address.ca_certs}")
    return msgspec.structs.replace(address, ca_certs=str(path))


def _about(
    settings: Settings, embedder: Embedder | None, chunks: Sequence[Chunk], left_out: int, versions: JSON
) -> JSON:
    more = {**settings.described(), **({"zero_vectors_left_out": left_out} if left_out else {}), **versions}
    return described(settings.words.kind, embedder, truncated(embedder, chunks), **more)
