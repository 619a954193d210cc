"""When the next request may be sent: so many a second, none while the server asks for quiet, fewer where it groans."""

from __future__ import annotations

import asyncio
import email.utils
import time
from collections.abc import Callable

LONGEST_WAIT_S = 900.0
"""A server that asks for more than a quarter of an hour has in effect refused."""
_SLOWEST_S = 10.0
_FIRST_SLOWER_S = 0.25
_LOOK_EVERY_S = 0.2


class Stopped(Exception):
    """Whoever began the crawl ended it, or its time is up."""


class Pace:
    """Gives out turns, one at a time, `interval_s` apart; `stopped` is looked at while waiting."""

    def __init__(
        self, rate_per_s: float, *, stopped: Callable[[], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._interval_s = 1 / rate_per_s if rate_per_s else 0.0
        self._slower_s = 0.0
        self._stopped = stopped
        self._clock = clock
        self._next = float("-inf")
        self._quiet_until = float("-inf")

    @property
    def interval_s(self) -> float:
        """Seconds between two requests now."""
        return self._interval_s + self._slower_s

    def at_least(self, interval_s: float) -> None:
        """Hold the pace that robots.txt asks for."""
        self._interval_s = max(self._interval_s, interval_s)

    async def turn(self) -> None:
        """Return when a request may be sent; raises `Stopped`."""
        while True:
            now = self._clock()
            at = max(self._next, self._quiet_until)
            if self._stopped():
                raise Stopped
            if at <= now:
                self._next = now + self.interval_s
                return
            await self.pause(at - now)

    async def pause(self, seconds: float) -> None:
        """Wait; raises `Stopped`."""
        until = self._clock() + seconds
        while (left := until - self._clock()) > 0:
            if self._stopped():
                raise Stopped
            await asyncio.sleep(min(left, _LOOK_EVERY_S))

    def quiet(self, seconds: float) -> None:
        """Send nothing for so long: the server asked for it."""
        self._quiet_until = max(self._quiet_until, self._clock() + seconds)

    def slower(self) -> None:
        """Double the time between requests, up to a limit."""
        self._slower_s = min(max(2 * self._slower_s, _FIRST_SLOWER_S), _SLOWEST_S)

    def faster(self) -> None:
        """Take back a little of what `slower` did."""
        self._slower_s = 0.0 if self._slower_s < 0.01 else self._slower_s * 0.9


def retry_after_s(text: str | None, *, now: float, date: str | None = None) -> float | None:
    """Return the seconds that a Retry-After header asks for, None where it names none that can be read.

    A time of day is held against the server's own `date`: its clock, or this one, may be wrong.
    """
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    until, since = _time(text), _time(date)
    return None if until is None else max(0.0, until - (now if since is None else since))


def _time(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
