"""A model behind its limits: when a call may start, retries by kind, and what each call took.

A waiting retry holds no slot; the number of calls under way never exceeds the limit.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragassay.errors import ModelError, ModelErrorKind
from ragassay.plugins.meter import Meter, current
from ragassay.plugins.price import Price
from ragassay.records import JSON, Message, Reply
from ragassay.run.board_file import Limits
from ragassay.run.budget import Amount, Budget, Need
from ragassay.run.expectation import Expectation
from ragassay.run.limiter import LONGEST_RETRY_AFTER_S, Limiter, Ticket
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

MAY_HAVE_COST = frozenset({"timeout", "malformed_reply"})
"""Failures after which the server may have written a reply that nobody saw: they count by their estimate."""

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0


class Endpoint:
    """A model behind its limits; itself a `Model`, so that a judge can stand on it.

    `params` are those that the model sends with each call: its `max_tokens` is the most that a reply can take.
    `counted` is False for a model on this machine, which no budget covers.
    """

    def __init__(
        self,
        model: Model,
        limits: Limits,
        *,
        price: Price | None,
        budget: Budget,
        check: Callable[[Reply], object],
        params: Mapping[str, Any] | None = None,
        counted: bool = True,
        first_wait_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._price = price
        self._budget = budget
        self._check = check
        self._first_wait_s = FIRST_WAIT_S if first_wait_s is None else first_wait_s
        self._expectation = Expectation(price, params or {})
        self._counted = (counted and budget.capped) or limits.tokens_per_minute is not None
        self._budgeted = counted
        self.limiter = Limiter(limits, budget if counted else Budget(), clock=clock)
        self.calls = 0
        self.retries: dict[str, int] = {}

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Return the first usable reply; raises the last `ModelError` when its kind has no attempt left."""
        failures: dict[str, int] = {}
        while True:
            need = self._expectation.need(messages, params) if self._counted else None
            ticket = await self.limiter.acquire(need)
            try:
                return await self._attempt(messages, params, ticket, need)
            except ModelError as error:
                failed = failures[error.kind] = failures.get(error.kind, 0) + 1
                if not error.retryable or failed >= ATTEMPTS.get(error.kind, 1):
                    raise
                if (error.retry_after_s or 0) > LONGEST_RETRY_AFTER_S:
                    message = f"{error} (the server asks to wait {error.retry_after_s:.0f} s)"
                    raise ModelError(message, kind=error.kind, retryable=False) from error
                self.retries[error.kind] = self.retries.get(error.kind, 0) + 1
                wait_s = self._wait_s(sum(failures.values()), error.retry_after_s)
            await asyncio.sleep(wait_s)

    async def _attempt(
        self, messages: Sequence[Message], params: Mapping[str, Any], ticket: Ticket, need: Need | None
    ) -> Reply:
        self.calls += 1
        meter = current()
        if meter is not None:
            meter.attempts += 1
        try:
            reply = await self._model.complete(messages, params)
            self.limiter.succeeded(ticket)
            self._count(reply, meter, need)
        except ModelError as error:
            self._failed(error, ticket, need)
            raise
        except BaseException:
            self._lost(need)  # stopped on the way: what it takes there, nobody will learn
            raise
        finally:
            self.limiter.release(need)
        self._check(reply)
        return reply

    def _count(self, reply: Reply, meter: Meter | None, need: Need | None) -> None:
        """Count what a reply took: exactly in the meter, where the server told; against the caps always."""
        usage = reply.usage
        cost = self._price.cost_microusd(usage.input_tokens, usage.output_tokens) if self._price else None
        if meter is not None:
            meter.add(usage, reply.latency_ms, cost)
        if need is None:
            self._spend(Amount(0, cost or 0))
            return
        taken, estimated = self._expectation.taken(need, usage, reply.text)
        self.limiter.correct(need, taken.tokens)
        if self._budgeted:
            self._spend(taken, estimated=estimated)

    def _failed(self, error: ModelError, ticket: Ticket, need: Need | None) -> None:
        if error.kind == "rate_limited":
            self.limiter.refused(ticket, error)
        elif error.retryable:
            self.limiter.cool(error)
        if error.kind in MAY_HAVE_COST:
            self._lost(need)
        elif need is not None:
            self.limiter.correct(need, 0)

    def _lost(self, need: Need | None) -> None:
        """Count a call whose reply nobody saw by its estimate: unknown is not nothing."""
        if need is not None and self._budgeted:
            self._spend(need.expected, estimated=True)

    def _spend(self, amount: Amount, *, estimated: bool = False) -> None:
        """Count against the caps, and tell whoever collects what the present call takes."""
        self._budget.spend(amount, estimated=estimated)
        if (meter := current()) is not None:
            meter.count(*amount)

    def _wait_s(self, failed: int, retry_after_s: float | None) -> float:
        """Return the seconds before a call is made again; what the server asked for holds the whole endpoint."""
        if retry_after_s is not None and failed == 1:
            return 0.0
        longest: float = min(LONGEST_WAIT_S, self._first_wait_s * 2 ** (failed - 1))
        return longest * random.uniform(0.5, 1.0)  # spreads callers that failed together

    def describe(self) -> JSON:
        """Return what the model says of itself: limits cannot change an answer."""
        return self._model.describe()

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()
