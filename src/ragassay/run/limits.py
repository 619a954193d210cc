"""One endpoint's limits around a model: slots, pace, retries by kind, and what each call took.

A waiting retry holds no slot; the number of calls under way never exceeds the limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from decimal import Decimal
from typing import Any

import msgspec

from ragassay.canon import decimal_string
from ragassay.errors import InputError, ModelError, ModelErrorKind
from ragassay.records import JSON, Message, Reply, Usage
from ragassay.run.board_file import Limits, Price
from ragassay.seams import Model

ATTEMPTS: Mapping[ModelErrorKind, int] = {
    "rate_limited": 8,
    "server_error": 5,
    "connection": 5,
    "timeout": 3,
    "error_body": 3,
    "malformed_reply": 3,
    "empty": 3,
    "content_filter": 3,
}
"""How often a call is made in total before a retryable failure of that kind is final."""

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
LONGEST_RETRY_AFTER_S = 900.0
"""A server that asks for more than a quarter of an hour has in effect refused."""


class Budget:
    """Money spent against a cap; a call is refused once the cap is reached."""

    def __init__(self, max_microusd: int | None, spent_microusd: int = 0) -> None:
        self.max_microusd = max_microusd
        self.spent_microusd = spent_microusd

    def check(self) -> None:
        """Raise `InputError` when nothing is left to spend."""
        if self.max_microusd is not None and self.spent_microusd >= self.max_microusd:
            cap = decimal_string(Decimal(self.max_microusd) / 1_000_000)
            raise InputError(
                f"the budget of {cap} USD is spent; raise [budget] max_usd and run again: what was answered is kept"
            )


class Meter(msgspec.Struct):
    """What the calls behind one answer or verdict took: attempts that brought no reply count and add nothing else."""

    attempts: int = 0
    replies: int = 0
    latency_ms: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_microusd: int | None = None

    def add(self, usage: Usage, latency_ms: int, cost_microusd: int | None) -> None:
        """Add one reply; a sum of which one part is unknown is unknown, never less."""
        first = self.replies == 0
        self.replies += 1
        self.latency_ms += latency_ms
        self.input_tokens = usage.input_tokens if first else _sum(self.input_tokens, usage.input_tokens)
        self.output_tokens = usage.output_tokens if first else _sum(self.output_tokens, usage.output_tokens)
        self.cost_microusd = cost_microusd if first else _sum(self.cost_microusd, cost_microusd)

    @property
    def usage(self) -> Usage:
        """Return the tokens summed."""
        return Usage(input_tokens=self.input_tokens, output_tokens=self.output_tokens)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextlib.contextmanager
def metering() -> Iterator[Meter]:
    """Collect what every call made inside took."""
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


class Endpoint:
    """A model behind its limits; itself a `Model`, so that a judge can stand on it."""

    def __init__(
        self,
        model: Model,
        limits: Limits,
        *,
        price: Price | None,
        budget: Budget,
        check: Callable[[Reply], object],
        first_wait_s: float = FIRST_WAIT_S,
    ) -> None:
        self._model = model
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._spacing_s = 60 / limits.requests_per_minute if limits.requests_per_minute else 0.0
        self._next_start = 0.0
        self._price = price
        self._budget = budget
        self._check = check
        self._first_wait_s = first_wait_s
        self.calls = 0
        self.retries: dict[str, int] = {}

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Return the first usable reply; raises the last `ModelError` when its kind has no attempt left."""
        failures: dict[str, int] = {}
        while True:
            self._budget.check()
            await self._pace()
            try:
                async with self._slots:
                    return await self._attempt(messages, params)
            except ModelError as error:
                failures[error.kind] = failures.get(error.kind, 0) + 1
                if not error.retryable or failures[error.kind] >= ATTEMPTS.get(error.kind, 1):
                    raise
                if (error.retry_after_s or 0) > LONGEST_RETRY_AFTER_S:
                    message = f"{error} (the server asks to wait {error.retry_after_s:.0f} s)"
                    raise ModelError(message, kind=error.kind, retryable=False) from error
                self.retries[error.kind] = self.retries.get(error.kind, 0) + 1
                await asyncio.sleep(self._wait_s(sum(failures.values()), error.retry_after_s))

    async def _attempt(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        self.calls += 1
        meter = _meter.get()
        if meter is not None:
            meter.attempts += 1
        reply = await self._model.complete(messages, params)
        cost = self._price.cost_microusd(reply.usage.input_tokens, reply.usage.output_tokens) if self._price else None
        self._budget.spent_microusd += cost or 0
        if meter is not None:
            meter.add(reply.usage, reply.latency_ms, cost)
        self._check(reply)
        return reply

    async def _pace(self) -> None:
        if not self._spacing_s:
            return
        start = max(self._next_start, time.monotonic())
        self._next_start = start + self._spacing_s
        await asyncio.sleep(max(0.0, start - time.monotonic()))

    def _wait_s(self, failed: int, retry_after_s: float | None) -> float:
        if retry_after_s is not None:
            return retry_after_s
        longest: float = min(LONGEST_WAIT_S, self._first_wait_s * 2 ** (failed - 1))
        return longest * random.uniform(0.5, 1.0)  # spreads callers that failed together

    def describe(self) -> JSON:
        """Return what the model says of itself: limits cannot change an answer."""
        return self._model.describe()

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()
