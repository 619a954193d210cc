"""Every address that was seen: waiting, under way, or settled as a page or as left out. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec

from ragassay.corpus.crawl.folder import NotTaken
from ragassay.corpus.crawl.journal import Left, Settled, Took
from ragassay.corpus.crawl.scope import MAX_ADDRESSES, Scope


class Seen(msgspec.Struct, frozen=True):
    """How far an address is from the start, in links and in redirects."""

    depth: int
    hops: int


class Frontier:
    """The addresses of one crawl, in the order in which they were seen."""

    def __init__(self, scope: Scope, *, follows: bool) -> None:
        self._scope = scope
        self._follows = follows
        self._seen: dict[str, Seen] = {}
        self._waiting: deque[str] = deque()
        self.settled: dict[str, Settled] = {}
        self.judged: dict[str, NotTaken] = {}
        """Left out without being asked for."""
        self.unfollowed: dict[str, None] = {}
        self.linked: dict[str, None] = {}
        """Within the prefix, linked from a page, and of no list: seen only where links are not followed."""
        self.beyond = 0
        self.pages = 0
        self.bytes = 0

    def see(self, urls: Iterable[str], depth: int = 0, hops: int = 0) -> None:
        """Take addresses into account that have not been seen before."""
        for url in urls:
            if url in self._seen:
                continue
            if len(self._seen) >= MAX_ADDRESSES:
                self.beyond += 1
                continue
            self._seen[url] = Seen(depth, hops)
            if (judged := self._scope.judge(url, depth, hops)) is not None:
                self.judged[url] = NotTaken(url=url, reason=judged[0], detail=judged[1], status=None)
            else:
                self._waiting.append(url)

    def settle(self, url: str, line: Settled) -> None:
        """Take into account what came of an address, and what it names."""
        seen = self._seen.get(url, Seen(0, 0))
        self.settled[url] = msgspec.structs.replace(line, links=())
        if isinstance(line, Took):
            self.pages += 1
            self.bytes += line.page.bytes
            self._add(self.unfollowed, line.unfollowed)
            if (canonical := line.page.canonical) is not None and self._scope.refusal(canonical) is None:
                self.see([canonical], seen.depth)
        elif line.leads_to is not None:
            self.see([line.leads_to], seen.depth, seen.hops + 1)
        if self._follows:
            self.see(line.links, seen.depth + 1)
        else:
            self._add(self.linked, line.links)

    def news(self, urls: Iterable[str]) -> tuple[str, ...]:
        """Return those addresses that no settled line has named yet."""
        return tuple(url for url in urls if url not in self._seen and url not in self.linked)

    def next(self) -> str | None:
        """Return the next address to ask for, None where none waits."""
        while self._waiting:
            url = self._waiting.popleft()
            if url not in self.settled:
                return url
        return None

    def unsettled(self) -> list[str]:
        """Return the addresses that were to be asked for and were not settled."""
        return [url for url in self._seen if url not in self.settled and url not in self.judged]

    @property
    def seen(self) -> int:
        """How many addresses were seen."""
        return len(self._seen)

    def only_linked(self) -> int:
        """Count the addresses that pages name, that would be taken, and that stand in no list."""
        return sum(url not in self._seen and self._scope.refusal(url) is None for url in self.linked)

    @staticmethod
    def _add(into: dict[str, None], urls: Iterable[str]) -> None:
        for url in urls:
            if len(into) < MAX_ADDRESSES:
                into[url] = None

    def left(self) -> list[NotTaken]:
        """Return everything that is left out so far, links with `rel=nofollow` included."""
        asked = [line.left for line in self.settled.values() if isinstance(line, Left)]
        only = [
            NotTaken(url=url, reason="nofollow", detail='linked only with rel="nofollow"', status=None)
            for url in self.unfollowed
            if url not in self._seen and self._follows
        ]
        return [*asked, *self.judged.values(), *only[: max(0, MAX_ADDRESSES - len(self._seen))]]
