"""Run one board through the library and print wall and CPU of asking, and peak memory, as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import uvloop

from ragassay.manifest import generate_key
from ragassay.run.board_file import load_board
from ragassay.run.board_run import plan_passes, run_passes
from ragassay.run.prepared import Options, build_rows, prepare
from ragassay.run.registration import Registrar
from ragassay.run.status import RunStatus
from ragassay.run.workspace import Workspace
from ragassay.seams import Progress


def _silent(what: str) -> Progress:
    return lambda done, total: None


def main(path: Path) -> None:
    """Run the board and print the figures."""
    board = load_board(path)
    space = Workspace(path.parent / ".ragassay")
    options = Options()
    status = RunStatus()
    prepared = prepare(board, space, {}, options, _silent)
    rows = build_rows(prepared, space, options, _silent, status)
    registrar = Registrar(space, generate_key(), generate_key("log"))
    plans = plan_passes(rows, prepared.benchmark, space, registrar, options)
    began, cpu = time.perf_counter(), time.process_time()
    work = run_passes(prepared, rows, plans, space, registrar=registrar, options=options, status=status)
    ended = uvloop.run(work)
    figures = {
        "wall_s": time.perf_counter() - began,
        "cpu_s": time.process_time() - cpu,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    assert all(end.held is None and not end.missing for end in ended), ended
    print(json.dumps(figures))


main(Path(sys.argv[1]))
