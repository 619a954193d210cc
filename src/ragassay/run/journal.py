"""The append-only journal of one pass: one JSON record a line, written in groups, each group fsynced.

A record counts once its group is on disk. A torn last line, which a kill leaves, is cut off when the journal is
opened again and reported; every whole line is kept. Only one process writes a pass: the lock is the operating
system's, so a dead process holds none.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal

import msgspec

from ragassay.errors import InputError
from ragassay.records import Answer, Failure, RawVerdict, Record, Retrieval, Spent, Status

GROUP_RECORDS = 64
GROUP_SECONDS = 0.05


class Entry(Record, frozen=True, omit_defaults=True):
    """One event of a pass; `at` in Unix milliseconds, `q` the question's id.

    `spent` says what a search took that was stopped on its way, or, with an empty `q`, the search that warmed a row up.
    `ended` says that the version `by` of this program read the last of the judge's replies as a verdict: a run that is
    continued by the same version need not read it again to know that nothing is left to ask.
    """

    event: Literal["retrieved", "answered", "judge_reply", "failed", "spent", "ended"]
    at: int
    q: str
    retrieval: Retrieval | None = None
    answer: Answer | None = None
    raw: RawVerdict | None = None
    status: Status | None = None
    failure: Failure | None = None
    spent: Answer | None = None
    """On `failed`: what the calls that led to nothing took (text empty)."""
    search_spent: Spent | None = None
    """On `failed` and `spent`: what the calls inside a search that led to nothing took."""
    search_counted: tuple[int, int] | None = None
    """Tokens and micro-USD of a search's calls as they were counted against the caps, estimates included."""
    by: str | None = None
    """On `ended`: the version of the program."""


_NEEDED = {
    "retrieved": ("retrieval",),
    "answered": ("answer",),
    "judge_reply": ("raw",),
    "failed": ("status", "failure"),
    "spent": ("search_spent",),
    "ended": ("status", "by"),
}
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Entry).decode


def read_entries(path: Path) -> Iterator[Entry]:
    """Yield every whole record of a journal in order, and leave out a torn last line.

    Raises `InputError` with the line for one that is no record: it is never skipped.
    """
    return (entry for _, entry in placed_entries(path))


def placed_entries(path: Path) -> Iterator[tuple[int, Entry]]:
    """Yield what `read_entries` yields, each with the place in the file at which its line begins."""
    place = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    yield place, _entry(line, path, number)
                place += len(line)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from error


def _entry(line: bytes, path: Path, number: int) -> Entry:
    try:
        entry = _decode(line)
    except ValueError as error:
        fault = str(error)
    else:
        for name in _NEEDED[entry.event]:
            if getattr(entry, name) is None:
                fault = f"the event {entry.event!r} lacks {name!r}"
                break
        else:
            return entry
    raise InputError(
        f"{path} line {number} is no journal record: {fault}; put the line back, or give the pass up with "
        "`ragassay run --new`"
    )


class Journal:
    """An open journal; `append` returns at once, `close` writes what is left."""

    def __init__(self, path: Path, writer: GroupWriter) -> None:
        self.path = path
        self._writer = writer
        self._file = _locked(path)
        self.torn_bytes = _cut_torn_line(self._file)
        self.pending: list[bytes] = []
        self._end = self._written = os.fstat(self._file).st_size

    def entries(self) -> Iterator[Entry]:
        """Yield every record on disk in order; raises `InputError` for a line that is none."""
        return read_entries(self.path)

    def placed(self) -> Iterator[tuple[int, Entry]]:
        """Yield every record on disk in order with its place, as `entries` does."""
        return placed_entries(self.path)

    def at(self, places: Sequence[int]) -> Iterator[Entry]:
        """Yield the records that stand at these places, as `append` and `placed` gave them."""
        if any(place >= self._written for place in places):
            self._writer.flush()
        with self.path.open("rb") as file:
            for place in places:
                file.seek(place)
                yield _decode(file.readline())

    def append(self, entry: Entry) -> int:
        """Queue one record for the next group and return the place it will have.

        Raises what the writer met, so that nothing goes on unrecorded.
        """
        line = _encode(entry) + b"\n"
        self._writer.add(self, line)
        place = self._end
        self._end += len(line)
        return place

    def write(self, lines: Sequence[bytes]) -> None:
        """Write a group and wait until it is on disk (called by the writer)."""
        data = memoryview(b"".join(lines))
        size = len(data)
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)
        self._written += size

    def close(self) -> None:
        """Write what is pending and release the lock."""
        self._writer.flush()
        os.close(self._file)


class GroupWriter:
    """One thread that writes the groups of all open journals: 64 records or 50 ms, whichever comes first."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._dirty: dict[Journal, None] = {}
        self._records = 0
        self._stop = False
        self._writing = False
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def add(self, journal: Journal, line: bytes) -> None:
        """Queue a line; raises `InputError` once a write has failed (disk full, read-only)."""
        with self._condition:
            self._raise_error()
            journal.pending.append(line)
            self._dirty[journal] = None
            self._records += 1
            if self._records in (
                1,
                GROUP_RECORDS,
            ):  # more than a group are waiting: the thread writes, and comes by itself
                self._condition.notify_all()

    def flush(self) -> None:
        """Return when everything queued so far is on disk."""
        with self._condition:
            while (self._dirty or self._writing) and not self._error:
                self._records = GROUP_RECORDS
                self._condition.notify_all()
                self._condition.wait(1)
            self._raise_error()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise InputError(
                f"the journal cannot be written ({self._error.strerror or self._error}); free the disk and run "
                "again: what was journaled is kept and is not asked again"
            ) from self._error

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._records > 0 or self._stop)
                if not self._stop:
                    self._condition.wait_for(lambda: self._records >= GROUP_RECORDS or self._stop, GROUP_SECONDS)
                groups = [(journal, journal.pending) for journal in self._dirty]
                for journal, _ in groups:
                    journal.pending = []
                self._dirty, self._records, self._writing = {}, 0, True
            try:
                for journal, lines in groups:
                    journal.write(lines)
            except OSError as error:
                self._error = error
            with self._condition:
                self._writing = False
                self._condition.notify_all()
                if self._error or (self._stop and not self._dirty):
                    return

    def __enter__(self) -> GroupWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._condition:
            self._stop = True
            self._condition.notify_all()
        self._thread.join()


@contextlib.contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Hold the pass of a journal until the block ends; raises `InputError` where another process writes it."""
    file = _locked(path)
    try:
        yield
    finally:
        os.close(file)


def _locked(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise InputError(f"{path} cannot be opened for writing ({error.strerror})") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        raise InputError(f"{path.parent} is being written by another process; wait for it or stop it") from error
    return file


def _cut_torn_line(file: int) -> int:
    size = os.fstat(file).st_size
    end = size
    while end:
        start = max(0, end - 65536)
        newline = os.pread(file, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(file, end)
    return size - end
