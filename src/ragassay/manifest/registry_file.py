"""The key registry as a file: read under its cap, replaced by a later version only, and never half written."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path

from ragassay.errors import InputError
from ragassay.manifest.files import BESIDE, REGISTRY
from ragassay.manifest.registry import SignedRegistry, decode_registry
from ragassay.manifest.registry_change import check_successor


def load_registry(path: Path) -> SignedRegistry:
    """Read a registry file; raises `InputError` where it cannot be read, `VerifyError` where it is none."""
    return decode_registry(_read(path))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(BESIDE[REGISTRY] + 1)
    except OSError as error:
        raise InputError(f"the key registry {path} cannot be read: {error.strerror}") from error


def store_registry(path: Path, data: bytes) -> None:
    """Write a registry where there is none or an earlier version; a crash leaves the old file or the new one whole.

    Two processes that write at once take turns. Raises `InputError` where the file that is there is not an earlier
    version of the same registry, or cannot be written; `VerifyError` where either is no registry.
    """
    signed = decode_registry(data)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise InputError(f"the key registry cannot be written to {path}: {error.strerror}") from error
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if path.exists():
            check_successor(load_registry(path), signed)
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        os.fsync(folder)
    except OSError as error:
        raise InputError(f"the key registry cannot be written to {path}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)
        os.close(folder)
