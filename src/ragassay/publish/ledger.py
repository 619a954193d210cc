"""A file of lines that is only ever appended to: under a lock, each line on the disk before anyone is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from ragassay.errors import InputError
from ragassay.manifest.log_disk import sync, writing

FOLDER = "review"
"""The folder of a workspace (`.ragassay`) that holds what people decided, were shown and signed off."""
MAX_BYTES = 64 << 20


class Ledger:
    """One such file; several processes and threads may append to it at once. A torn last line is not there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[bytes]:
        """Return the whole lines without their line feeds; raises `InputError` where the file cannot be read."""
        return self._read().split(b"\n")[:-1]

    def append(self, decide: Callable[[list[bytes]], Iterable[bytes]]) -> None:
        """Let `decide` see every line and return those to write, without line feeds, while nobody else writes.

        They are there together or not at all. Raises `InputError` where the file cannot be written.
        """
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            with writing(self.path):
                _lock(file)
            before = self._read()
            data = b"".join(line + b"\n" for line in decide(before.split(b"\n")[:-1]))
            if len(before) + len(data) > MAX_BYTES:
                raise InputError(f"{self.path} would have more than the {MAX_BYTES} bytes allowed; move it away")
            if data:
                with writing(self.path):
                    _write(file, before, data)
                    sync(self.path.parent)
        finally:
            os.close(file)

    def _read(self) -> bytes:
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"{self.path} is no plain file; move it away")
        try:
            with self.path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise InputError(f"{self.path} cannot be read ({error.strerror}); check its permissions") from error
        if len(data) > MAX_BYTES:
            raise InputError(f"{self.path} has more than the {MAX_BYTES} bytes allowed; move it away")
        return data


def _lock(file: int) -> None:
    import fcntl  # such a file is read also where there is no such lock

    fcntl.flock(file, fcntl.LOCK_EX)


def _write(file: int, before: bytes, data: bytes) -> None:
    """Cut off a torn last line, append, and return when it is on the disk."""
    whole = before.rfind(b"\n") + 1
    if whole < len(before):
        os.ftruncate(file, whole)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except OSError:
        os.ftruncate(file, whole)  # what is not wholly there is not there
        raise
