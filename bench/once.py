"""Run one board through the library in this process and print what it took as JSON.

With `--resume` the run stops when everything is asked and journaled, and is then continued up to the first question
that would be asked: an executor of its own ends it there.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Sequence
from pathlib import Path

from ragassay.manifest import generate_key
from ragassay.run.board_file import load_board
from ragassay.run.board_run import Ended, plan_passes, run_passes
from ragassay.run.executor import Executor, Local
from ragassay.run.loop import to_end
from ragassay.run.passes import PassRun
from ragassay.run.plan import PassPlan
from ragassay.run.prepared import Options, Prepared, build_rows, prepare
from ragassay.run.registration import Registrar
from ragassay.run.status import RunStatus
from ragassay.run.workspace import Workspace
from ragassay.seams import Progress


class Stopped(Exception):
    """Ends a run where this bench has seen enough."""


class Watched:
    """Asks as a run does, and keeps when asking began and ended."""

    def __init__(self, *, then_stop: bool = False, ask: bool = True) -> None:
        self.began_cpu_s = self.began_s = self.took_s = 0.0
        self._then_stop = then_stop
        self._ask = ask

    async def ask_all(self, passes: Sequence[PassRun], prepared: Prepared, status: RunStatus) -> None:
        """Ask what is left, if this one asks, and end the run, if this one ends it."""
        self.began_cpu_s, self.began_s = time.process_time(), time.perf_counter()
        if self._ask:
            await Local().ask_all(passes, prepared, status)
        self.took_s = time.perf_counter() - self.began_s
        if self._then_stop:
            raise Stopped


class Board:
    """One board, prepared, planned and announced."""

    def __init__(self, path: Path) -> None:
        board = load_board(path)
        self.space, self.options, self.status = Workspace(path.parent / ".ragassay"), Options(), RunStatus()
        self.prepared = prepare(board, self.space, {}, self.options, _silent)
        self.rows = build_rows(self.prepared, self.space, self.options, _silent, self.status)
        self.registrar = Registrar(self.space, generate_key(), generate_key("log"))
        self.plans: list[PassPlan] = plan_passes(
            self.rows, self.prepared.benchmark, self.space, self.registrar, self.options
        )

    def run(self, executor: Executor) -> list[Ended]:
        """Ask and sign."""
        work = run_passes(
            self.prepared,
            self.rows,
            self.plans,
            self.space,
            registrar=self.registrar,
            options=self.options,
            status=self.status,
            executor=executor,
        )
        return to_end(work)


def _silent(what: str) -> Progress:
    return lambda done, total: None


def _whole(board: Board) -> dict[str, float]:
    """Return wall and CPU of asking and signing, the wall of asking alone, and the CPU of the start."""
    watched = Watched()
    began, cpu = time.perf_counter(), time.process_time()
    ended = board.run(watched)
    took = {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}
    assert all(end.held is None and not end.missing for end in ended), ended
    return {**took, "asking_s": watched.took_s, "start_cpu_s": watched.began_cpu_s}


def _resumed(board: Board) -> dict[str, float]:
    """Return wall and CPU from the start of a continued run until its first question could be asked."""
    for executor in (Watched(then_stop=True), again := Watched(then_stop=True, ask=False)):
        began, cpu = time.perf_counter(), time.process_time()
        try:
            board.run(executor)
        except Stopped:
            continue
        raise AssertionError("the run was not stopped")
    left = sum(row.asked - row.done for row in board.status.rows.values())
    asked = sum(row.resumed for row in board.status.rows.values())
    assert left == 0 or asked, (left, asked)
    return {"resume_s": again.began_s - began, "resume_cpu_s": again.began_cpu_s - cpu, "resumed": asked}


def main() -> None:
    """Run the board and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("board", type=Path)
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    board = Board(args.board)
    figures = _resumed(board) if args.resume else _whole(board)
    figures["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(figures))


main()
