"""The workspace as the pages see it: read and verified, again when a file of it has changed, and scanned beside."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from ragassay.errors import InputError, VerifyError
from ragassay.manifest import LogFolder
from ragassay.manifest.files import INTENT, MANIFEST
from ragassay.publish.detect.hit import Detector
from ragassay.publish.reading import Reading, RowUp, Unit, reading_of, units_of, up_for_publishing
from ragassay.publish.review_folder import FOLDER as REVIEWED
from ragassay.publish.said import said_by_board, said_in_log
from ragassay.publish.texts import PublicText, public_texts
from ragassay.run.workspace import Workspace
from ragassay.site.loaded import LoadedRun
from ragassay.site.record import BoardPlan
from ragassay.site.runs import load_runs
from ragassay.web.scanned import Scanned
from ragassay.web.scanning import Scan

NOT_READ = frozenset({REVIEWED, "cache", "corpus", "passes", "calibration"})
"""Folders of a workspace that say nothing of its signed runs."""
MAX_DEPTH = 6

Stamp: TypeAlias = tuple[tuple[str, int, int, int, int], ...]
"""Path, size, times of content and of inode, and inode of every file that a snapshot was made from."""
PlanOf: TypeAlias = Callable[[], BoardPlan | None]


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace at one moment: every run, and of those up for publishing their rows, readings and units."""

    stamp: Stamp
    plan: BoardPlan | None
    runs: tuple[LoadedRun, ...]
    rows: tuple[RowUp, ...]
    readings: Mapping[str, Reading]
    """By run, in the order of the rows."""
    units: Mapping[str, Unit]
    """By key, in the order in which they are read."""
    log: Sequence[bytes]
    """The entries of the workspace's log, none of one that is damaged."""

    @property
    def up(self) -> Iterator[LoadedRun]:
        """Yield the runs that are up for publishing."""
        return (run for row in self.rows for run in row.runs)

    @property
    def refused(self) -> list[LoadedRun]:
        """Return the runs that could not be verified or were taken back."""
        return [run for run in self.runs if run.document is None]


class Snapshots:
    """Keeps the last snapshot of a workspace (its `.ragassay` folder), and the scan of it.

    `plan_of` reads the board file, `detectors_of` makes the detectors; both may raise `InputError`. `named` names runs
    that are up for publishing beside those of the board's main table.
    """

    def __init__(
        self,
        workspace: Path,
        plan_of: PlanOf,
        detectors_of: Callable[[], Sequence[Detector]],
        named: Sequence[str] = (),
    ) -> None:
        self.workspace = workspace
        self._named = tuple(named)
        self._plan_of = plan_of
        self._detectors_of = detectors_of
        self._made: Sequence[Detector] | None = None
        self._lock = threading.Lock()
        self._last: Snapshot | None = None
        self._scan: tuple[Snapshot, Scan] | None = None

    def now(self) -> Snapshot:
        """Return the workspace as it is: the last snapshot where nothing has changed since, else a new one.

        May take as long as verifying every run does. Raises `InputError`.
        """
        with self._lock:
            if self._last is not None and self._last.runs and not self.workspace.is_dir():
                raise InputError(
                    f"{self.workspace} is not there any more; put it back, or start the app where it is now"
                )
            plan, stamp = self._plan_of(), stamp_of(self.workspace)
            if self._last is None or (self._last.plan, self._last.stamp) != (plan, stamp):
                self._last = _snapshot(self.workspace, plan, stamp, self._named)
            return self._last

    def scanned(self, snapshot: Snapshot) -> Scanned:
        """Return how far the scan of a snapshot is, and begin it where nobody has; never waits for it."""
        with self._lock:
            if self._scan is None or self._scan[0] is not snapshot:
                if self._scan is not None:
                    self._scan[1].stop()
                self._scan = (snapshot, Scan(lambda: _texts(snapshot), snapshot.units, self._detectors))
                self._scan[1].start()
            return self._scan[1].found

    def _detectors(self) -> Sequence[Detector]:
        if self._made is None:
            self._made = self._detectors_of()
        return self._made


def _texts(snapshot: Snapshot) -> Iterator[PublicText]:
    """Yield the texts of the runs, then what becomes public beside any of them: the board file's words, the log."""
    ids = {run.id for run in snapshot.up}
    up = [run for run in snapshot.runs if run.id in ids]
    for run in up:
        yield from public_texts(run)
    yield from said_by_board(snapshot.plan)
    known = {run.files[name] for run in up for name in (MANIFEST, INTENT) if name in run.files}
    yield from said_in_log(snapshot.log, known)


def stamp_of(workspace: Path) -> Stamp:
    """Return what tells whether a file of the workspace has changed; folders of other use are not looked at."""
    return tuple(sorted(_files(workspace, "", 0)))


def _files(folder: Path, name: str, depth: int) -> Iterator[tuple[str, int, int, int, int]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return  # reading the runs says what is wrong with it
    for entry in entries:
        if depth == 0 and entry.name in NOT_READ:
            continue
        path = f"{name}/{entry.name}"
        try:
            if entry.is_dir() and depth < MAX_DEPTH:
                yield from _files(Path(entry.path), path, depth + 1)
            else:
                found = entry.stat()
                yield path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
        except OSError:
            yield path, -1, 0, 0, 0


def _snapshot(workspace: Path, plan: BoardPlan | None, stamp: Stamp, named: Sequence[str]) -> Snapshot:
    runs = load_runs(workspace)
    rows = up_for_publishing(runs, plan, named)
    up = [run for row in rows for run in row.runs]
    read = [(run.document, reading) for run in up if run.document is not None and (reading := reading_of(run))]
    return Snapshot(
        stamp=stamp,
        plan=plan,
        runs=tuple(runs),
        rows=tuple(rows),
        readings={reading.run: reading for _, reading in read},
        units={unit.key: unit for unit in units_of(read)},
        log=_entries(Workspace(workspace)),
    )


def _entries(workspace: Workspace) -> Sequence[bytes]:
    log = LogFolder(workspace.log, seen=workspace.log_seen)
    try:
        return log.view().entries if log.exists else ()
    except VerifyError:
        return ()  # the checks of every run say what is wrong with it
