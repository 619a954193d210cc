"""What is sent to machines that lack it: weights, vectors, indexes, as items that one worker of a machine keeps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, Protocol

from ragassay.plugins import weights
from ragassay.records import JSON, Chunk
from ragassay.run.cluster.blocks import Vectors
from ragassay.run.cluster.indexes import Piece, pieces_of, read_piece
from ragassay.run.cluster.links import RayLink


class Shipment(Protocol):
    """Items of one kind; `data` reads one from this machine, in a thread."""

    async def lacking(self, link: RayLink) -> Sequence[Hashable]:
        """Return the items that a worker's machine lacks, in the order in which they are to be sent."""
        ...

    def data(self, item: Any) -> bytes | None:
        """Return an item's bytes; None where there is nothing to send."""
        ...

    async def keep(self, link: RayLink, item: Any, sent: Any) -> None:
        """Have a worker keep it; `sent` is its place in the store."""
        ...


class WeightFiles:
    """Packaged weights by their names."""

    def __init__(self, names: Sequence[str], cache: Path) -> None:
        self._names = names
        self._cache = cache

    async def lacking(self, link: RayLink) -> Sequence[Hashable]:
        """Return name and file of each."""
        return await link.lacking_weights(self._names)

    def data(self, item: tuple[str, str]) -> bytes | None:
        """Return a file, after its digest was checked."""
        name, file = item
        return (weights.require(name, self._cache).parent / file).read_bytes()

    async def keep(self, link: RayLink, item: tuple[str, str], sent: Any) -> None:
        """Send one."""
        await link.keep_weights(*item, sent)


class VectorBlocks:
    """The vectors of a corpus by one embedder."""

    def __init__(self, cache: Path, about: JSON, chunks: Sequence[Chunk]) -> None:
        self._vectors = Vectors(cache, about, chunks)
        self._about = about

    async def lacking(self, link: RayLink) -> Sequence[Hashable]:
        """Return where the blocks begin."""
        return await link.lacking_blocks(self._about)

    def data(self, item: int) -> bytes | None:
        """Return a block."""
        return self._vectors.block(item)

    async def keep(self, link: RayLink, item: int, sent: Any) -> None:
        """Send one."""
        await link.keep_block(self._about, sent)


class IndexPieces:
    """Indexes that stacks keep in the cache."""

    def __init__(self, cache: Path, folders: Sequence[str]) -> None:
        self._cache = cache
        self._pieces = {folder: pieces_of(cache, folder) for folder in folders}
        self._first = {next(p for p in pieces if "/" in p.folder) for pieces in self._pieces.values()}

    async def lacking(self, link: RayLink) -> Sequence[Hashable]:
        """Return the pieces of each."""
        folders = await link.lacking_indexes(list(self._pieces))
        return [piece for folder in folders for piece in self._pieces[folder]]

    def data(self, item: Piece) -> bytes | None:
        """Return a piece."""
        return read_piece(self._cache, item)

    async def keep(self, link: RayLink, item: Piece, sent: Any) -> None:
        """Send one."""
        await link.keep_piece(item, sent, first=item in self._first)
