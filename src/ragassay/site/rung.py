"""How far a run is believed: republished, measured, or executed again in this workspace with equal results. Pure."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.manifest.files import MANIFEST
from ragassay.manifest.statement import RunDocument
from ragassay.records import Reexecution
from ragassay.site.loaded import Check, LoadedRun
from ragassay.site.numbers import plural
from ragassay.site.record import Rung, RunLine

CODE = "RERUN_DIFFERS"
NOT_SIGNED = "this workspace saw it; it is no part of what is signed"
RUNGS: tuple[Rung, ...] = ("republished", "measured", "re-executed")
"""The weakest first."""


def rungs_of(documents: Sequence[RunDocument], seen: Mapping[str, Reexecution]) -> dict[str, Rung]:
    """Return the rung of each verified run by its id; `seen` holds the records of these very runs by id."""
    return {d.predicate.run_id: _rung(d, seen.get(d.predicate.run_id)) for d in documents}


def _rung(document: RunDocument, seen: Reexecution | None) -> Rung:
    if document.predicate.provenance.source_kind != "measured":
        return "republished"
    return "re-executed" if seen is not None and seen.outcome == "equal" else "measured"


def weakest(lines: Sequence[RunLine]) -> Rung | None:
    """Return the rung that every one of some runs has reached, None where there is no run."""
    return min((line.rung for line in lines), key=RUNGS.index, default=None)


def differs(seen: Reexecution | None) -> str | None:
    """Return why a run that came out different does not count, or None."""
    if seen is None or seen.outcome == "equal":
        return None
    return f"{CODE}: executed again, {seen.differing} of {plural(seen.rows, 'row')} came out different"


def with_record(run: LoadedRun, record: Reexecution) -> LoadedRun:
    """Return a run with what a record of its re-execution says, as a check; one of other bytes has no effect."""
    if record.run != run.id or record.manifest != canon.sha256(run.files[MANIFEST]):
        return without_record(run, "the record is of other bytes than this run's")
    how = f"on {time.strftime('%Y-%m-%d', time.gmtime(record.at))} with ragassay {record.harness} ({NOT_SIGNED})"
    if (why := differs(record)) is not None:
        failed = Check(code=CODE, severity="fail", text=f"{why.removeprefix(f'{CODE}: ')}, {how}")
        return msgspec.structs.replace(run, checks=(failed, *run.checks), reexecution=record)
    made = Check(code="", severity="ok", text=f"re-executed with equal content, counts and score {how}")
    return msgspec.structs.replace(run, checks=(*run.checks, made), reexecution=record)


def without_record(run: LoadedRun, problem: str) -> LoadedRun:
    """Return a run with the check that was not made, because its record cannot be used."""
    lost = Check(code="", severity="not_made", text=f"re-execution: {problem}")
    return msgspec.structs.replace(run, checks=(*run.checks, lost))
