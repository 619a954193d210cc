"""A worker's line to the cluster's limiter: it stands where the limiter and the budget of one process stand.

What is said within one turn of the loop goes as one message. Calls may come from other threads and loops, as those of
a stack's own model do.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Awaitable, Callable
from typing import NoReturn

import msgspec

from ragassay.errors import ModelError, PluginError, RagassayError
from ragassay.run.board_file import LOCAL_MODELS, Limits, ModelTable
from ragassay.run.budget import Amount, Budget, Need
from ragassay.run.cluster.gate_messages import (
    Cool,
    Correct,
    Drop,
    Grant,
    Known,
    Refused,
    Release,
    Said,
    Served,
    Spend,
    Want,
    encode,
    read_grants,
)
from ragassay.run.cluster.messages import error_of, fault_of
from ragassay.run.embedding_gate import EmbeddingGate
from ragassay.run.limiter import Limiter, Ticket
from ragassay.run.limits import Endpoint

Tell = Callable[[int, bytes], Awaitable[bytes]]
"""Hands numbered messages to the gate; returns grants."""
Wait = Callable[[], Awaitable[bytes]]
"""Returns grants when there are some, or none after a while."""


class _Waiting(msgspec.Struct):
    future: asyncio.Future[Ticket | RagassayError]
    loop: asyncio.AbstractEventLoop


class GateLine:
    """Sends what is said in order, and settles the calls that wait; made in the loop that sends."""

    def __init__(self, tell: Tell, wait: Wait) -> None:
        self._tell = tell
        self._wait = wait
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._outbox: list[Said] = []
        self._due = False
        self._numbers = itertools.count()
        self._ids = itertools.count()
        self._waiting: dict[int, _Waiting] = {}
        self._waiter: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._broken: RagassayError | None = None

    def say(self, said: Said) -> None:
        """Send a message, from whatever thread."""
        with self._lock:
            self._outbox.append(said)
            due, self._due = self._due, True
        if not due:
            self._loop.call_soon_threadsafe(self._flush)

    async def acquire(self, endpoint: str, need: Need | None) -> Ticket:
        """Return the ticket under which a call may start; raises what the gate refuses it with."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(loop.create_future(), loop)
        with self._lock:
            if self._broken is not None:
                raise self._broken
            id = next(self._ids)
            self._waiting[id] = waiting
        self.say(Want(endpoint=endpoint, id=id, need=need))
        try:
            found = await waiting.future
        except asyncio.CancelledError:
            with self._lock:
                self._waiting.pop(id, None)
            self.say(Drop(endpoint=endpoint, id=id, need=need))
            raise
        if isinstance(found, RagassayError):
            raise found
        return found

    def _flush(self) -> None:
        with self._lock:
            said, self._outbox, self._due = self._outbox, [], False
        self._begin(self._send(next(self._numbers), said))

    async def _send(self, number: int, said: list[Said]) -> None:
        try:
            grants = await self._tell(number, encode(said))
        except Exception as error:  # noqa: BLE001 - whatever stands in the way of the gate, no call may start
            self._break(error)
            return
        self._settle(read_grants(grants))
        if self._waiting and (self._waiter is None or self._waiter.done()):
            self._waiter = self._begin(self._await_grants())

    async def _await_grants(self) -> None:
        while self._waiting and self._broken is None:
            try:
                grants = await self._wait()
            except Exception as error:  # noqa: BLE001 - as above
                self._break(error)
                return
            self._settle(read_grants(grants))

    def _begin(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task: asyncio.Task[None] = self._loop.create_task(work)  # type: ignore[arg-type]  # always a coroutine
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _settle(self, grants: list[Grant]) -> None:
        for grant in grants:
            with self._lock:
                waiting = self._waiting.pop(grant.id, None)
            if waiting is not None:  # else it was cancelled, and the gate is being told
                found = error_of(grant.fault) if grant.fault is not None else grant.ticket
                assert found is not None
                waiting.loop.call_soon_threadsafe(_set, waiting.future, found)

    def _break(self, error: Exception) -> None:
        with self._lock:
            self._broken = PluginError(f"the limiter of the cluster is gone ({type(error).__name__}): run again")
            waiting, self._waiting = list(self._waiting.values()), {}
        for one in waiting:
            one.loop.call_soon_threadsafe(_set, one.future, self._broken)


def _set(future: asyncio.Future[Ticket | RagassayError], found: Ticket | RagassayError) -> None:
    if not future.done():
        future.set_result(found)


class LineLimiter(Limiter):
    """One endpoint's limiter, kept by the gate."""

    def __init__(self, line: GateLine, endpoint: str, limits: Limits, *, counted: bool) -> None:
        super().__init__(limits, Budget())
        self._line = line
        self._endpoint = endpoint
        line.say(Known(endpoint=endpoint, limits=limits, counted=counted))

    async def acquire(self, need: Need | None) -> Ticket:
        """Wait until the gate lets a call start."""
        return await self._line.acquire(self._endpoint, need)

    def release(self, need: Need | None) -> None:
        """Tell that a call has ended."""
        self._line.say(Release(endpoint=self._endpoint, need=need))

    def succeeded(self, ticket: Ticket) -> None:
        """Tell that a call was served."""
        self._line.say(Served(endpoint=self._endpoint, ticket=ticket))

    def refused(self, ticket: Ticket, error: ModelError) -> None:
        """Tell that a call was refused for its rate."""
        self._line.say(Refused(endpoint=self._endpoint, ticket=ticket, fault=fault_of(error)))

    def cool(self, error: ModelError) -> None:
        """Tell of a failure with which the server may have named a time."""
        if error.retry_after_s is not None:
            self._line.say(Cool(endpoint=self._endpoint, fault=fault_of(error)))

    def correct(self, need: Need, tokens: int) -> None:
        """Tell how many tokens a call took."""
        self._line.say(Correct(endpoint=self._endpoint, need=need, tokens=tokens))


class LineBudget(Budget):
    """The board's budget, kept by the gate: what is spent is told, and room is the gate's business."""

    def __init__(self, line: GateLine, max_microusd: int | None, max_tokens: int | None) -> None:
        super().__init__(max_microusd, max_tokens=max_tokens)
        self._line = line

    def spend(self, amount: Amount, *, estimated: bool = False) -> None:
        """Tell what a call took."""
        if amount != (0, 0) or estimated:
            self._line.say(Spend(endpoint="", amount=amount, estimated=estimated))

    def has_room(self, need: Need) -> NoReturn:
        """Never asked here."""
        raise AssertionError("room in the budget is the gate's business")


class OnLine:
    """Puts models and embedders behind the gate: each endpoint of the board has one limiter for all workers."""

    def __init__(self, line: GateLine) -> None:
        self._line = line

    def model(self, name: str, endpoint: Endpoint, table: ModelTable) -> None:
        """Put a model's endpoint behind the gate."""
        counted = table.kind not in LOCAL_MODELS
        if counted:  # a model in this process is limited by this process
            endpoint.limiter = LineLimiter(self._line, f"model {name}", table.limits, counted=True)

    def embedder(self, name: str) -> Callable[..., EmbeddingGate]:
        """Return what makes an embedder's gate: its limits hold for all workers together."""

        def gate(*, concurrency: int, requests_per_minute: int | None, tokens_per_minute: int | None) -> EmbeddingGate:
            limits = Limits(
                concurrency=concurrency, requests_per_minute=requests_per_minute, tokens_per_minute=tokens_per_minute
            )
            made = EmbeddingGate(limits)
            made.limiter = LineLimiter(self._line, f"embedder {name}", limits, counted=False)
            return made

        return gate
