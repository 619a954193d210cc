"""What no row of a board uses any more: stores of chunk vectors in the workspace, and indexes on servers."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError, RagassayError, legible
from ragassay.records import JSON
from ragassay.run.board_file import BoardFile, load_board
from ragassay.run.embeddings import ABOUT, STORES
from ragassay.run.index import BoardIndexed, RowBuilder
from ragassay.run.workspace import Workspace
from ragassay.seams import Progress

_STORE = re.compile(r"[0-9a-f]{64}")
_MOST_ABOUT = 1_000_000


class StaleStore(msgspec.Struct, frozen=True, kw_only=True):
    """A store of chunk vectors whose embedder no row names."""

    path: Path
    embedder: JSON | None
    """What the embedder said of itself; None where the store does not tell."""
    bytes: int
    files: int


class StaleIndex(msgspec.Struct, frozen=True, kw_only=True):
    """An index of ragassay on a server that no row of this board names."""

    row: str
    """The row on whose server it is."""
    kind: str
    name: str
    removal: str | None
    """What to type to remove it."""


class Stale(msgspec.Struct, frozen=True, kw_only=True):
    """All that is stale, and why more may be."""

    stores: tuple[StaleStore, ...]
    indexes: tuple[StaleIndex, ...]
    unknown: tuple[str, ...]
    """Why it cannot be told which stores are in use, one reason a board; there are no `stores` then."""
    notes: tuple[str, ...]


def stale(board: BoardFile, workspace: Workspace, found: BoardIndexed, *, weights_cache: Path, whole: bool) -> Stale:
    """Return what is stale beside the board's rows; writes nothing.

    A store is in use where a row of this board, or of another board file in its folder, names its embedder. An index
    on a server can be told stale only where every row was built (`whole` says that all were chosen).
    """
    used, unknown = _used(board, weights_cache)
    stores = () if unknown else tuple(_stores(workspace.cache / STORES, used))
    told = whole and found.built and all(one.state == "ready" for one in found.rows)
    others = any(kept.others for one in found.rows for kept in one.stored)
    notes = ["further indexes on the servers are told only where every row was built"] if others and not told else []
    return Stale(
        stores=stores,
        indexes=tuple(_indexes(found)) if told else (),
        unknown=tuple(unknown),
        notes=tuple(notes),
    )


def prune(found: Stale) -> int:
    """Remove the stale stores from the workspace; return how many bytes that freed. Nothing on a server is touched."""
    for store in found.stores:
        try:
            shutil.rmtree(store.path)
        except OSError as error:
            raise InputError(f"{store.path} cannot be removed: {error.strerror or error}; remove it by hand") from error
    return sum(store.bytes for store in found.stores)


def _used(board: BoardFile, weights_cache: Path) -> tuple[set[str], list[str]]:
    """Return the digests of all embedders that are in use, and why they are not all known."""
    used: set[str] = set()
    unknown: list[str] = []
    for one in _boards(board, unknown):
        problems: list[str] = []
        builder = RowBuilder(one, (), cache=Path(), weights_cache=weights_cache, report=_silent, keys={})
        for row in one.rows:
            place = f"{one.path.name}, row {row.name!r}"
            try:
                embedders = builder.embedders_of(row.stack, place)
                used |= {canon.digest(embedder.describe()) for embedder in embedders}
            except RagassayError as error:
                problems.append(legible(error) if place in str(error) else f"{place}: {legible(error)}")
            except Exception as error:  # noqa: BLE001 - an outside plugin may raise anything
                problems.append(f"{place}: {type(error).__name__}: {legible(error)}")
        if problems:
            more = f" (and {len(problems) - 1} more such rows)" if len(problems) > 1 else ""
            unknown.append(problems[0] + more)
    return used, unknown


def _boards(board: BoardFile, unknown: list[str]) -> Iterator[BoardFile]:
    """Yield the board, then the other board files of its folder: they share its workspace unless told otherwise."""
    yield board
    for path in sorted(board.path.parent.glob("*.toml")):
        if path.resolve() == board.path.resolve() or not _names_rows(path):
            continue
        try:
            yield load_board(path)
        except RagassayError as error:
            unknown.append(f"{path.name}: {legible(error)}")


def _names_rows(path: Path) -> bool:
    try:
        return re.search(rb"^\s*(\[\[\s*rows\s*\]\]|rows\s*=)", path.read_bytes(), re.MULTILINE) is not None
    except OSError:
        return True


def _stores(root: Path, used: set[str]) -> Iterator[StaleStore]:
    for path in sorted(root.glob("*")):
        if path.name in used or path.is_symlink() or not path.is_dir() or not _STORE.fullmatch(path.name):
            continue
        files = [file for file in path.rglob("*") if file.is_file() and not file.is_symlink()]
        yield StaleStore(
            path=path, embedder=_about(path), bytes=sum(file.stat().st_size for file in files), files=len(files)
        )


def _about(store: Path) -> JSON | None:
    """Return what the store says of its embedder, if that is what its name is the digest of."""
    try:
        with (store / ABOUT).open("rb") as file:
            about: JSON = msgspec.json.decode(file.read(_MOST_ABOUT), type=dict)
        return about if canon.digest(about) == store.name else None
    except (OSError, ValueError, RagassayError, msgspec.MsgspecError):
        return None


def _indexes(found: BoardIndexed) -> Iterator[StaleIndex]:
    named = {kept.name for one in found.rows for kept in one.stored}
    told: set[tuple[str, str]] = set()
    for one in found.rows:
        for kept in one.stored:
            for name in kept.others:
                if name in named or (kept.kind, name) in told:
                    continue
                told.add((kept.kind, name))
                removal = kept.removal.replace("{name}", name) if kept.removal else None
                yield StaleIndex(row=one.row, kind=kept.kind, name=name, removal=removal)


def _silent(_what: str) -> Progress:
    return lambda _done, _total: None
