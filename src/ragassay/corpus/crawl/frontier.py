"""Every address that was seen: waiting, under way, or settled as a page or as left out. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec

from ragassay.corpus.crawl import scope
from ragassay.corpus.crawl.folder import NotTaken
from ragassay.corpus.crawl.journal import Left, Settled, Took
from ragassay.corpus.crawl.scope import Scope

MOST_COUNTED = 1_000_000
"""So many addresses that were not taken are told apart and counted."""


class Seen(msgspec.Struct, frozen=True):
    """How far an address is from the start, in links and in redirects."""

    depth: int
    hops: int


class Capped:
    """Addresses up to a number, and up to a number of characters; those that come after them can be counted."""

    def __init__(self) -> None:
        self.urls: dict[str, None] = {}
        self._chars = 0
        self._after: set[int] = set()

    def has_room(self, url: str) -> bool:
        """Return whether one more address would be taken."""
        return len(self.urls) < scope.MAX_ADDRESSES and self._chars + len(url) <= scope.MAX_CHARS

    def add(self, url: str) -> bool:
        """Take an address, and return whether it was a new one and there was room."""
        if url in self.urls or not self.has_room(url):
            return False
        self.urls[url] = None
        self._chars += len(url)
        return True

    def missed(self, url: str) -> int:
        """Return 1 for an address that there was no room for and that was not counted before, else 0."""
        if url in self.urls or len(self._after) >= MOST_COUNTED or (hashed := hash(url)) in self._after:
            return 0
        self._after.add(hashed)
        return 1


class Frontier:
    """The addresses of one crawl, in the order in which they were seen."""

    def __init__(self, judge: Scope, *, follows: bool) -> None:
        self._scope = judge
        self._follows = follows
        self._addresses = Capped()
        self._seen: dict[str, Seen] = {}
        self._waiting: deque[str] = deque()
        self.settled: dict[str, Settled] = {}
        self.judged: dict[str, NotTaken] = {}
        """Left out without being asked for."""
        self._unfollowed = Capped()
        self._linked = Capped()
        """Linked from a page: of use only where links are not followed."""
        self.beyond = 0
        """How many addresses and links were too many."""
        self.pages = 0
        self.bytes = 0

    def see(self, urls: Iterable[str], depth: int = 0, hops: int = 0) -> None:
        """Take addresses into account that have not been seen before."""
        for url in urls:
            if not self._addresses.add(url):
                self.beyond += self._addresses.missed(url)
                continue
            self._seen[url] = Seen(depth, hops)
            if (judged := self._scope.judge(url, depth, hops)) is not None:
                self.judged[url] = NotTaken(url=url, reason=judged[0], detail=judged[1], status=None)
            else:
                self._waiting.append(url)

    def settle(self, url: str, line: Settled) -> None:
        """Take into account what came of an address, and what it names."""
        seen = self._seen.get(url, Seen(0, 0))
        self.beyond += line.beyond
        self.settled[url] = msgspec.structs.replace(line, links=())
        if isinstance(line, Took):
            self.pages += 1
            self.bytes += line.page.bytes
            for link in line.unfollowed:
                self._unfollowed.add(link)
            if (canonical := line.page.canonical) is not None and self._scope.refusal(canonical) is None:
                self.see([canonical], seen.depth)
        elif line.leads_to is not None:
            self.see([line.leads_to], seen.depth, seen.hops + 1)
        if self._follows:
            self.see(line.links, seen.depth + 1)
        else:
            for link in line.links:
                self._linked.add(link)

    def news(self, line: Settled) -> Settled:
        """Return a line without what another one has named before or there is no room for, so that all stay small."""
        into = self._addresses if self._follows else self._linked
        links = tuple(url for url in line.links if url not in into.urls and url not in self._seen)
        kept = tuple(url for url in links if into.has_room(url))
        beyond = line.beyond + (0 if len(kept) == len(links) else sum(map(into.missed, {*links}.difference(kept))))
        if isinstance(line, Left):
            return msgspec.structs.replace(line, links=kept, beyond=beyond)
        other = self._unfollowed
        unfollowed = tuple(url for url in line.unfollowed if url not in other.urls and other.has_room(url))
        return msgspec.structs.replace(line, links=kept, beyond=beyond, unfollowed=unfollowed)

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
        return sum(url not in self._seen and self._scope.refusal(url) is None for url in self._linked.urls)

    def left(self) -> list[NotTaken]:
        """Return everything that is left out so far, links with `rel=nofollow` included."""
        asked = [line.left for line in self.settled.values() if isinstance(line, Left)]
        only = [
            NotTaken(url=url, reason="nofollow", detail='linked only with rel="nofollow"', status=None)
            for url in self._unfollowed.urls
            if url not in self._seen and self._follows
        ]
        return [*asked, *self.judged.values(), *only[: max(0, scope.MAX_ADDRESSES - len(self._seen))]]
