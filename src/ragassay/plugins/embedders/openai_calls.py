"""What stands between the embedder over an endpoint and its calls: a gate before each, a count of what they took."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray


class Embedded(msgspec.Struct, frozen=True, kw_only=True):
    """The vectors of one batch, and what the server says that its call took; None where it does not count tokens."""

    rows: NDArray[np.float32]
    input_tokens: int | None
    latency_ms: int


class Counter:
    """What all calls of one kind took; `input_tokens` is None as soon as one reply did not count them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.calls = 0
        self.replies = 0
        self.input_tokens: int | None = 0
        self.latency_ms = 0

    def began(self) -> None:
        """Count a call that starts."""
        with self._lock:
            self.calls += 1

    def replied(self, tokens: int | None, latency_ms: int) -> None:
        """Count what a reply took, also one that is of no use."""
        with self._lock:
            self.replies += 1
            self.latency_ms += latency_ms
            known = self.input_tokens is not None and tokens is not None
            self.input_tokens = (self.input_tokens or 0) + (tokens or 0) if known else None


class Gate(Protocol):
    """What stands before each call: when it may start, and whether it is made again."""

    async def call(self, characters: int, once: Callable[[], Awaitable[Embedded]]) -> Embedded:
        """Return what `once` returns, or raise the `ModelError` that is final; `characters` are those of its texts."""
        ...


class GateMaker(Protocol):
    """Makes the gate of one embedder from its limits."""

    def __call__(self, *, concurrency: int, requests_per_minute: int | None, tokens_per_minute: int | None) -> Gate:
        """Return a gate of its own."""
        ...


class Slots:
    """The gate where nobody gave one: `concurrency` calls are under way at most, and each is made once."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._slots: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def call(self, characters: int, once: Callable[[], Awaitable[Embedded]]) -> Embedded:
        """Return what `once` returns."""
        if self._slots is None or self._loop is not asyncio.get_running_loop():
            self._loop = asyncio.get_running_loop()
            self._slots = asyncio.Semaphore(self._concurrency)
        async with self._slots:
            return await once()
