"""Searches of one row in threads of their own: a stack that hangs stands in nobody's way, nor in the program's end."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from ragassay.errors import StackError
from ragassay.records import Retrieval

SLOTS = 8
"""How many searches of one row are under way at most; as many more may hang before the row is given up as down."""


class Late(StackError):
    """A search that did not come back in its time, and goes on."""


class SearchThreads:
    """Runs a row's searches, each with its time; the time begins when the search does, not while it waits."""

    def __init__(self, row: str, slots: int = SLOTS) -> None:
        self._row = row
        self._slots = slots
        self._free = asyncio.Semaphore(slots)
        self._hanging = 0

    async def run(self, work: Callable[[], Retrieval], limit_s: float) -> Retrieval:
        """Return what `work` returns or raise what it raises; `StackError` after `limit_s` seconds.

        A thread cannot be stopped: a search that is late goes on, and its result is dropped. While as many hang as
        there are slots, `StackError` comes at once.
        """
        async with self._free:
            if self._hanging >= self._slots:
                raise StackError(f"the stack of row {self._row!r} hangs: {self._hanging} searches have not come back")
            future = _begun(work)
            try:
                return await asyncio.wait_for(asyncio.shield(future), limit_s)
            except TimeoutError:
                self._hanging += 1
                future.add_done_callback(self._came_back)
                raise Late(
                    f"the stack of row {self._row!r} did not answer within {limit_s:g} s", retryable=True
                ) from None

    def _came_back(self, _: asyncio.Future[Retrieval]) -> None:
        self._hanging -= 1


def _looked_at(future: asyncio.Future[Retrieval]) -> None:
    """Look at what a search raised, so that nobody reports it as lost: whoever waited has gone on, or has stopped."""
    if not future.cancelled():
        future.exception()


def _begun(work: Callable[[], Retrieval]) -> asyncio.Future[Retrieval]:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Retrieval] = loop.create_future()
    future.add_done_callback(_looked_at)

    def settle(result: Retrieval | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        elif result is not None:
            future.set_result(result)

    def search() -> None:
        try:
            result, error = work(), None
        except BaseException as fault:  # noqa: BLE001 - carried over to the one who waits
            result, error = None, fault
        with contextlib.suppress(RuntimeError):  # the run has ended: nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=search, name="search", daemon=True).start()
    return future
