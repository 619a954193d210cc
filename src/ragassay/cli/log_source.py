"""Reads a log where it lies: a folder, or the address under which its files are served."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NoReturn, Protocol

from ragassay.cli.fetch import TooLarge, fetch, is_address, shown
from ragassay.errors import InputError, PluginError, VerifyError
from ragassay.manifest.checkpoint import SignedCheckpoint, parse_checkpoint
from ragassay.manifest.log_disk import read_file
from ragassay.manifest.log_folder import MAX_BUNDLE_BYTES, VKEY, LogFolder
from ragassay.manifest.note import MAX_NOTE_BYTES, NoteKey, parse_vkey
from ragassay.manifest.tile_tree import TileTree
from ragassay.manifest.tiles import CHECKPOINT, WIDTH, LogView, bundle_path, read_log, widths

MAX_ENTRIES = 1 << 20
"""The most entries of a log that are fetched."""
MAX_FETCHED_BYTES = 1 << 30
TIMEOUT_S = 30.0
TOTAL_TIMEOUT_S = 600.0
"""The most seconds that one file, and all files of a log together, may take to arrive."""


class LogSource(Protocol):
    """Gives the files of one log."""

    name: str

    def read(self, path: str, cap: int) -> bytes | None:
        """Return the bytes at `path`, None where there is nothing; raises `InputError` or `PluginError`."""
        ...


class FolderSource:
    """A log in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    def read(self, path: str, cap: int) -> bytes | None:
        """Return the bytes of a file."""
        return read_file(self.path / path, cap)


class AddressSource:
    """A log that a web server serves; all its files together have at most 1 GiB and take at most ten minutes."""

    def __init__(self, address: str) -> None:
        self._prefix = address.rstrip("/")
        self._left = MAX_FETCHED_BYTES
        self._until = time.monotonic() + TOTAL_TIMEOUT_S
        self.name = shown(address)

    def read(self, path: str, cap: int) -> bytes | None:
        """Return the bytes that the server sends."""
        timeout_s = min(TIMEOUT_S, self._until - time.monotonic())
        if timeout_s <= 0:
            raise PluginError(f"{self.name}: its files did not arrive within {TOTAL_TIMEOUT_S:g} seconds")
        try:
            data = fetch(f"{self._prefix}/{path}", max_bytes=min(cap, self._left), timeout_s=timeout_s)
        except TooLarge:
            raise
        except PluginError as error:
            if str(error).endswith(("status 404", "status 410")):
                return None
            raise
        self._left -= len(data)
        return data


def open_log(text: str) -> LogSource:
    """Return the log at a folder or an http(s) address; nothing is read yet."""
    return AddressSource(text) if is_address(text) else FolderSource(Path(text))


def read_checkpoint(source: LogSource) -> SignedCheckpoint:
    """Return the published checkpoint, its signature unchecked; raises `InputError` where there is no log."""
    data = source.read(CHECKPOINT, MAX_NOTE_BYTES)
    if data is None:
        raise InputError(f"there is no log at {source.name}: it has no file {CHECKPOINT!r}")
    return parse_checkpoint(data)


def read_vkey(source: LogSource) -> NoteKey | None:
    """Return the key that the log itself gives as its own, None where it gives none."""
    data = source.read(VKEY, MAX_NOTE_BYTES)
    return parse_vkey(data.decode("utf-8", "replace")) if data is not None else None


def read_view(source: LogSource) -> LogView:
    """Return all entries, checked against the checkpoint; raises `VerifyError` where they are not those."""
    if isinstance(source, FolderSource):
        return LogFolder(source.path).view()
    signed = read_checkpoint(source)
    if signed.size > MAX_ENTRIES:
        raise InputError(f"the log at {source.name} has {signed.size} entries; at most {MAX_ENTRIES} are fetched")
    files = {CHECKPOINT: signed.data}
    for number, width in widths(signed.size):
        for path in (bundle_path(number, width), bundle_path(number)):
            data = source.read(path, MAX_BUNDLE_BYTES)
            if data is not None:
                files[path] = data
                break
        else:
            _missing(bundle_path(number, width))
    return read_log(files)


def tree_of(source: LogSource, size: int) -> TileTree:
    """Return the tree of the first `size` entries; its tiles are read as they are needed."""
    return TileTree(size, lambda path: source.read(path, 32 * WIDTH))


def _missing(path: str) -> NoReturn:
    raise VerifyError(f"the log is not the one that was signed: {path} is missing", code="LOG_FORK")
