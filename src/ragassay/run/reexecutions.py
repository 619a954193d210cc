"""Keeps in a workspace what came of executing its runs again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from ragassay import __version__, canon
from ragassay.manifest import MANIFEST
from ragassay.records import Reexecution, to_json
from ragassay.records.reexecution import FOLDER
from ragassay.run.rerun_rows import Rerun
from ragassay.run.workspace import write_bytes


def keep(rerun: Rerun, run_id: str, files: Mapping[str, bytes], workspace: Path) -> Path | None:
    """Write the record of a re-execution that came to an end, as a whole, over an earlier one; return its path.

    Where it was not possible nothing is written and an earlier record stays: it says when it was made. Raises
    `InputError` where the workspace cannot be written.
    """
    if rerun.outcome == "not possible" or rerun.content is None:
        return None
    record = Reexecution(
        run=run_id,
        manifest=canon.sha256(files[MANIFEST]),
        outcome=rerun.outcome,
        rows=rerun.rows,
        differing=rerun.differing,
        content=rerun.content,
        harness=__version__,
        at=int(time.time()),
    )
    path = workspace / FOLDER / f"{run_id}.json"
    write_bytes(path, canon.canonical(to_json(record)) + b"\n")
    return path
