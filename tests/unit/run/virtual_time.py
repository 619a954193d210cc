"""An event loop whose hours take milliseconds: time jumps to the next timer whenever nothing else is to be done."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Waits for nothing: what would be waited is added to the clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Advance the clock by the timeout; a loop that waits for ever is stuck."""
        if timeout is None:
            raise RuntimeError("nothing is to be done any more: a wake-up was lost")
        self.now += max(timeout, 0.0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop in virtual time, in seconds from 1000."""

    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        """Return the virtual time."""
        return self._clock.now


def run(work: Callable[[Callable[[], float]], Coroutine[Any, Any, T]]) -> T:
    """Run `work(clock)` to its end in virtual time; raises `RuntimeError` where it would hang."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        return runner.run(work(loop.time))
