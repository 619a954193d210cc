"""Chunk vectors kept on disk by everything that shapes them, so that a second run embeds no chunk.

A question is embedded each time it is asked: its time is part of the time that a search takes.

A store is a folder of segments beside `embedder.json`, which says whose they are. A segment is written once, whole,
under the SHA-256 of its own bytes, and synced to disk before the next block is embedded: a crash leaves either no
segment or a good one, two writers never touch one file, and a damaged one is noticed and embedded again. Its form:
`embedding_segment.py`. Rows are read from disk when they are asked for: memory is 40 bytes a text.

**Embedding elsewhere.** Workers on other machines need no store. Where the store is: `missing_texts(root, identity,
texts)` says what to embed, with `identity = canon.digest(embedder.describe())`. On a worker: `encode_segment(identity,
block, embedder.embed(block, "document"))` turns a block of texts and their rows into bytes. Where the store is again:
`add_segment(root, about, data)` checks and keeps them, in any order, twice without harm; `about` is what the worker's
embedder says of itself. A stack that is built afterwards finds every row and embeds nothing.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragassay import canon
from ragassay.records import JSON
from ragassay.run.embedding_segment import Keys, encode, encode_segment, keys_of
from ragassay.run.embedding_store import ABOUT, SegmentStore, write_segment
from ragassay.seams import Embedder

__all__ = ["ABOUT", "BLOCK", "STORES", "CachedEmbedder", "add_segment", "encode_segment", "missing", "missing_texts"]

STORES = "embeddings"
"""The folder of all stores inside a workspace's cache."""
BLOCK = 256
"""Texts per segment: what a crash can lose."""


class CachedEmbedder:
    """An embedder whose rows are looked up first in `<folder>/<digest of its description>/`; safe between threads.

    `embedded`, `reused` and `damaged` count the texts that the embedder was asked for, those answered from the store,
    and the segments that were refused. Questions go to the embedder itself and are not counted.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._root = folder
        self._lock = threading.Lock()
        self._store: SegmentStore | None = None
        self._identity = ""
        self._counted: dict[str, int] = {}
        self.count_truncated = self._count_truncated if hasattr(embedder, "count_truncated") else None
        """Counts the texts that are longer than the embedder reads, each list once; None when it cannot say."""
        self.embedded = 0
        self.reused = 0
        self.damaged = 0

    @property
    def scratch(self) -> Path:
        """The folder, on the disk of the store, in which a stack may put down what it does not hold in memory."""
        return self._root

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return one row per text in order, embedding each unknown text once; shape as the embedder's own.

        Raises what the embedder raises, `PluginError` for rows of a wrong shape, `InputError` when the store cannot
        be written.
        """
        if not texts or kind == "query":
            return self._embedder.embed(texts, kind)
        store = self._open()
        keys = keys_of(self._identity, texts)
        with self._lock:
            lacking = np.flatnonzero(store.find(keys) < 0)
        _, first = np.unique(keys[lacking], return_index=True)
        unknown = lacking[np.sort(first)]
        for start in range(0, len(unknown), BLOCK):
            block = unknown[start : start + BLOCK]
            self._add(store, keys[block], [texts[at] for at in block])
        with self._lock:
            self.reused += len(texts) - len(unknown)
            return store.rows(store.find(keys))

    def describe(self) -> JSON:
        """Return the embedder's own description: where a row came from changes nothing."""
        return self._embedder.describe()

    def _count_truncated(self, texts: Sequence[str]) -> int:
        name = _name_of(texts)
        if name not in self._counted:
            self._counted[name] = int(getattr(self._embedder, "count_truncated")(texts))  # noqa: B009
        return self._counted[name]

    def _open(self) -> SegmentStore:
        with self._lock:
            if self._store is None:
                self._identity = canon.digest(self._embedder.describe())
                self._store = SegmentStore(self._root / self._identity, mend=True)
                self.damaged += self._store.damaged
            return self._store

    def _add(self, store: SegmentStore, keys: Keys, texts: Sequence[str]) -> None:
        """Embed a block and keep it before anything else is done."""
        data = encode(keys, self._embedder.embed(texts, "document"))
        with self._lock:
            store.add(data, self._embedder.describe())
            self.embedded += len(texts)


def missing(root: Path, identity: str, texts: Iterable[str]) -> int:
    """Return of how many different texts the store of an embedder, by its description's digest, holds no row.

    Nothing is written: a damaged segment counts as absent and stays.
    """
    keys = np.unique(keys_of(identity, texts))
    return int((SegmentStore(root / identity, mend=False).find(keys) < 0).sum())


def missing_texts(root: Path, identity: str, texts: Sequence[str]) -> list[str]:
    """Return the different texts of which the store holds no row, in the order in which they are first met."""
    keys = keys_of(identity, texts)
    lacking = np.flatnonzero(SegmentStore(root / identity, mend=False).find(keys) < 0)
    _, first = np.unique(keys[lacking], return_index=True)
    return [texts[at] for at in lacking[np.sort(first)]]


def add_segment(root: Path, about: JSON, data: bytes) -> int:
    """Keep a segment that was embedded elsewhere, synced to disk; return how many rows it holds.

    `about` is what the embedder says of itself; its digest names the store. Raises `PluginError` for bytes that are no
    segment, `InputError` where the store cannot be written.
    """
    return len(write_segment(root / canon.digest(about), data, about)[1].keys)


def _name_of(texts: Sequence[str]) -> str:
    """Return a name for a list of texts that is long, without joining it."""
    whole = hashlib.sha256()
    for text in texts:
        held = text.encode("utf-8", "surrogatepass")
        whole.update(len(held).to_bytes(8, "little") + held)
    return whole.hexdigest()
