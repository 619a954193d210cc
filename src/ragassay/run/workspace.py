"""Where the files of a workspace are, and how one is written so that a crash leaves the old or the new whole."""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from ragassay.errors import InputError
from ragassay.manifest.log_disk import locked, sync, write_whole
from ragassay.manifest.log_seen import SEEN

__all__ = ["RUN_FILES", "Workspace", "locked", "replace_bytes", "slug", "write_bytes", "write_folder"]

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


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, and its folder, so that a crash leaves either the old bytes or all of the new ones.

    Raises `InputError` where it cannot be written.
    """
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
        sync(path.parent)


def replace_bytes(path: Path, data: bytes) -> None:
    """Write a file that is there as `write_bytes` does, and let it keep its mode."""
    with _writing(path):
        write_whole(path, data, path.stat().st_mode & 0o7777)
        sync(path.parent)


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
                write_whole(temporary / name, data)
            sync(temporary)
            temporary.rename(folder)
        sync(folder.parent)


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
