"""Who was shown what, and who signed off which run: two files of a workspace, and what of them holds."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.log_disk import read_file, write_files
from ragassay.publish.reading import Reading, decisions_digest, reading_of
from ragassay.publish.review_folder import FOLDER
from ragassay.publish.review_lines import reader_file, reader_name
from ragassay.records.publication import Decision, Seen, SignOff
from ragassay.site.loaded import LoadedRun

SEEN = "seen.jsonl"
SIGN_OFFS = "signoffs.jsonl"
PLACES = "places"
MAX_PLACE_BYTES = 4096


class NotComplete(InputError):
    """A run cannot be signed off: `unread` are the units that the reader has not read, with the questions' ids."""

    def __init__(self, message: str, problems: Sequence[str] = (), *, unread: Sequence[str] = ()) -> None:
        super().__init__(message, problems)
        self.unread = tuple(unread)


class ReviewFile:
    """`review/seen.jsonl` and `review/signoffs.jsonl` of a workspace (its `.ragassay` folder).

    Several servers and threads may write at once; what a method that writes has returned is on the disk.
    """

    def __init__(self, workspace: Path) -> None:
        self._seen = reader_file(workspace, SEEN, Seen)
        self._signed = reader_file(workspace, SIGN_OFFS, SignOff)
        self._places = workspace / FOLDER / PLACES

    def seen(self, reader: str) -> list[str]:
        """Return the units that a reader has read and not taken back, in the order in which they were read.

        Raises `InputError` that names each line of the file that is none.
        """
        return _read_by(reader, self._seen.lines())

    def mark(self, reader: str, unit: str, *, at: int | None = None) -> None:
        """Store that a reader was shown a unit to its end; where that stands already nothing is written."""
        self._note(reader, unit, at, undone=False)

    def unmark(self, reader: str, unit: str, *, at: int | None = None) -> None:
        """Take back that a reader has read a unit; where it is not read nothing is written."""
        self._note(reader, unit, at, undone=True)

    def _note(self, reader: str, unit: str, at: int | None, *, undone: bool) -> None:
        name, when = reader_name(reader), _now(at)

        def after(lines: list[Seen]) -> list[Seen]:
            stands = unit in _read_by(name, lines)
            return [Seen(reader=name, unit=unit, at=when, undone=undone)] if stands is undone else []

        self._seen.append(after)

    def sign(self, reading: Reading, reader: str, decided: Iterable[Decision], *, at: int | None = None) -> SignOff:
        """Store that a reader signs off a run under the decisions that touch it, and return the line.

        Raises `NotComplete` while the reader has not read every unit of it. Whether every finding is decided is for
        the caller to know: see `ragassay.publish.decisions.undecided`.
        """
        (line,) = self.sign_all([(reading, decided)], reader, at=at)
        return line

    def sign_all(
        self, runs: Sequence[tuple[Reading, Iterable[Decision]]], reader: str, *, at: int | None = None
    ) -> list[SignOff]:
        """Store sign-offs of several runs together: all of them are on the disk, or none. Raises `NotComplete`."""
        name, when = reader_name(reader), _now(at)
        missing = {reading.run: unread(reading, self.seen(name)) for reading, _ in runs}
        if any(missing.values()):
            raise NotComplete(
                "what was not read cannot be signed off",
                [f"run {run}: {len(keys)} not read" for run, keys in missing.items() if keys],
                unread=[key for keys in missing.values() for key in keys],
            )
        new = [_sign_off(reading, name, when, decided) for reading, decided in runs]
        self._signed.append(lambda _lines: new)
        return new

    def sign_offs(self) -> list[SignOff]:
        """Return every line of the sign-offs, oldest first; raises `InputError` that names each that is none."""
        return self._signed.lines()

    def sign_offs_that_hold(self, run: LoadedRun, decisions: Sequence[Decision]) -> tuple[SignOff, ...]:
        """Return what holds of the sign-offs of a run, one per reader, oldest first; none where the run was refused.

        `decisions` are those that touch the run: `reading.touching(run.id, findings, decisions)`. A sign-off holds
        while the run's bytes, its rows and these decisions are what was signed, and its reader has not taken back the
        reading of one of its rows.
        """
        reading = reading_of(run)
        return () if reading is None else self.holding([(reading, decisions)])[run.id]

    def holding(self, runs: Iterable[tuple[Reading, Iterable[Decision]]]) -> dict[str, tuple[SignOff, ...]]:
        """Return what holds of the sign-offs of each of several runs, by run; both files are read once."""
        lines = self._seen.lines()
        by_run: dict[str, dict[str, SignOff]] = {}
        for line in self.sign_offs():
            by_run.setdefault(line.run, {})[line.reader] = line
        read = _read(lines)
        return {
            reading.run: _holding(reading, decisions_digest(decided), by_run.get(reading.run, {}), read)
            for reading, decided in runs
        }

    def place(self, reader: str) -> str | None:
        """Return the unit at which a reader was last, None where none is known."""
        path = self._place_file(reader)
        try:
            data = read_file(path, MAX_PLACE_BYTES)
            return None if data is None else msgspec.json.decode(data, type=_Place).unit
        except (InputError, msgspec.DecodeError):
            return None  # a bookmark is no record: reading begins at what is not read yet

    def keep_place(self, reader: str, unit: str) -> None:
        """Store the unit at which a reader is."""
        path = self._place_file(reader)
        write_files(path.parent, {path.name: msgspec.json.encode(_Place(reader=reader_name(reader), unit=unit))})

    def _place_file(self, reader: str) -> Path:
        return self._places / f"{canon.sha256(reader_name(reader).encode())[:32]}.json"


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """A bookmark."""

    reader: str
    unit: str


def unread(reading: Reading, seen: Iterable[str]) -> list[str]:
    """Return the units of a run that are not among those seen, in the rows' order, each once."""
    known = frozenset(seen)
    return [unit for unit in dict.fromkeys(reading.units) if unit not in known]


def _sign_off(reading: Reading, reader: str, at: int, decided: Iterable[Decision]) -> SignOff:
    return SignOff(
        run=reading.run,
        manifest=reading.manifest,
        reader=reader,
        at=at,
        items=len(reading.units),
        shown=reading.shown,
        decisions=decisions_digest(decided),
    )


def _holding(
    reading: Reading, decisions: str, lines: Mapping[str, SignOff], read: Mapping[str, Collection[str]]
) -> tuple[SignOff, ...]:
    wanted = (reading.manifest, len(reading.units), reading.shown, decisions)
    holding = [
        line
        for reader, line in lines.items()
        if (line.manifest, line.items, line.shown, line.decisions) == wanted
        and not unread(reading, read.get(reader, ()))
    ]
    return tuple(sorted(holding, key=lambda line: (line.at, line.reader)))


def _read_by(reader: str, lines: Iterable[Seen]) -> list[str]:
    return list(_read(line for line in lines if line.reader == reader).get(reader, ()))


def _read(lines: Iterable[Seen]) -> dict[str, dict[str, None]]:
    """Return what each reader has read and not taken back, in order."""
    found: dict[str, dict[str, None]] = {}
    for line in lines:
        units = found.setdefault(line.reader, {})
        units.pop(line.unit, None)
        if not line.undone:
            units[line.unit] = None
    return found


def _now(at: int | None) -> int:
    return int(time.time()) if at is None else at
