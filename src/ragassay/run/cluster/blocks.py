"""Vectors of chunks by blocks: embedded on workers for the store, and sent from the store to workers that lack them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ragassay import canon
from ragassay.records import JSON, Chunk
from ragassay.run.embedding_segment import encode, encode_segment, keys_of
from ragassay.run.embedding_store import SegmentStore
from ragassay.run.embeddings import STORES, CachedEmbedder

SENT = 4096
"""Chunks whose vectors are sent at once: 6 MiB at 384 dimensions."""


def segment_of(embedder: CachedEmbedder, texts: Sequence[str]) -> tuple[JSON, bytes]:
    """Return what an embedder says of itself, and the segment of these texts."""
    about = embedder.describe()
    return about, encode_segment(canon.digest(about), texts, embedder.embed(texts, "document"))


def blocks_of(chunks: Sequence[Chunk]) -> range:
    """Return where the blocks of a corpus begin."""
    return range(0, len(chunks), SENT)


def lacking_blocks(cache: Path, about: JSON, chunks: Sequence[Chunk]) -> list[int]:
    """Return where the blocks begin of which the store in `cache` lacks a vector."""
    identity = canon.digest(about)
    store = SegmentStore(cache / STORES / identity, mend=True)
    return [
        first
        for first in blocks_of(chunks)
        if (store.find(keys_of(identity, (one.text for one in chunks[first : first + SENT]))) < 0).any()
    ]


class Vectors:
    """The vectors of a corpus by one embedder, as the store of the workspace holds them."""

    def __init__(self, cache: Path, about: JSON, chunks: Sequence[Chunk]) -> None:
        self.about = about
        self._identity = canon.digest(about)
        self._store = SegmentStore(cache / STORES / self._identity, mend=False)
        self._chunks = chunks

    def block(self, first: int) -> bytes | None:
        """Return the segment of the block that begins there; None where the store holds none of it."""
        keys = keys_of(self._identity, (one.text for one in self._chunks[first : first + SENT]))
        places = self._store.find(keys)
        held = np.flatnonzero(places >= 0)
        return encode(keys[held], self._store.rows(places[held])) if len(held) else None
