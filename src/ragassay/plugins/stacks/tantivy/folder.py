"""The index of a corpus in the cache: found again by what it holds, written where there is none."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ragassay import canon
from ragassay.plugins.stacks.kept_folder import Kept, kept_folder
from ragassay.plugins.stacks.tantivy.settings import Settings
from ragassay.plugins.stacks.tantivy.writing import release_of_tantivy, write_index
from ragassay.records import JSON, Chunk
from ragassay.seams import Progress

_STEP = 1_000


def digest_of(chunks: Sequence[Chunk], settings: Settings) -> str:
    """Return 32 hex digits over the chunks' ids and texts, in order, what shapes the words, and tantivy's version.

    Nothing is held for it, however many chunks there are.
    """
    shape = canon.canonical({"stack": "tantivy", "tantivy": release_of_tantivy(), **settings.described()})
    digest = hashlib.sha256(shape)
    for first in range(0, len(chunks), _STEP):
        block = [f"\n{len(chunk.id)} {chunk.id} {chunk.sha256}" for chunk in chunks[first : first + _STEP]]
        digest.update("".join(block).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def kept_index(cache: Path, chunks: Sequence[Chunk], settings: Settings, progress: Progress) -> Kept:
    """Return the index of these chunks in a cache; raises `StackError` where it was altered or cannot be written."""

    def write(folder: Path) -> JSON:
        write_index(folder, chunks, settings, progress)
        return {"chunks": len(chunks)}

    return kept_folder("tantivy", cache, digest_of(chunks, settings), write)
