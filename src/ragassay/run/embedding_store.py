"""A folder of segments on disk: read through once and checked, looked up by key, added to and never changed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay import canon
from ragassay.errors import InputError, PluginError
from ragassay.records import JSON
from ragassay.run.embedding_places import PlaceIndex, Places, split
from ragassay.run.embedding_segment import Keys, Segment, decode, rows_of

ABOUT = "embedder.json"
"""The embedder's description inside its store: for whoever looks at the folder, nothing reads it to find a row."""
SUFFIX = ".rows"


class _Held(msgspec.Struct, frozen=True):
    """One segment whose bytes were found whole."""

    path: Path
    count: int
    dimension: int
    body: int


class SegmentStore:
    """The segments of one embedder. Not safe between threads; what other processes add is not seen.

    Memory is 40 bytes a text and one segment at a time: rows are read from disk when they are asked for.
    """

    def __init__(self, folder: Path, *, mend: bool) -> None:
        """Read every segment; one whose bytes are not those that it was written with counts as `damaged`.

        With `mend` it is removed, so that it is embedded again. Raises `InputError` for what cannot be read.
        """
        self._folder = folder
        self._held: list[_Held] = []
        self._index = PlaceIndex()
        self.damaged = 0
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            self._load(path, mend=mend)

    def find(self, keys: Keys) -> Places:
        """Return where the rows of `keys` stand, -1 for what is missing."""
        return self._index.find(keys)

    def rows(self, places: Places) -> NDArray[np.float32]:
        """Return the rows that stand there, shape (n, dimension); no place may be -1.

        Raises `PluginError` where they are of different lengths, `InputError` where a segment cannot be read.
        """
        numbers, rows = split(places)
        used = np.unique(numbers).tolist()
        widths = sorted({self._held[number].dimension for number in used})
        if len(widths) > 1:
            raise PluginError(f"the embedder changed its dimension from {widths[0]} to {widths[1]}")
        found = np.empty((len(places), widths[0] if widths else 0), dtype=np.float32)
        for number in used:
            wanted = np.flatnonzero(numbers == number)
            found[wanted] = self._rows(self._held[number])[rows[wanted]]
        return found

    def add(self, data: bytes, about: JSON) -> None:
        """Write a segment as `write_segment` does, and find its rows from now on."""
        path, segment = write_segment(self._folder, data, about)
        self._note(path, segment)

    def _load(self, path: Path, *, mend: bool) -> None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read the embedding store {path}: {error}") from error
        segment = decode(data) if canon.sha256(data) == path.stem else None
        if segment is not None:
            self._note(path, segment)
            return
        self.damaged += 1
        if mend:
            path.unlink(missing_ok=True)

    def _note(self, path: Path, segment: Segment) -> None:
        self._index.add(segment.keys, len(self._held))
        self._held.append(_Held(path, len(segment.keys), segment.dimension, segment.body))

    def _rows(self, held: _Held) -> NDArray[np.float32]:
        shape = (held.count, held.dimension)
        try:
            return np.memmap(held.path, dtype="<f4", mode="r", offset=held.body, shape=shape)
        except (OSError, ValueError) as error:  # numpy's for a file that became too short
            raise InputError(
                f"cannot read the embedding store {held.path}: {error}; it was removed or cut while in use, run again"
            ) from error


def write_segment(folder: Path, data: bytes, about: JSON) -> tuple[Path, Segment]:
    """Write a segment, synced to disk before it has its name; return where it is and what it holds.

    `about` is what the embedder says of itself. Raises `PluginError` for bytes that are no segment, `InputError` where
    the store cannot be written.
    """
    segment = decode(data)
    if segment is None or not np.isfinite(rows_of(data, segment)).all():
        raise PluginError(f"{len(data)} bytes that were to be stored as embeddings are no segment of finite rows")
    path = folder / f"{canon.sha256(data)}{SUFFIX}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / ABOUT).exists():
            _write_atomically(canon.canonical(about), folder / ABOUT)
        _write_atomically(data, path)
    except OSError as error:
        raise InputError(f"cannot write the embedding store {folder}: {error}; free space or move it") from error
    return path, segment


def _write_atomically(data: bytes, path: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".partial-", delete=False) as stream:
        partial = Path(stream.name)
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
