"""An index that stays in a folder of the cache: built beside and moved in whole, every byte compared when found again.

```
<cache>/ragassay_<32 hex digits>/                the index; its name says what it holds
<cache>/ragassay_<32 hex digits>/ragassay.json   each file with its SHA-256, and what else the stack wants to know
<cache>/.ragassay_<32 hex digits>.building/      one that is being built, or was when its process died
<cache>/.ragassay_<32 hex digits>.lock           held by the process that builds it
```
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ragassay.errors import StackError
from ragassay.plugins.stacks.stored_index import PREFIX
from ragassay.plugins.stacks.vector_index import Stored, raised_as_stack_error
from ragassay.records import JSON

ABOUT = "ragassay.json"

Write = Callable[[Path], JSON]
"""Fills an empty folder with the index, and returns what is to stand beside it, without fractional numbers."""


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands beside an index: whose it is, and what its files were when it was written."""

    digest: str
    facts: JSON
    files: dict[str, str]
    """SHA-256 by name."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An index that stays, whole and unaltered."""

    path: Path
    about: About
    stored: Stored


def kept_folder(kind: str, cache: Path, digest: str, write: Write) -> Kept:
    """Return the index that `digest` (32 hex digits) names, which is written where there is none.

    Two processes that want the same one write it once: the second waits. Raises `StackError` where it was altered, or
    cannot be written.
    """
    path = cache / (PREFIX + digest)
    with raised_as_stack_error(kind, f"keep its index in {str(cache)!r}"):
        about = found = _whole(kind, path, digest)
        if about is None:
            cache.mkdir(parents=True, exist_ok=True)
            with _locked(cache / f".{path.name}.lock"):
                about = found = _whole(kind, path, digest)
                if about is None:
                    _remove_dead(cache)
                    about = _build(path, digest, write)
    others = (one.name for one in cache.glob(f"{PREFIX}*") if one.name != path.name and (one / ABOUT).is_file())
    stored = Stored(name=path.name, reused=found is not None, others=tuple(sorted(others)))
    return Kept(path=path, about=about, stored=stored)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file of any size, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove_dead(cache: Path) -> None:
    """Remove what processes left that died while they built another index: nobody holds its lock any more."""
    for building in cache.glob(f".{PREFIX}*.building"):
        with contextlib.suppress(BlockingIOError), _locked(building.with_suffix(".lock"), wait=False):
            shutil.rmtree(building, ignore_errors=True)


def _build(path: Path, digest: str, write: Write) -> About:
    """Write the index beside its place and move it there; what a dead process left is removed first."""
    building = path.with_name(f".{path.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir()
    try:
        facts = write(building)
        about = About(digest=digest, facts=facts, files={one.name: sha256_of(one) for one in _files(building)})
        (building / ABOUT).write_bytes(msgspec.json.encode(about))
        for one in [*_files(building), building / ABOUT, building]:
            _sync(one)
        building.rename(path)
        _sync(path.parent)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return about


def _whole(kind: str, path: Path, digest: str) -> About | None:
    """Return what stands beside the index if it is as it was written, None where nothing is; raises `StackError`."""
    if not os.path.lexists(path):
        return None
    remedy = f"remove it by hand (rm -r {path}), and it is built anew"
    try:
        about = msgspec.json.decode((path / ABOUT).read_bytes(), type=About)
        there = {one.name for one in _files(path)}
    except (OSError, ValueError) as error:
        raise StackError(f"{kind}: {path} holds no index of ragassay's: {error}; {remedy}") from error
    if about.digest != digest:
        raise StackError(f"{kind}: {path} says that it holds something else; {remedy}")
    wrong = sorted(there ^ set(about.files)) or [
        name for name, sha256 in sorted(about.files.items()) if sha256_of(path / name) != sha256
    ]
    if wrong or not there:
        named = ", ".join(wrong[:3]) or "all files are gone"
        raise StackError(f"{kind}: {path} was altered since it was built ({named}); {remedy}")
    return about


def _files(folder: Path) -> list[Path]:
    """Return the files of an index; those with a dot in front are locks of an engine, and hold nothing of it."""
    return sorted(one for one in folder.iterdir() if one.name != ABOUT and not one.name.startswith("."))


def _sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


@contextlib.contextmanager
def _locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock until the block ends; a dead process holds none.

    Without `wait`, `BlockingIOError` is raised where another holds it.
    """
    import fcntl  # the plugin is listed also where there is no such lock

    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(file)
