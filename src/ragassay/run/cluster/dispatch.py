"""Handing out questions to workers and taking back what is journaled of them; nothing here knows the cluster.

Each worker has a number of questions open at once, in the run's seeded order, and gets more as it ends some. What it
hands over is journaled at once, under this process's clock. Where a worker is lost, its open questions go first to
whoever is free, with what is journaled of them; one takes its place where one can be had.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence

import msgspec

from ragassay.errors import PluginError
from ragassay.records import Outcome, Question
from ragassay.run.cluster.links import Link, Lost, first_of
from ragassay.run.cluster.messages import Batch, Task, error_of
from ragassay.run.passes import PassRun, interleaved
from ragassay.run.state import ItemState
from ragassay.run.status import RunStatus

LOT = 8
"""Questions that are handed out at once."""
FORGIVEN = 100
"""Each time so many questions have ended, one more worker may be lost before the run is given up."""
HALT_S = 15.0
"""How long the workers of a run that ends early have to hand over what they have."""

Replace = Callable[[Link, str], Awaitable[Link | None]]
"""Called with a worker that is lost, and why; returns one in its place, None where there is room for none."""
Count = Callable[[Link, Batch], None]
"""Told of every batch that arrived."""
_Open = dict[tuple[str, str], Question]


class Dispatch:
    """Asks passes on workers. `links` are those that are there now."""

    def __init__(
        self, links: Sequence[Link], status: RunStatus, *, at_once: int, replace: Replace, count: Count
    ) -> None:
        self.links = list(links)
        self._status = status
        self._depth = max(1, -(-at_once // max(1, len(links))))
        self._least = max(1, min(LOT, self._depth // 4))
        """Fewer are not sent by themselves."""
        self._replace = replace
        self._count = count
        self._runs: dict[str, PassRun] = {}
        self._work: Iterator[tuple[PassRun, Question]] = iter(())
        self._again: deque[tuple[PassRun, Question]] = deque()
        self._under_way = 0
        self._acknowledged: dict[str, int] = {}
        self._changed = asyncio.Event()
        self._lost = 0
        self._ended = 0
        self._allowed = 3 + len(links)

    async def traverse(self, passes: Sequence[PassRun], *, seed: int) -> None:
        """Ask everything that is left to ask; returns early, with nothing half recorded, when `status.stop` is set."""
        self._runs = {run.run_id: run for run in passes}
        self._work = interleaved(passes, seed)
        warm = [_task(run, "", None) for run in {run.row.name: run for run in passes if run.course.left}.values()]
        try:
            async with asyncio.TaskGroup() as group:
                for link in list(self.links):
                    group.create_task(self._employ(link, warm))
        except BaseExceptionGroup as faults:
            await self._collect()
            raise first_of(faults) from None
        except asyncio.CancelledError:
            await self._collect()
            raise

    async def _employ(self, link: Link, warm: Sequence[Task]) -> None:
        """Keep one worker, and whoever takes its place, busy until nothing is left to ask."""
        while True:
            open_: _Open = {}
            try:
                await link.warm(warm)
                await self._serve(link, open_)
                return
            except Lost as why:
                self._take_back(link, open_)
                found = await self._successor(link, str(why), len(open_))
            if found is None:
                return
            link = found

    async def _serve(self, link: Link, open_: _Open) -> None:
        """Give a worker questions and journal what it hands over, until nothing is left to ask."""
        while True:
            while self._depth - len(open_) >= self._least and (lot := self._lot(min(LOT, self._depth - len(open_)))):
                for run, question in lot:  # open before it is sent: a worker that is lost meanwhile gives it back
                    open_[run.run_id, question.id] = question
                    self._under_way += 1
                await link.give([_task(run, question.id, _begun(run, question)) for run, question in lot])
            if not open_:
                if self._status.stop or not (self._under_way or self._again):
                    self._changed.set()
                    return
                self._changed.clear()
                await self._changed.wait()
                continue
            batch = await link.pull(self._acknowledged.get(link.name, 0))
            self._take(link, batch, open_)

    def _lot(self, size: int) -> list[tuple[PassRun, Question]]:
        """Return the next questions, those of lost workers first; none once the run is to stop."""
        found: list[tuple[PassRun, Question]] = []
        while len(found) < size and not self._status.stop:
            following = self._again.popleft() if self._again else next(self._work, None)
            if following is None:
                break
            found.append(following)
        return found

    def _take(self, link: Link, batch: Batch, open_: _Open | None) -> None:
        """Journal what a worker handed over, and count what has ended."""
        if batch.number <= self._acknowledged.get(link.name, 0):
            return
        self._acknowledged[link.name] = batch.number
        now = time.time_ns() // 1_000_000
        for kept in batch.kept:
            self._runs[kept.run_id].take(msgspec.structs.replace(kept.entry, at=now))
        for ended in batch.ended:
            self._ended += 1
            outcome = Outcome(question=ended.q, status=ended.status, score=ended.score)
            self._status.ended(self._runs[ended.run_id].row.name, outcome)
            if open_ is not None:
                del open_[ended.run_id, ended.q]
                self._under_way -= 1
        if batch.ended:
            self._changed.set()
        self._status.notes += [note for note in batch.notes if note not in self._status.notes]
        self._count(link, batch)
        if batch.fault is not None:
            raise error_of(batch.fault)

    def _take_back(self, link: Link, open_: _Open) -> None:
        self.links.remove(link)
        for (run_id, _), question in reversed(open_.items()):
            self._again.appendleft((self._runs[run_id], question))
        self._under_way -= len(open_)
        self._lost += 1
        self._changed.set()

    async def _successor(self, link: Link, why: str, open_: int) -> Link | None:
        """Return a worker in place of one that is lost, None where the others do; raises where that is hopeless."""
        self._status.notes.append(
            f"worker {link.name} was lost ({why}); its {open_} open questions are asked by others, "
            "from what is journaled of them"
        )
        if self._lost > self._allowed + self._ended // FORGIVEN:
            raise PluginError(
                f"{self._lost} workers were lost, the last with {open_} questions open ({why}); what was journaled is "
                "kept: run the same command again to continue, without --executor to see what ends them"
            )
        found = await self._unless_done(self._replace(link, why))
        if found is not None:
            self.links.append(found)
        elif not self.links and not self._done():
            raise PluginError(
                f"no worker is left: the last was lost ({why}); what was journaled is kept: run the same command again "
                "to continue"
            )
        return found

    def _done(self) -> bool:
        return self._status.stop or not (self._under_way or self._again)

    async def _unless_done(self, work: Awaitable[Link | None]) -> Link | None:
        """Wait for a replacement no longer than there is something for it to do."""
        replacing = asyncio.ensure_future(work)
        try:
            while not replacing.done() and not (self._done() and self.links):
                await asyncio.wait({replacing}, timeout=0.5)
            return replacing.result() if replacing.done() else None
        finally:
            replacing.cancel()

    async def _collect(self) -> None:
        """Stop all workers, and journal what they had not handed over."""

        async def halt(link: Link) -> list[Batch]:
            try:
                return await link.halt(self._acknowledged.get(link.name, 0))
            except Lost:
                return []

        halting = {link.name: (link, asyncio.ensure_future(halt(link))) for link in self.links}
        if halting:
            await asyncio.wait([task for _, task in halting.values()], timeout=HALT_S)
        for link, task in halting.values():
            for batch in task.result() if task.done() and not task.exception() else []:
                batch.fault = None  # the run ends for the first
                self._take(link, batch, None)


def _task(run: PassRun, question: str, state: ItemState | None) -> Task:
    return Task(row=run.row.name, k=run.k, run_id=run.run_id, q=question, state=state)


def _begun(run: PassRun, question: Question) -> ItemState | None:
    """Return what is journaled of a question; None where nothing is."""
    state = run.course.open(question.id)
    return None if state == ItemState() else state
