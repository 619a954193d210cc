"""The files of a log: hash tiles of 256 hashes and bundles of 256 entries, as C2SP tlog-tiles lays them out. Pure.

`checkpoint` is the signed state; `tile/<level>/<n>` holds up to 256 hashes of 32 bytes, each over a full tile of the
level below (level 0: over one entry); `tile/entries/<n>` holds up to 256 entries, each after its length in two bytes,
big-endian. A tile that is not full has `.p/<width>` after its number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NoReturn

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest.checkpoint import SignedCheckpoint, parse_checkpoint
from ragassay.manifest.tree import leaf_hash, root_of

CHECKPOINT = "checkpoint"
WIDTH = 256
MAX_ENTRY_BYTES = 65_535


def number_path(number: int) -> str:
    """Return a tile's number as path elements of three digits, all but the last after an `x`: x001/x234/067."""
    digits = str(number)
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    parts = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    return "/".join([*(f"x{part}" for part in parts[:-1]), parts[-1]])


def hash_tile_path(level: int, number: int, width: int = WIDTH) -> str:
    """Return the path of a tile of hashes that holds `width` of them."""
    return f"tile/{level}/{number_path(number)}{_partial(width)}"


def bundle_path(number: int, width: int = WIDTH) -> str:
    """Return the path of a bundle that holds `width` entries."""
    return f"tile/entries/{number_path(number)}{_partial(width)}"


def _partial(width: int) -> str:
    return "" if width == WIDTH else f".p/{width}"


def widths(count: int) -> Iterator[tuple[int, int]]:
    """Yield number and width of each tile that `count` hashes or entries fill."""
    for number in range(-(-count // WIDTH)):
        yield number, min(WIDTH, count - number * WIDTH)


def bundles_of(size: int) -> list[str]:
    """Return the paths of the bundles of a log of `size` entries, in order."""
    return [bundle_path(number, width) for number, width in widths(size)]


def hash_tiles_of(size: int) -> list[str]:
    """Return the paths of the hash tiles of a log of `size` entries, by level."""
    paths: list[str] = []
    level = 0
    while count := size >> (8 * level):
        paths += [hash_tile_path(level, number, width) for number, width in widths(count)]
        level += 1
    return paths


def encode_bundle(entries: Sequence[bytes]) -> bytes:
    """Return the bytes of a bundle; raises `ValueError` for an entry over 65,535 bytes."""
    for entry in entries:
        if len(entry) > MAX_ENTRY_BYTES:
            raise ValueError(f"an entry has {len(entry)} bytes; a log takes {MAX_ENTRY_BYTES}")
    return b"".join(len(entry).to_bytes(2) + entry for entry in entries)


def decode_bundle(data: bytes) -> list[bytes]:
    """Read the entries of a bundle; raises `ValueError` where it is cut or holds more than 256."""
    entries: list[bytes] = []
    at = 0
    while at < len(data):
        end = at + 2 + int.from_bytes(data[at : at + 2])
        if at + 2 > len(data) or end > len(data) or len(entries) == WIDTH:
            raise ValueError("the bundle is cut, or holds more than 256 entries")
        entries.append(data[at + 2 : end])
        at = end
    return entries


def tile_hashes(data: bytes) -> list[bytes]:
    """Return the hashes of a tile."""
    return [data[at : at + 32] for at in range(0, len(data), 32)]


class LogView(msgspec.Struct, frozen=True, dict=True):
    """All entries of a log whose tree has the root of its checkpoint; who signed that is the reader's to check."""

    checkpoint: SignedCheckpoint
    entries: tuple[bytes, ...]

    @cached_property
    def leaf_hashes(self) -> tuple[bytes, ...]:
        """The hash of each entry."""
        return tuple(map(leaf_hash, self.entries))

    @cached_property
    def _roots(self) -> dict[int, bytes]:
        return {}

    def root_at(self, size: int) -> bytes:
        """Return the root of the tree over the first `size` entries."""
        if size not in self._roots:
            self._roots[size] = root_of(self.leaf_hashes[:size])
        return self._roots[size]


def read_log(files: Mapping[str, bytes]) -> LogView:
    """Return the log that stands in these files (path to bytes, as in its folder).

    Raises `VerifyError`: LOG_INCLUSION where there is no checkpoint or none that can be read, LOG_FORK where entries
    are missing, or entries or any hash tile are not those of the checkpoint. Hash tiles may be left out.
    """
    if CHECKPOINT not in files:
        raise VerifyError("the log has no checkpoint", code="LOG_INCLUSION")
    checkpoint = parse_checkpoint(files[CHECKPOINT])
    if checkpoint.size > WIDTH * len(files):
        _fork(f"its checkpoint counts {checkpoint.size} entries, but the files hold fewer")
    entries: list[bytes] = []
    for number, width in widths(checkpoint.size):
        entries += _bundle(files, number, width)
    view = LogView(checkpoint, tuple(entries))
    if root_of(view.leaf_hashes) != checkpoint.root:
        _fork("its entries do not give the root of its checkpoint")
    _check_tiles(files, view)
    return view


def _bundle(files: Mapping[str, bytes], number: int, width: int) -> list[bytes]:
    path = bundle_path(number, width)
    data = files.get(path, files.get(bundle_path(number)))
    if data is None:
        _fork(f"{path} is missing")
    try:
        entries = decode_bundle(data)
    except ValueError as error:
        _fork(f"{path}: {error}")
    if len(entries) < width:
        _fork(f"{path} holds {len(entries)} entries, not {width}")
    return entries[:width]


def _check_tiles(files: Mapping[str, bytes], view: LogView) -> None:
    level, row = 0, list(view.leaf_hashes)
    while row:
        for number, width in widths(len(row)):
            path = hash_tile_path(level, number, width)
            if path in files and files[path] != b"".join(row[number * WIDTH : number * WIDTH + width]):
                _fork(f"{path} does not hold the hashes of the entries")
        row = [root_of(row[at : at + WIDTH]) for at in range(0, len(row) - WIDTH + 1, WIDTH)]
        level += 1


def _fork(problem: str) -> NoReturn:
    raise VerifyError(f"the log is not the one that was signed: {problem}", code="LOG_FORK")
