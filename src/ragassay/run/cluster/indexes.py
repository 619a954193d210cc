"""Indexes that stacks keep in the cache, as pieces of files: what was built here need not be built on every machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragassay.errors import InputError
from ragassay.run.build import INDEXES
from ragassay.seams import Retriever

PIECE_BYTES = 32 * 1024 * 1024
_DEPTH = 8
_ARRIVING = ".arriving-"


class Piece(NamedTuple):
    """A part of a file: `folder` is `<kind>/<name>` for a file of an index, `<kind>` for one beside it."""

    folder: str
    file: str
    offset: int
    size: int
    last: bool
    """True for the last piece of a folder, which is in place from then on."""


def indexes_of(cache: Path, retrievers: Sequence[Retriever]) -> list[str]:
    """Return `<kind>/<name>` of the indexes in a workspace's cache that built stacks, or stacks inside them, search."""
    names = {name for retriever in retrievers for name in _stored_within(retriever, _DEPTH)}
    root = cache / INDEXES
    kinds = sorted(path.name for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
    return [f"{kind}/{name}" for kind in kinds for name in sorted(names) if (root / kind / name).is_dir()]


def _stored_within(thing: Any, depth: int) -> Iterator[str]:
    name = getattr(getattr(thing, "stored", None), "name", None)
    if isinstance(name, str):
        yield name
    for value in vars(thing).values() if depth and hasattr(thing, "__dict__") else ():
        for part in _each(value):
            if isinstance(part, Retriever):
                yield from _stored_within(part, depth - 1)


def _each(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, (list, tuple)) else [value]


def lacking_indexes(cache: Path, folders: Sequence[str]) -> list[str]:
    """Return which of these indexes a cache lacks."""
    return [folder for folder in folders if not (cache / INDEXES / folder).is_dir()]


def pieces_of(cache: Path, folder: str) -> list[Piece]:
    """Return the pieces of an index in order, after those of the small files that stand beside it."""
    root = cache / INDEXES
    beside = sorted(path for path in (root / folder).parent.glob("*.json") if path.is_file())
    found = [Piece(folder.partition("/")[0], path.name, 0, path.stat().st_size, True) for path in beside]
    files = sorted(path for path in (root / folder).iterdir() if path.is_file())
    for path in files:
        size = path.stat().st_size
        for offset in range(0, max(size, 1), PIECE_BYTES):
            last = path is files[-1] and offset + PIECE_BYTES >= size
            found.append(Piece(folder, path.name, offset, min(PIECE_BYTES, size - offset), last))
    return found


def read_piece(cache: Path, piece: Piece) -> bytes:
    """Return the bytes of a piece."""
    with (cache / INDEXES / piece.folder / piece.file).open("rb") as file:
        file.seek(piece.offset)
        return file.read(piece.size)


def keep_piece(cache: Path, piece: Piece, data: bytes, *, first: bool) -> None:
    """Write a piece; an index is in place, whole, with its last. Whoever opens it compares its bytes with its own list.

    Raises `InputError` where it cannot be written.
    """
    target = cache / INDEXES / piece.folder
    try:
        if "/" not in piece.folder:
            target.mkdir(parents=True, exist_ok=True)
            _write_beside(target / piece.file, data)
            return
        arriving = target.with_name(f"{_ARRIVING}{target.name}")
        if first:
            shutil.rmtree(arriving, ignore_errors=True)
        arriving.mkdir(parents=True, exist_ok=True)
        path = arriving / piece.file
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.seek(piece.offset)
            file.write(data)
        if piece.last and not target.exists():
            arriving.rename(target)
    except OSError as error:
        raise InputError(
            f"{target} cannot be written ({error.strerror or error}); free the disk of that machine"
        ) from (error)


def _write_beside(path: Path, data: bytes) -> None:
    partial = path.with_name(f"{_ARRIVING}{path.name}")
    partial.write_bytes(data)
    partial.replace(path)
