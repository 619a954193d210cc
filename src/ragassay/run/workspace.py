"""Where the files of a workspace are, and how one is written so that a crash leaves the old or the new whole."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from ragassay.errors import InputError
from ragassay.manifest.log_seen import SEEN

RUN_FILES = ("run.dsse.json", "outputs.jsonl", "telemetry.jsonl", "config.json", "benchmark.json")


class Workspace:
    """The `.ragassay` folder of a board."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.corpora = root / "corpus"
        self.passes = root / "passes"
        self.runs = root / "runs"
        self.keys = root / "keys"
        self.log = root / "log"
        self.log_seen = root / SEEN
        self.cache = root / "cache"

    def prepare(self) -> None:
        """Make the folder and keep it out of version control; raises `InputError` where it cannot be written."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            ignore = self.root / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"the workspace {self.root} cannot be written ({error.strerror}); "
                "free it or name another with --workspace"
            ) from error

    def pass_folder(self, row: str, run_id: str) -> Path:
        """Return the folder of one pass."""
        return self.passes / slug(row) / run_id


def slug(name: str) -> str:
    """Return `name` as a safe folder name: letters, digits, dash, dot, underscore; never empty, never hidden."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:80] or "row"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file's lock until the block ends; another process waits. A dead one holds none."""
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, and its folder, so that a crash leaves either the old bytes or all of the new ones.

    Raises `InputError` where it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write(temporary, data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync(path.parent)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a new folder of files that appears as a whole or not at all; an existing one is left as it is.

    Raises `InputError` where it cannot be written.
    """
    if folder.exists():
        return
    with _writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _temporary_folder(folder) as temporary:
            for name, data in files.items():
                _write(temporary / name, data)
            _sync(temporary)
            temporary.rename(folder)
        _sync(folder.parent)


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Bring a folder's names to the disk, so that a rename outlives a power cut."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error}); free the disk or make it writable, and run again: "
            "what was journaled is kept and is not asked again"
        ) from error


@contextlib.contextmanager
def _temporary_folder(folder: Path) -> Iterator[Path]:
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    temporary.mkdir()
    try:
        yield temporary
    finally:
        if temporary.exists():
            shutil.rmtree(temporary)
