"""A file of lines that is only ever appended to: under a lock, each line on the disk before anyone is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from ragassay.errors import InputError, first_of
from ragassay.manifest.log_disk import read_file, sync, writing
from ragassay.records import Record

MAX_BYTES = 64 << 20
MAX_LISTED = 50
"""How many problems of a file are named."""

T = TypeVar("T", bound=Record)

_encode = msgspec.json.Encoder().encode


class AppendOnlyFile(Generic[T]):
    """One such file of records; several processes and threads may append at once. A torn last line is not there.

    `check` refuses a record with an `InputError` or a `ValueError`; the set that it is given is empty at the first line
    of a file, and keeps what it puts there for the lines after. `wrong` says what lines that are refused are,
    `encode` how one is written.
    """

    def __init__(
        self,
        path: Path,
        kind: type[T],
        *,
        check: Callable[[T, set[str]], None] = lambda _line, _known: None,
        wrong: str = "cannot be read",
        encode: Callable[[T], bytes] = _encode,
    ) -> None:
        self.path = path
        self._decode: Callable[[bytes], T] = msgspec.json.Decoder(kind).decode
        self._check = check
        self._wrong = wrong
        self._encode = encode

    def read(self) -> bytes:
        """Return the bytes of the file, none where it is absent; raises `InputError` where it cannot be read."""
        return read_file(self.path, MAX_BYTES) or b""

    def decode(self, data: bytes) -> list[T]:
        """Return the whole lines of the file's bytes, oldest first; a torn last one, which a kill leaves, is none.

        Raises `InputError` that names the lines that are wrong: none is passed over.
        """
        found: list[T] = []
        problems: list[str] = []
        known: set[str] = set()
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            try:
                record = self._decode(line)
                self._check(record, known)
            except (ValueError, InputError) as error:
                problems.append(f"line {number}: {error}")
            else:
                found.append(record)
        if problems:
            message = f"{self.path} has lines that {self._wrong}; put them back, or move the file away"
            raise InputError(message, first_of(problems, MAX_LISTED, "lines"))
        return found

    def lines(self) -> list[T]:
        """Return every line, oldest first; raises `InputError` as `read` and `decode` do."""
        return self.decode(self.read())

    def append(self, decide: Callable[[list[T]], Iterable[T]]) -> list[T]:
        """Let `decide` see every line and return those to write while nobody else writes; return what then stands.

        They are there together or not at all. Raises `InputError` where the file cannot be written, and where it cannot
        be read: nothing is added to such a file.
        """
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            with writing(self.path):
                _lock(file)
            before = self.read()
            lines = self.decode(before)
            new = list(decide(lines))
            data = b"".join(self._encode(line) + b"\n" for line in new)
            if len(before) + len(data) > MAX_BYTES:
                raise InputError(f"{self.path} would have more than the {MAX_BYTES} bytes allowed; move it away")
            if data:
                with writing(self.path):
                    _write(file, before, data)
                    sync(self.path.parent)
        finally:
            os.close(file)
        return [*lines, *new]


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
