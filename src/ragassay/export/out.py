"""Where an export is written: a file or a folder that appears whole or not at all, streamed."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ragassay.errors import InputError
from ragassay.manifest.log_disk import sync

ABOUT = "export.json"
"""The file that each exported folder holds: what it was made from, what was left out, and how its files are read."""


@contextlib.contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Give a file to write to, which stands at `path` once the block ends without an error, and not before.

    Raises `InputError` where something is there (without `force`), or where it cannot be written.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file with --out")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no plain file and is not replaced; name a file with --out")
    if path.exists() and not force:
        raise InputError(f"{path} is there already; --force replaces it")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with _writing(path):
        try:
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(path: Path, *, force: bool) -> Iterator[Path]:
    """Give an empty folder to fill, which stands at `path` once the block ends without an error, and not before.

    With `force` it takes the place of an earlier export, and of nothing else: whoever fills a folder writes `ABOUT`
    into it. Raises `InputError` where something is there, or where it cannot be written.
    """
    _check_free(path, force=force)
    place = path.resolve()
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    with _writing(path):
        try:
            temporary.mkdir()
            yield temporary
            _to_disk(temporary)
            _swap(temporary, place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _check_free(path: Path, *, force: bool) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        raise InputError(f"{path} is no folder and is not replaced; name a folder with --out")
    if not any(path.iterdir()):
        return
    if not force:
        raise InputError(f"{path} is there already; --force replaces an earlier export, or name another with --out")
    if not (path / ABOUT).is_file():
        raise InputError(
            f"{path} holds no {ABOUT}, so it is no earlier export and is not replaced; name another folder"
        )


def _swap(temporary: Path, path: Path) -> None:
    aside = temporary.with_name(f"{temporary.name}-old")
    if path.exists():
        path.rename(aside)
    try:
        temporary.rename(path)
    except OSError:
        if aside.exists():
            aside.rename(path)
        raise
    sync(path.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _to_disk(path: Path) -> None:
    if path.is_dir():
        for child in path.iterdir():
            _to_disk(child)
        sync(path)
        return
    with path.open("rb") as file:
        os.fsync(file.fileno())


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error}); name another place with --out"
        ) from error
