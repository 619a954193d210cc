"""What a worker has to hand over: entries in order, kept until the next batch is asked for."""

from __future__ import annotations

import asyncio

from ragassay.records import Outcome
from ragassay.run.cluster.messages import Batch, Ended, Kept, fault_of
from ragassay.run.journal import Entry
from ragassay.run.limits import Endpoint

GATHER_S = 0.003
"""How long a batch that has begun waits for more: it delays no question."""


class Outbox:
    """Takes entries, ends, notes and a fault; `batch` gives them out, the last one again until it is acknowledged."""

    def __init__(self) -> None:
        self._next = Batch()
        self._sent = Batch()
        self._filled = asyncio.Event()
        self._said: set[str] = set()

    def keep(self, run_id: str, entry: Entry) -> None:
        """Take one record for a journal."""
        self._next.kept.append(Kept(run_id=run_id, entry=entry))
        self._filled.set()

    def end(self, run_id: str, outcome: Outcome) -> None:
        """Take the end of a question."""
        ended = Ended(run_id=run_id, q=outcome.question, status=outcome.status, score=outcome.score)
        self._next.ended.append(ended)
        self._filled.set()

    def note(self, line: str) -> None:
        """Take a line for whoever runs the board."""
        self._next.notes.append(line)
        self._filled.set()

    def note_once(self, line: str) -> None:
        """Take a line that was perhaps taken before."""
        if line not in self._said:
            self._said.add(line)
            self.note(line)

    def fail(self, error: BaseException) -> None:
        """Take what the run as a whole cannot go on with; the first counts."""
        if self._next.fault is None:
            self._next.fault = fault_of(error)
        self._filled.set()

    async def batch(self, acknowledged: int, wait_s: float) -> Batch:
        """Return the next batch, empty where nothing came for a while, or the last one if it did not arrive."""
        if self._sent.number > acknowledged:
            return self._sent
        if not self._filled.is_set():
            try:
                await asyncio.wait_for(self._filled.wait(), wait_s)
            except TimeoutError:
                return Batch(number=self._sent.number)
        await asyncio.sleep(GATHER_S)
        return self._seal()

    def rest(self, acknowledged: int) -> list[Batch]:
        """Return all that has not arrived."""
        before = [self._sent] if self._sent.number > acknowledged else []
        return [*before, self._seal()]

    def _seal(self) -> Batch:
        self._sent, self._next = self._next, Batch(number=self._next.number + 1)
        self._sent.number = self._next.number
        self._filled.clear()
        return self._sent

    def count(self, batch: Batch, endpoints: dict[str, Endpoint]) -> Batch:
        """Put the calls so far into a batch."""
        batch.calls = {name: one.calls for name, one in endpoints.items()}
        batch.retries = {name: dict(one.retries) for name, one in endpoints.items()}
        return batch


class Keeper:
    """The journal of one pass as its worker sees it."""

    def __init__(self, outbox: Outbox, run_id: str) -> None:
        self._outbox = outbox
        self._run_id = run_id

    def append(self, entry: Entry) -> int:
        """Hand a record over; its place is the journal's business."""
        self._outbox.keep(self._run_id, entry)
        return 0
