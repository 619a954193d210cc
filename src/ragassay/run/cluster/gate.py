"""The one place of a cluster where a call may start: every endpoint's limiter, and the board's budget.

It runs as an actor on the machine that the run was started on. Workers ask it for each call and tell it what came of
it; the slots of a worker that is gone come back, and its calls count by their estimate: what they took, nobody will
learn.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from ragassay.errors import InputError, ModelError
from ragassay.run.budget import Budget, Need
from ragassay.run.cluster.gate_messages import (
    Cool,
    Correct,
    Drop,
    Figures,
    Grant,
    Known,
    Refused,
    Release,
    Said,
    Served,
    Spend,
    Want,
    encode,
    read_figures,
    read_said,
)
from ragassay.run.cluster.messages import Fault, error_of, fault_of
from ragassay.run.limiter import Limiter

WAIT_S = 5.0
"""How long a worker that waits for grants waits at a time."""


class Line:
    """What the gate knows of one worker: what it said out of turn, calls that wait, calls under way, unsent grants."""

    def __init__(self) -> None:
        self.next = 0
        self.early: dict[int, list[Said]] = {}
        self.waiting: dict[int, asyncio.Task[None]] = {}
        self.under_way: Counter[tuple[str, Need | None]] = Counter()
        self.grants: list[Grant] = []
        self.granted = asyncio.Event()


class Gate:
    """Limiters by endpoint and the budget, for the workers that `tell` and `wait`."""

    def __init__(self) -> None:
        self._budget = Budget()
        self._limiters: dict[str, Limiter] = {}
        self._counted: dict[str, bool] = {}
        self._lines: dict[str, Line] = {}
        self._gone: set[str] = set()

    async def begin(self, data: bytes) -> None:
        """Take over the budget's caps, and add what was spent before."""
        given, budget = read_figures(data), self._budget
        budget.max_microusd, budget.max_tokens = given.max_microusd, given.max_tokens
        budget.resume(given.spent, estimated=given.estimated, estimated_calls=given.estimated_calls)

    async def tell(self, worker: str, number: int, data: bytes) -> bytes:
        """Take what a worker says, in the order in which it numbered it; return what can be granted now."""
        line = self._line(worker)
        line.early[number] = read_said(data)
        while (said := line.early.pop(line.next, None)) is not None:
            line.next += 1
            for one in said:
                self._take(worker, line, one)
        await asyncio.sleep(0)  # a call that finds a free slot is granted within one turn of the loop
        await asyncio.sleep(0)
        return self._granted(line)

    async def wait(self, worker: str) -> bytes:
        """Return grants as soon as there are some, or none after a while."""
        line = self._line(worker)
        try:
            await asyncio.wait_for(line.granted.wait(), WAIT_S)
        except TimeoutError:
            return encode([])
        return self._granted(line)

    async def forget(self, worker: str) -> None:
        """Give back what a worker held that is gone."""
        self._gone.add(worker)
        line = self._lines.pop(worker, None)
        if line is None:
            return
        for task in line.waiting.values():
            task.cancel()
        for (endpoint, need), count in line.under_way.items():
            for _ in range(count):
                if need is not None and self._counted[endpoint]:
                    self._budget.spend(need.expected, estimated=True)
                self._limiters[endpoint].release(need)

    async def figures(self) -> bytes:
        """Return the budget and what the limiters did."""
        budget = self._budget
        found = Figures(
            spent=type(budget.estimated)(budget.spent_tokens, budget.spent_microusd),
            estimated=budget.estimated,
            estimated_calls=budget.estimated_calls,
            limiters={name: limiter.report() for name, limiter in self._limiters.items()},
        )
        return encode(found)

    def _line(self, worker: str) -> Line:
        if worker in self._gone:
            raise ModelError("this worker was given up", kind="connection", retryable=False)
        return self._lines.setdefault(worker, Line())

    def _granted(self, line: Line) -> bytes:
        grants, line.grants = line.grants, []
        line.granted.clear()
        return encode(grants)

    def _take(self, worker: str, line: Line, said: Said) -> None:
        if isinstance(said, Spend):
            self._budget.spend(said.amount, estimated=said.estimated)
            return
        if isinstance(said, Known):
            if said.endpoint not in self._limiters:
                self._limiters[said.endpoint] = Limiter(said.limits, self._budget if said.counted else Budget())
                self._counted[said.endpoint] = said.counted
            return
        limiter = self._limiters[said.endpoint]
        if isinstance(said, Want):
            task = asyncio.get_running_loop().create_task(self._acquire(line, limiter, said))
            line.waiting[said.id] = task
        elif isinstance(said, Drop):
            self._drop(line, limiter, said)
        elif isinstance(said, Served):
            limiter.succeeded(said.ticket)
        elif isinstance(said, Refused):
            limiter.refused(said.ticket, _model_error(said.fault))
        elif isinstance(said, Cool):
            limiter.cool(_model_error(said.fault))
        elif isinstance(said, Correct):
            limiter.correct(said.need, said.tokens)
        else:
            self._release(line, limiter, said)

    async def _acquire(self, line: Line, limiter: Limiter, want: Want) -> None:
        try:
            ticket = await limiter.acquire(want.need)
        except (InputError, ModelError) as error:
            grant = Grant(id=want.id, fault=fault_of(error))
        else:
            grant = Grant(id=want.id, ticket=ticket)
            line.under_way[want.endpoint, want.need] += 1
        del line.waiting[want.id]
        line.grants.append(grant)
        line.granted.set()

    def _drop(self, line: Line, limiter: Limiter, said: Drop) -> None:
        task = line.waiting.pop(said.id, None)
        if task is not None:
            task.cancel()
        elif line.under_way[said.endpoint, said.need]:
            if said.need is not None:
                limiter.correct(said.need, 0)
            self._release(line, limiter, said)

    def _release(self, line: Line, limiter: Limiter, said: Release | Drop) -> None:
        line.under_way[said.endpoint, said.need] -= 1
        if not line.under_way[said.endpoint, said.need]:
            del line.under_way[said.endpoint, said.need]
        limiter.release(said.need)


def _model_error(fault: Fault) -> ModelError:
    error: Any = error_of(fault)
    assert isinstance(error, ModelError)
    return error
