"""How the files of a crawl reach the disk: each whole or not at all, a failure as one error that names the place."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from ragassay.errors import InputError


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that appears with all its bytes, or stays what it was; raises `OSError`."""
    temporary = path.with_name(f".{secrets.token_hex(8)}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def sync(folder: Path) -> None:
    """Bring a folder's names to the disk, so that a rename outlives a power cut."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


_HERE = -100
_EXCHANGE = 2
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False where the system has no such step. Raises `OSError`."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(one))


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure to write into an `InputError` that names the place and keeps what was fetched."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error}); free the disk or make it writable, and "
            "crawl again: what was fetched is kept and is not asked for again"
        ) from error
