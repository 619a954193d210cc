"""A thread with an event loop of its own, so that code without one can call an HTTP client that keeps connections."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
_CLOSE_S = 5.0


class Client(Protocol):
    """What keeps connections in the thread's loop."""

    async def close(self) -> None:
        """Release them."""
        ...


class HttpThread:
    """Runs coroutines over one client for any thread; begun at the first call, ended by `close` or with its owner.

    A coroutine sees the context variables of the thread that it is run for.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: weakref.finalize[[Client, asyncio.AbstractEventLoop, threading.Thread], HttpThread] | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what `work` returns, or raise what it raises; blocks the calling thread."""
        return asyncio.run_coroutine_threadsafe(work, self._running()).result()

    def close(self) -> None:
        """Close the connections and end the thread; may be called twice, and `run` begins anew."""
        with self._lock:
            end, self._end, self._loop = self._end, None, None
        if end is not None:
            end()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=_serve, args=(loop,), name="ragassay-http", daemon=True)
                thread.start()
                self._loop = loop
                self._end = weakref.finalize(self, _stop, self._client, loop, thread)
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _stop(client: Client, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    async def end() -> None:
        await client.close()
        loop.stop()

    if loop.is_closed():
        return
    asyncio.run_coroutine_threadsafe(end(), loop)
    if thread is not threading.current_thread():
        thread.join(_CLOSE_S)
