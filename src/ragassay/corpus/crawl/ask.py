"""Asking politely and again: every request takes its turn, faults are retried by kind, a site that is down is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlsplit

from ragassay.corpus.crawl.address import joined
from ragassay.corpus.crawl.fetch import Fault, FaultKind, Fetcher, Reply, Unwanted, Wanted
from ragassay.corpus.crawl.pace import LONGEST_WAIT_S, Pace
from ragassay.corpus.crawl.scope import MOST_HOPS
from ragassay.errors import PluginError

RETRIES: dict[FaultKind, int] = {
    "rate": 8,
    "server": 3,
    "timeout": 1,
    "connection": 3,
    "truncated": 2,
    "malformed": 1,
    "certificate": 0,
}
"""How often an address is asked for again after a fault of each kind."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
DOWN_AFTER = 5
"""So many addresses in a row that fail after all their retries: then it is asked whether the site is there at all."""
REDIRECTS = (301, 302, 303, 307, 308)


class SiteDown(PluginError):
    """The server is not there, or wants to be left alone; going on would only list holes."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=True)


class Asker:
    """Asks a site; counts what was retried."""

    def __init__(self, fetcher: Fetcher, pace: Pace, *, probe: str) -> None:
        self._fetcher = fetcher
        self._pace = pace
        self._probe = probe
        self._in_a_row = 0
        self.retried: Counter[str] = Counter()

    async def ask(
        self,
        url: str,
        *,
        cap: int,
        cut: bool = False,
        wanted: Wanted | None = None,
        conditions: Mapping[str, str] | None = None,
    ) -> Reply:
        """Return the reply to a GET after as many retries as its faults allow.

        Raises `Fault` when they are used up, `Unwanted`, `SiteDown` and `Stopped`.
        """
        met: Counter[FaultKind] = Counter()
        while True:
            await self._pace.turn()
            try:
                reply = await self._fetcher.get(url, cap=cap, cut=cut, wanted=wanted, conditions=conditions)
            except Unwanted:
                self._answered()
                raise
            except Fault as fault:
                met[fault.kind] += 1
                if met[fault.kind] > RETRIES[fault.kind]:
                    await self._given_up(fault)
                    raise
                self.retried[fault.kind] += 1
                await self._before_again(fault, met.total())
            else:
                self._answered()
                return reply

    def _answered(self) -> None:
        self._in_a_row = 0
        self._pace.faster()

    async def _before_again(self, fault: Fault, times: int) -> None:
        pause = min(FIRST_PAUSE_S * 2 ** (times - 1), LONGEST_PAUSE_S)
        asked = fault.retry_after_s
        if asked is not None and asked > LONGEST_WAIT_S:
            raise SiteDown(f"the server asks to be left alone for {asked:,.0f} s ({fault.detail}); go on after that")
        if fault.kind == "rate" or asked is not None:
            self._pace.slower()
            self._pace.quiet(pause if asked is None else asked)
        else:
            if fault.kind == "server":
                self._pace.slower()
            await self._pace.pause(pause)

    async def _given_up(self, fault: Fault) -> None:
        """Count an address that failed for good; raises `SiteDown` where nothing else is answered either."""
        self._in_a_row += 1
        if self._in_a_row < DOWN_AFTER:
            return
        self._in_a_row = 0
        await self._pace.turn()
        try:
            await self._fetcher.get(self._probe, cap=1, cut=True)
        except Fault as again:
            raise SiteDown(
                f"{DOWN_AFTER} addresses in a row failed, the last with: {fault.detail}; {self._probe} is not answered "
                f"either ({again.detail})"
            ) from fault
        except Unwanted:
            return


def target_of(reply: Reply) -> str:
    """Return where a redirect leads, in normal form; raises `Unwanted` where that is nowhere one may go."""
    location = reply.headers.get("Location")
    if not location:
        raise Unwanted("redirect", "it says where to by no Location", reply.status)
    target = joined(reply.url, location)
    if target is None:
        raise Unwanted("redirect", f"to {location[:200]!r}, which is no http or https address", reply.status)
    if reply.url.startswith("https:") and target.startswith("http:"):
        raise Unwanted("redirect", f"from https down to {target[:200]}", reply.status)
    if target == reply.url:
        raise Unwanted("redirect", "to itself", reply.status)
    return target


async def follow(asker: Asker, url: str, *, cap: int, cut: bool = False) -> Reply:
    """Return the reply at the end of the redirects; raises what `ask` raises, and `Unwanted` for a circle."""
    way = [url]
    while True:
        reply = await asker.ask(way[-1], cap=cap, cut=cut)
        if reply.status not in REDIRECTS:
            return reply
        target = target_of(reply)
        if target in way:
            raise Unwanted("redirect", "in a circle", reply.status)
        if len(way) > MOST_HOPS:
            raise Unwanted("redirect", f"more than {MOST_HOPS} in a row", reply.status)
        way.append(target)


def origin_of(url: str) -> str:
    """Return scheme, host and port of a normal address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
