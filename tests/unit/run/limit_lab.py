"""Servers with hidden limits in virtual time, and an endpoint in front of them."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragassay.errors import ModelError, ModelErrorKind
from ragassay.records import JSON, Message, Reply, Usage
from ragassay.run.board_file import Limits
from ragassay.run.budget import Budget
from ragassay.run.limits import Endpoint

MESSAGES = (Message(role="user", content="How many grams does the part weigh? " * 10),)
Clock = Callable[[], float]


def fault(kind: ModelErrorKind, *, retryable: bool = True, retry_after_s: float | None = None) -> ModelError:
    """Return a failure of a kind."""
    return ModelError(kind, kind=kind, retryable=retryable, retry_after_s=retry_after_s)


class HiddenServer:
    """A server that refuses as its hidden limits say; it keeps when each call came and which were refused."""

    def __init__(
        self,
        clock: Clock,
        *,
        at_once: int | None = None,
        per_minute: int | None = None,
        refuse: Callable[[int], ModelError | None] = lambda _: None,
        latency_s: float = 1.0,
        jitter: float = 0.2,
        usage: Callable[[int], Usage] = lambda _: Usage(input_tokens=100, output_tokens=50),
        names_the_time: bool = False,
    ) -> None:
        self.clock = clock
        self.at_once = at_once
        self.per_minute = per_minute
        self.refuse = refuse
        self.latency_s = latency_s
        self.jitter = jitter
        self.usage = usage
        self.names_the_time = names_the_time
        self.random = random.Random(4)
        self.came: list[float] = []
        self.refused = 0
        self.served = 0
        self.now = self.peak = 0
        self.load: list[tuple[float, int]] = []
        self._minute: deque[float] = deque()

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Refuse at once, or serve after the latency."""
        call = len(self.came)
        at = self.clock()
        self.came.append(at)
        if (error := self.refuse(call) or self._over(at)) is not None:
            self.refused += 1
            await asyncio.sleep(0.02)
            raise error
        self._minute.append(at)
        self.now += 1
        self.peak = max(self.peak, self.now)
        self.load.append((at, self.now))
        try:
            await asyncio.sleep(self.latency_s * self.random.uniform(1 - self.jitter, 1 + self.jitter))
        finally:
            self.now -= 1
        self.served += 1
        return Reply(text="x" * 200, usage=self.usage(call), latency_ms=1000)

    def _over(self, at: float) -> ModelError | None:
        while self._minute and self._minute[0] <= at - 60:
            self._minute.popleft()
        if self.per_minute is not None and len(self._minute) >= self.per_minute:
            wait = self._minute[0] + 60 - at if self.names_the_time else None
            return fault("rate_limited", retry_after_s=wait)
        if self.at_once is not None and self.now >= self.at_once:
            return fault("rate_limited")
        return None

    def describe(self) -> JSON:
        """Say nothing."""
        return {}

    async def close(self) -> None:
        """Hold nothing."""


def endpoint(server: Any, clock: Clock, limits: Limits | None = None, **more: Any) -> Endpoint:
    """Return an endpoint in front of a server, in its time."""
    options: dict[str, Any] = {"price": None, "budget": Budget(), "check": lambda reply: reply, "clock": clock}
    return Endpoint(server, limits or Limits(concurrency=64), **{**options, **more})


async def ask(where: Endpoint, calls: int, workers: int) -> list[object]:
    """Make so many calls from so many workers; return what came of each, replies and errors."""
    left = iter(range(calls))
    found: list[object] = []

    async def work() -> None:
        for _ in left:
            try:
                found.append(await where.complete(MESSAGES, {}))
            except Exception as error:  # noqa: BLE001 - what came of it is what the tests look at
                found.append(error)

    await asyncio.gather(*(work() for _ in range(workers)))
    return found
