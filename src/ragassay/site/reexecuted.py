"""Reads what a workspace saw when it executed its runs again."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.records import Reexecution
from ragassay.records.reexecution import FOLDER
from ragassay.site.loaded import LoadedRun
from ragassay.site.rung import with_record, without_record

MAX_BYTES = 1 << 14


def observed(run: LoadedRun, workspace: Path) -> LoadedRun:
    """Return a verified run with the record of its re-execution, if the workspace (a `.ragassay` folder) has one.

    A refused run is returned as it is: nothing is said of it.
    """
    if run.document is None:
        return run
    try:
        with (workspace / FOLDER / f"{run.id}.json").open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        record = msgspec.convert(canon.load_strict(data, max_bytes=MAX_BYTES), Reexecution)
    except FileNotFoundError:
        return run
    except (OSError, ValueError) as error:
        return without_record(run, f"the workspace's record of it cannot be read: {error}")
    return with_record(run, record)
