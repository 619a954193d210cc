"""Writes one file that a person named, as a whole or not at all."""

from __future__ import annotations

import secrets
from pathlib import Path

from ragassay.errors import InputError


def write_new(path: Path, data: bytes, *, force: bool, option: str = "--out") -> None:
    """Write a file as a whole or not at all; raises `InputError` where one is there (without `force`).

    `option` is what its place is given with.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file with {option}")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no plain file and is not replaced; name a file with {option}")
    if path.exists() and not force:
        raise InputError(f"{path} is there already; --force replaces it")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); name another place with {option}") from error
