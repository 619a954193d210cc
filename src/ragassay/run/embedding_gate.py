"""What stands before the calls of an embedder over an endpoint: the same limits and retries as before a model's."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable

from ragassay.errors import ModelError
from ragassay.plugins.embedders.openai_calls import Embedded
from ragassay.run.board_file import Limits
from ragassay.run.budget import Amount, Budget, Need
from ragassay.run.expectation import CHARACTERS_PER_TOKEN, WEIGHT
from ragassay.run.limiter import LONGEST_RETRY_AFTER_S, Limiter
from ragassay.run.limits import ATTEMPTS, FIRST_WAIT_S, LONGEST_WAIT_S


def embedding_gate(
    *, concurrency: int, requests_per_minute: int | None, tokens_per_minute: int | None
) -> EmbeddingGate:
    """Return the gate of one embedder."""
    return EmbeddingGate(
        Limits(concurrency=concurrency, requests_per_minute=requests_per_minute, tokens_per_minute=tokens_per_minute)
    )


class EmbeddingGate:
    """Keeps an endpoint's limits; makes a call again by the kind of its failure. A waiting retry holds no slot."""

    def __init__(
        self, limits: Limits, *, first_wait_s: float = FIRST_WAIT_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._counts_tokens = limits.tokens_per_minute is not None
        self._first_wait_s = first_wait_s
        self._per_character = 1 / CHARACTERS_PER_TOKEN
        self._seen = 0
        self.limiter = Limiter(limits, Budget(), clock=clock)
        self.retries: Counter[str] = Counter()

    async def call(self, characters: int, once: Callable[[], Awaitable[Embedded]]) -> Embedded:
        """Return the first usable reply; raises the last `ModelError` when its kind has no attempt left."""
        failures: Counter[str] = Counter()
        while True:
            try:
                return await self._attempt(self._need(characters), once)
            except ModelError as error:
                failures[error.kind] += 1
                if not error.retryable or failures[error.kind] >= ATTEMPTS.get(error.kind, 1):
                    raise
                if (error.retry_after_s or 0) > LONGEST_RETRY_AFTER_S:
                    message = f"{error} (the server asks to wait {error.retry_after_s:.0f} s)"
                    raise ModelError(message, kind=error.kind, retryable=False) from error
                self.retries[error.kind] += 1
                wait_s = self._wait_s(failures.total(), error.retry_after_s)
            await asyncio.sleep(wait_s)

    async def _attempt(self, need: Need | None, once: Callable[[], Awaitable[Embedded]]) -> Embedded:
        ticket = await self.limiter.acquire(need)
        try:
            reply = await once()
            self.limiter.succeeded(ticket)
            if need is not None and reply.input_tokens is not None:
                self.limiter.correct(need, reply.input_tokens)
                self._learn(need.characters, reply.input_tokens)
        except ModelError as error:
            if error.kind == "rate_limited":
                self.limiter.refused(ticket, error)
            elif error.retryable:
                self.limiter.cool(error)
            raise
        else:
            return reply
        finally:
            self.limiter.release(need)

    def _need(self, characters: int) -> Need | None:
        """Return what a call is expected to take, where tokens are limited; nothing of it is under a budget."""
        if not self._counts_tokens:
            return None
        amount = Amount(math.ceil(characters * self._per_character), 0)
        return Need(amount, amount, characters)

    def _learn(self, characters: int, tokens: int) -> None:
        if characters:
            self._seen += 1
            self._per_character += (tokens / characters - self._per_character) * max(1 / self._seen, WEIGHT)

    def _wait_s(self, failed: int, retry_after_s: float | None) -> float:
        """Return the seconds before a call is made again; what the server asked for holds all calls already."""
        if retry_after_s is not None and failed == 1:
            return 0.0
        longest: float = min(LONGEST_WAIT_S, self._first_wait_s * 2 ** (failed - 1))
        return longest * random.uniform(0.5, 1.0)  # spreads callers that failed together
