"""How a rerank service is called: a few calls at a time, again where that may help, and for no longer than a search."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from ragassay.errors import ModelError, ModelErrorKind

PATIENCE_S = 50.0
"""How long one search waits for the service in all; a run gives a search up after 60 seconds."""
ATTEMPTS: Mapping[ModelErrorKind, int] = {
    "rate_limited": 8,
    "server_error": 4,
    "connection": 3,
    "timeout": 2,
    "error_body": 3,
    "malformed_reply": 3,
}
"""How often a call is made in total before a failure of that kind is final."""
FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 8.0

T = TypeVar("T")


class Calls:
    """Makes calls, at most `concurrency` at a time; a call that waits to be made again holds no place."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._places: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def make(self, once: Callable[[], Awaitable[T]], until: float) -> T:
        """Return what `once` returns, asked again by the kind of its failure, not beyond `until` (monotonic time).

        Raises the last `ModelError`; a service that asks for more patience than is left is not waited for.
        """
        failures: Counter[str] = Counter()
        while True:
            try:
                async with asyncio.timeout(max(0.0, until - time.monotonic())), self._free():
                    return await once()
            except TimeoutError:
                raise ModelError(f"no reply within {PATIENCE_S:g} s", kind="timeout", retryable=True) from None
            except ModelError as error:
                failures[error.kind] += 1
                wait_s = _wait_s(failures.total(), error.retry_after_s)
                spent = failures[error.kind] >= ATTEMPTS.get(error.kind, 1)
                if not error.retryable or spent or time.monotonic() + wait_s > until:
                    raise
            await asyncio.sleep(wait_s)

    def _free(self) -> asyncio.Semaphore:
        if self._places is None or self._loop is not asyncio.get_running_loop():
            self._loop = asyncio.get_running_loop()
            self._places = asyncio.Semaphore(self._concurrency)
        return self._places


def _wait_s(failed: int, retry_after_s: float | None) -> float:
    if retry_after_s is not None:
        return retry_after_s
    longest: float = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (failed - 1))
    return longest * random.uniform(0.5, 1.0)  # spreads callers that failed together
