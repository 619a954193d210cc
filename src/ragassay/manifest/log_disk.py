"""How the files of a log are read under caps, and written so that a crash leaves the old or the new bytes whole."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ragassay.errors import InputError


def read_file(path: Path, cap: int) -> bytes | None:
    """Return the bytes of a plain file, None where there is none.

    Raises `InputError` where something else is there, where it has more than `cap` bytes or cannot be read.
    """
    if not path.is_file():
        if path.exists():
            raise InputError(f"{path} is no plain file; move it away")
        return None
    try:
        with path.open("rb") as file:
            data = file.read(cap + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > cap:
        raise InputError(f"{path} has more than the {cap} bytes allowed; move it away")
    return data


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files under `root`, each whole, and return when they are on the disk; raises `InputError`."""
    folders: set[Path] = set()
    for name, data in files.items():
        path = root / name
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is no plain file and is not replaced; move it away, or name another place")
        with writing(path):
            folders.update(_make(path.parent, root))
            write_whole(path, data)
    for folder in sorted(folders):
        sync(folder)


def _make(folder: Path, root: Path) -> Iterable[Path]:
    """Make a folder, and return those whose names have to be brought to the disk."""
    if folder.is_dir():
        return {folder}
    folder.mkdir(parents=True, exist_ok=True)
    return {folder, *(parent for parent in folder.parents if parent == root or root in parent.parents)}


def write_whole(path: Path, data: bytes, mode: int | None = None) -> None:
    """Write a file, of this mode where one is given, that appears with all its bytes, or stays what it was.

    Raises `OSError`.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_proof(folder: Path, name: str, data: bytes) -> None:
    """Write a file into the folder of a run, where a kill may leave no other file: it would be one that nothing covers.

    What is half written lies beside the folder, under a hidden name. Raises `InputError` where it cannot be written.
    """
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    with writing(folder / name):
        write_whole(temporary, data)
        temporary.replace(folder / name)
        sync(folder)


def sync(folder: Path) -> None:
    """Bring a folder's names to the disk, so that a rename outlives a power cut."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure to write into an `InputError` that names the place."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error}); free the disk or make it writable, and try again"
        ) from error


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a log until the block ends; another process waits, and a dead one holds none."""
    import fcntl  # a log is read also where there is no such lock

    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
