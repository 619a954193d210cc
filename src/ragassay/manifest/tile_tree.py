"""The tree of a log as its tiles give it: hashes of any part, proofs, and the tiles of a log that grew.

Pure: tiles come from a function that is given a path and returns bytes, or None where there is no such tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeAlias

from ragassay.errors import VerifyError
from ragassay.manifest.tiles import WIDTH, hash_tile_path, tile_hashes, widths
from ragassay.manifest.tree import EMPTY_ROOT, consistency_path, inclusion_path, node_hash, root_of, split

Tiles: TypeAlias = Callable[[str], bytes | None]


class TileTree:
    """The first `size` entries of a log; every method raises `VerifyError` LOG_FORK for a tile that is missing or cut.

    The hashes are what the tiles say: compare `root()` with a signed checkpoint before relying on any of them.
    """

    def __init__(self, size: int, tiles: Tiles) -> None:
        self.size = size
        self._tiles = tiles
        self._read: dict[tuple[int, int], list[bytes]] = {}

    def hashes(self, level: int, number: int) -> list[bytes]:
        """Return the hashes of one tile that belong to a log of this size."""
        if (level, number) not in self._read:
            self._read[level, number] = self._load(level, number)
        return self._read[level, number]

    def _load(self, level: int, number: int) -> list[bytes]:
        width = min(WIDTH, (self.size >> (8 * level)) - number * WIDTH)
        path = hash_tile_path(level, number, width)
        data = self._tiles(path)
        if data is None and width < WIDTH:
            data = self._tiles(hash_tile_path(level, number))
        elif data is not None and len(data) != 32 * width:
            _fork(f"{path} has {len(data)} bytes, not {32 * width}")
        if data is None or len(data) < 32 * width:
            _fork(f"{path} is missing, or cut")
        return tile_hashes(data)[:width]

    def leaves(self) -> list[bytes]:
        """Return the hash of every entry."""
        return [value for number, _ in widths(self.size) for value in self.hashes(0, number)]

    def subtree(self, start: int, end: int) -> bytes:
        """Return the root over the entries from `start` up to, but without, `end`, as proofs need it."""
        count = end - start
        if count == 0:
            return EMPTY_ROOT
        if count & (count - 1) or start % count:
            middle = start + split(count)
            return node_hash(self.subtree(start, middle), self.subtree(middle, end))
        level = (count.bit_length() - 1) // 8
        first = start >> (8 * level)
        hashes = self.hashes(level, first // WIDTH)
        return root_of(hashes[first % WIDTH : first % WIDTH + (count >> (8 * level))])

    def root(self) -> bytes:
        """Return the root of the whole tree."""
        return self.subtree(0, self.size)

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Return the proof that the tree of the first `size` entries holds entry `index`; raises `ValueError`."""
        return inclusion_path(index, size, self.subtree)

    def consistency(self, old_size: int) -> list[bytes]:
        """Return the proof that the log only grew since it had `old_size` entries; raises `ValueError`."""
        return consistency_path(old_size, self.size, self.subtree)

    def check(self, root: bytes) -> None:
        """Raise `VerifyError` LOG_FORK where the tree has not this root, or any tile is not the one of its parent."""
        if self.root() != root:
            _fork("its hash tiles do not give the root of its checkpoint")
        level = 0
        while full := self.size >> (8 * level + 8):
            for number in range(full):
                parent = self.hashes(level + 1, number // WIDTH)[number % WIDTH]
                if root_of(self.hashes(level, number)) != parent:
                    _fork(f"{hash_tile_path(level, number)} does not hold the hashes that it was signed with")
            level += 1

    def grown(self, leaf_hashes: Sequence[bytes]) -> tuple[TileTree, dict[str, bytes]]:
        """Return the tree with these entries after its own, and the hash tiles that it has and this one has not."""
        files: dict[str, bytes] = {}
        level, added = 0, list(leaf_hashes)
        while added:
            count = self.size >> (8 * level)
            first = count // WIDTH
            row = (self.hashes(level, first) if count % WIDTH else []) + added
            parts = [row[at : at + WIDTH] for at in range(0, len(row), WIDTH)]
            for number, part in enumerate(parts, first):
                files[hash_tile_path(level, number, len(part))] = b"".join(part)
            added = [root_of(part) for part in parts if len(part) == WIDTH]
            level += 1
        old = self._tiles
        return TileTree(self.size + len(leaf_hashes), lambda path: files.get(path) or old(path)), files


def _fork(problem: str) -> NoReturn:
    raise VerifyError(f"the log is not the one that was signed: {problem}", code="LOG_FORK")
