"""A whole crawl: rules, addresses, pages, and at the end one folder in the place of the one before."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from aiohttp.abc import AbstractResolver

from ragassay.corpus.crawl import ending
from ragassay.corpus.crawl.ask import REDIRECTS, Asker, SiteDown, origin_of, target_of
from ragassay.corpus.crawl.connect import session
from ragassay.corpus.crawl.discover import discover
from ragassay.corpus.crawl.ending import Changes, Ended, Incomplete
from ragassay.corpus.crawl.fetch import Fault, Fetcher, Unwanted
from ragassay.corpus.crawl.folder import Crawled, CrawlHeader, NotTaken, is_crawl, load_crawl
from ragassay.corpus.crawl.frontier import Frontier
from ragassay.corpus.crawl.journal import Journal
from ragassay.corpus.crawl.loop import Loop
from ragassay.corpus.crawl.pace import LONGEST_WAIT_S, Pace, Stopped
from ragassay.corpus.crawl.place import Place, held
from ragassay.corpus.crawl.resumed import Resumed, resume
from ragassay.corpus.crawl.robots import Robots, fetch_robots
from ragassay.corpus.crawl.scope import Scope
from ragassay.corpus.crawl.settings import CrawlSettings, Manner, checked, folder_of
from ragassay.errors import InputError, PluginError
from ragassay.seams import Progress

__all__ = ["Changes", "Finished", "Incomplete", "Watch", "crawl"]


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """A crawl that is in its place; `resumed` counts what was settled before this process began."""

    folder: Path
    header: CrawlHeader
    left_out: tuple[NotTaken, ...]
    changes: Changes | None
    requests: int
    resumed: int
    retried: dict[str, int]
    notes: tuple[str, ...]


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever waits for a crawl: may stop it, and is told how it goes."""

    stopped: Callable[[], bool] = lambda: False
    progress: Progress | None = None
    say: Callable[[str], None] = lambda _line: None


async def crawl(
    settings: CrawlSettings,
    manner: Manner,
    folder: Path,
    *,
    watch: Watch | None = None,
    resolver: AbstractResolver | None = None,
) -> Finished:
    """Crawl a site into `folder`, which holds the crawl before until this one is complete.

    Raises `InputError` for settings or a place that cannot be used, and `Incomplete` where it did not come to its end.
    """
    settings = checked(settings, manner)
    watch = watch or Watch()
    with held(folder) as place:
        place.recover()
        if manner.restart:
            place.clear()
        old = _before(place, settings, watch)
        if place.is_complete:
            watch.say("a crawl that was complete already is put in place")
            return _in_place(place, old)
        journal = Journal(place.building)
        try:
            found = resume(journal, settings, place.files)
            return await _Crawl(settings, manner, place, journal, found, old, watch, resolver).run()
        finally:
            journal.close()


def _before(place: Place, settings: CrawlSettings, watch: Watch) -> Crawled | None:
    if not is_crawl(place.final):
        return None
    try:
        old = load_crawl(place.final, check_bytes=False)
        if old.header.start == settings.start:
            return old
    except InputError as error:
        watch.say(f"the crawl before cannot be read, so every page is fetched anew: {error.message}")
        return None
    raise InputError(f"{place.final} holds the crawl of {old.header.start}; name another folder with --out")


def _in_place(place: Place, old: Crawled | None) -> Finished:
    new = load_crawl(place.building, check_bytes=False)
    place.swap()
    return Finished(
        folder=place.final,
        header=new.header,
        left_out=new.left_out,
        changes=None if old is None else ending.changes(old.pages, new.pages),
        requests=0,
        resumed=new.header.counts["seen"],
        retried={},
        notes=tuple(ending.notes(new.header, new.left_out)),
    )


class _Crawl:
    def __init__(
        self,
        settings: CrawlSettings,
        manner: Manner,
        place: Place,
        journal: Journal,
        found: Resumed,
        old: Crawled | None,
        watch: Watch,
        resolver: AbstractResolver | None,
    ) -> None:
        self._settings = settings
        self._manner = manner
        self._place = place
        self._journal = journal
        self._found = found
        self._old = old
        self._watch = watch
        self._resolver = resolver
        self._resumed = len(found.settled)
        until = manner.max_time_s
        self._deadline = None if until is None else time.monotonic() + until
        self._pace = Pace(manner.rate_per_s, stopped=self._is_over)

    def _is_over(self) -> bool:
        return self._watch.stopped() or self._is_late()

    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

    async def run(self) -> Finished:
        settings, manner = self._settings, self._manner
        try:
            async with session(
                settings.agent,
                connections=manner.concurrency,
                allow_private=settings.allow_private,
                resolver=self._resolver,
            ) as opened:
                fetcher = Fetcher(opened, timeout_s=manner.timeout_s, allow_private=settings.allow_private)
                asker = Asker(fetcher, self._pace, probe=f"{origin_of(settings.start)}/robots.txt")
                ended = await self._fetched(asker)
        except Stopped:
            raise self._stopped() from None
        except InputError:
            raise
        except PluginError as error:
            raise Incomplete(f"{error}; what was fetched is kept: crawl again to go on") from error
        result = ending.result_of(ended)
        try:
            ending.hold_back(ended, result, self._old, allow_failures=manner.allow_failures)
        except Incomplete:
            if not result.pages and not ended.failures:
                self._place.clear()
            raise
        header = ending.write(self._place, ended, result)
        return Finished(
            folder=self._place.final,
            header=header,
            left_out=result.left_out,
            changes=None if self._old is None else ending.changes(self._old.pages, result.pages),
            requests=fetcher.requests,
            resumed=self._resumed,
            retried=dict(asker.retried),
            notes=tuple(ending.notes(header, result.left_out)),
        )

    def _stopped(self) -> Incomplete:
        if self._watch.stopped():
            return Incomplete(
                "stopped before the end; the same command goes on where it stopped, the crawl before is untouched",
                interrupted=True,
            )
        return Incomplete(
            f"--max-time {self._manner.max_time_s:g} was over before the end; the same command goes on where it stopped"
        )

    async def _fetched(self, asker: Asker) -> Ended:
        robots = await self._robots(asker)
        prefix = await self._prefix(asker, robots)
        discovered = self._found.discovered
        if discovered is None:
            discovered = await discover(
                asker, robots, self._settings, prefix, allow_failures=self._manner.allow_failures
            )
            self._journal.write(discovered)
        self._watch.say(f"addresses from {discovered.used}: {len(discovered.addresses):,}, prefix {discovered.prefix}")
        scope = Scope(self._settings, discovered.prefix, robots.allows)
        frontier = Frontier(scope, follows=discovered.used == "links")
        frontier.see(discovered.addresses)
        if self._found.settled:
            self._watch.say(f"going on: {len(self._found.settled):,} addresses were settled before")
        while self._found.settled:
            url = next(iter(self._found.settled))
            frontier.settle(url, self._found.settled.pop(url))
        loop = Loop(
            asker,
            frontier,
            scope,
            self._journal,
            self._place.files,
            self._settings,
            discovered.prefix,
            None if self._manner.fresh else self._old,
        )
        await loop.run(self._manner.concurrency, self._watch.progress)
        return Ended(
            settings=self._settings,
            discovered=discovered,
            began=self._found.began,
            frontier=frontier,
            failures=loop.failures,
            is_full=loop.is_full,
        )

    async def _robots(self, asker: Asker) -> Robots:
        file = self._found.robots
        if file is None:
            file = await fetch_robots(asker, origin_of(self._settings.start), now=int(time.time()))
            self._journal.write(file)
        robots = Robots(file, self._settings.agent)
        self._watch.say(robots.note)
        if robots.interval_s > LONGEST_WAIT_S:
            raise SiteDown(
                f"robots.txt asks for {robots.interval_s:,.0f} s between requests, which is as good as a prohibition"
            )
        if robots.interval_s > self._pace.interval_s:
            self._watch.say(f"robots.txt asks for {robots.interval_s:g} s between requests")
            self._pace.at_least(robots.interval_s)
        return robots

    async def _prefix(self, asker: Asker, robots: Robots) -> str:
        """Return the prefix; without one the folder of the start, or the start where a redirect says it is a folder."""
        start = self._settings.start
        if self._found.discovered is not None or self._settings.prefix is not None:
            return self._settings.prefix or folder_of(start)
        name = urlsplit(start).path.rpartition("/")[2]
        if not name or "." in name or "?" in start or not robots.allows(start):
            return folder_of(start)
        try:
            reply = await asker.ask(start, cap=1, cut=True)
            is_folder = reply.status in REDIRECTS and target_of(reply) == f"{start}/"
        except (Fault, Unwanted):  # told when the page itself is asked for
            is_folder = False
        return f"{start}/" if is_folder else folder_of(start)
