"""Writes files that belong together and never change again: all of them or none, never over one that is there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from ragassay.errors import InputError
from ragassay.manifest.log_disk import sync

READ_ONLY = 0o444
SECRET = 0o600


def write_together(files: Mapping[Path, tuple[bytes, int]]) -> None:
    """Write new files, each with its mode; raises `InputError`, and then none of them is there.

    Every file that is there already is named. A file appears under its name with all its bytes, one after the other:
    a kill may leave the first of them, so one without which the others must not be seen stands first.
    """
    if there := [path for path in files if path.exists() or path.is_symlink()]:
        what = "nothing was written: what is there is not replaced; name another folder with --out, or move it away"
        raise InputError(what, [f"{path} exists" for path in there])
    begun: list[Path] = []
    placed: list[Path] = []
    path = next(iter(files))
    try:
        for path, (data, mode) in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            begun.append(path.with_name(f".{path.name}.{secrets.token_hex(4)}"))
            _write(begun[-1], data, mode)
        for path, temporary in zip(files, begun, strict=True):
            os.link(temporary, path)  # unlike a rename it fails where one is there
            placed.append(path)
        for folder in {path.parent for path in files}:
            sync(folder)
    except BaseException as error:
        for one in placed:
            one.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise InputError(f"{path} cannot be written ({error.strerror or error}); nothing was written") from error
    finally:
        for one in begun:
            one.unlink(missing_ok=True)


def _write(path: Path, data: bytes, mode: int) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, SECRET)
    with os.fdopen(file, "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
        os.fchmod(opened.fileno(), mode)
