"""Who asks the questions of the passes: this process, unless another executor is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragassay.run.course import BEGUN, FAILED, NEW
from ragassay.run.passes import PassRun, traverse
from ragassay.run.prepared import Prepared
from ragassay.run.status import RunStatus

FEW = 10
"""A pass of which at most one question in ten failed for a service's sake has those asked once more before it ends."""


class Executor(Protocol):
    """Asks what is left of passes; each entry of a journal goes through `PassRun.take` of its pass, in order."""

    async def ask_all(self, passes: Sequence[PassRun], prepared: Prepared, status: RunStatus) -> None:
        """Ask what is left of every pass, once more where a service failed on few questions."""
        ...


class Local:
    """Asks in this process."""

    async def ask_all(self, passes: Sequence[PassRun], prepared: Prepared, status: RunStatus) -> None:
        """Search once in every row, then ask what is left of every pass, and again where few questions failed."""
        seed, workers = prepared.board.seed, at_once(prepared)
        await _warm_up(passes, status)
        await traverse(passes, seed=seed, workers=workers, status=status)
        if few := [] if status.stop else few_failed(passes, status):
            await traverse(few, seed=seed, workers=workers, status=status)


async def _warm_up(passes: Sequence[PassRun], status: RunStatus) -> None:
    """Search once in every row that has something to ask, one row after the other."""
    for run in {run.row.name: run for run in passes if run.course.left}.values():
        if (failed := await run.warm_up()) is not None:
            status.notes.append(f"{run.row.name}: {failed}")


def few_failed(passes: Sequence[PassRun], status: RunStatus) -> list[PassRun]:
    """Return the passes in which a service failed on few questions, which are then asked once more."""
    few = []
    for run in passes:
        stands = run.course.count()
        if 0 < stands[NEW] + stands[BEGUN] + stands[FAILED] <= stands.total() // FEW:
            few.append(run)
            for question in run.course.to_ask():
                if (failed := run.course.failure(question.id)) is not None:
                    status.reopened(run.row.name, failed)
    return few


def at_once(prepared: Prepared) -> int:
    """Return how many questions are under way at most, over all rows."""
    if prepared.board.concurrency is not None:
        return prepared.board.concurrency
    judging = prepared.board.judge.model.limits.concurrency if prepared.board.judge.model else 0
    return 2 * (prepared.board.answer.limits.concurrency + judging)
