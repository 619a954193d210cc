"""The loop of a crawl: so many addresses under way at once, each settled in the journal as soon as it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.corpus.crawl.ask import REDIRECTS, Asker, target_of
from ragassay.corpus.crawl.disk import writing
from ragassay.corpus.crawl.fetch import Fault, Reply, Unwanted
from ragassay.corpus.crawl.folder import Crawled, CrawledPage, NotTaken, Reason
from ragassay.corpus.crawl.frontier import Frontier
from ragassay.corpus.crawl.journal import Journal, Left, Settled, Took
from ragassay.corpus.crawl.naming import page_id
from ragassay.corpus.crawl.pace import Stopped
from ragassay.corpus.crawl.robots import header_rules
from ragassay.corpus.crawl.scope import Scope
from ragassay.corpus.crawl.settings import CrawlSettings
from ragassay.corpus.crawl.take import NoIndex, Taken, take, wanted, with_links
from ragassay.corpus.extract import EXTRACTOR
from ragassay.errors import InputError
from ragassay.seams import Progress

_GONE = (404, 410)


class Loop:
    """Settles every address of a frontier, or as many as it is let."""

    def __init__(
        self,
        asker: Asker,
        frontier: Frontier,
        scope: Scope,
        journal: Journal,
        files: Path,
        settings: CrawlSettings,
        prefix: str,
        old: Crawled | None,
    ) -> None:
        self._asker = asker
        self._frontier = frontier
        self._scope = scope
        self._journal = journal
        self._files = files
        self._settings = settings
        self._prefix = prefix
        self._old = old
        self._old_pages: Mapping[str, CrawledPage] = {} if old is None else {page.url: page for page in old.pages}
        self.failures: dict[str, Fault] = {}
        self.is_full = False
        """Whether the cap of all bytes was met."""

    async def run(self, concurrency: int, progress: Progress | None) -> None:
        """Ask for what waits until nothing waits or a cap is met; raises `Stopped`, `SiteDown` and `InputError`."""
        under_way: set[asyncio.Task[None]] = set()
        stopped: Stopped | None = None
        try:
            while True:
                while stopped is None and len(under_way) < concurrency and self._has_room(len(under_way)):
                    if (url := self._frontier.next()) is None:
                        break
                    under_way.add(asyncio.create_task(self._one(url)))
                if not under_way:
                    break
                done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    try:
                        task.result()
                    except Stopped as error:  # what is under way comes to its end
                        stopped = error
                if progress is not None:
                    progress(len(self._frontier.settled), self._frontier.seen - len(self._frontier.judged))
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
        if stopped is not None:
            raise stopped

    def _has_room(self, under_way: int) -> bool:
        return not self.is_full and self._frontier.pages + under_way < self._settings.max_pages

    async def _one(self, url: str) -> None:
        try:
            line = await self._settled(url)
        except Fault as fault:
            self.failures[url] = fault
            return
        if isinstance(line, Took) and self._frontier.bytes + line.page.bytes > self._settings.max_bytes:
            self.is_full = True
            return
        line = self._frontier.news(line)
        self._journal.write(line)
        self._frontier.settle(url, line)

    async def _settled(self, url: str) -> Settled:
        try:
            return await self._asked(url)
        except NoIndex as unwanted:
            return Left(left=_left(url, unwanted), links=unwanted.links)
        except Unwanted as unwanted:
            return Left(left=_left(url, unwanted))

    async def _asked(self, url: str) -> Settled:
        before = self._old_pages.get(url)
        conditions = {} if before is None else _conditions(before)
        look = wanted(url, self._settings)
        reply = await self._asker.ask(url, cap=self._settings.max_page_bytes, wanted=look, conditions=conditions)
        if reply.status == 304 and before is not None and conditions:
            taken = await asyncio.to_thread(self._kept, before, reply)
            if taken is not None:
                return _took(taken)
            reply = await self._asker.ask(url, cap=self._settings.max_page_bytes, wanted=look)
        if reply.status in REDIRECTS:
            return self._redirected(url, reply)
        if reply.status not in (200, 203):
            reason: Reason = "not found" if reply.status in _GONE else "empty" if reply.status == 204 else "refused"
            raise Unwanted(reason, f"status {reply.status}", reply.status)
        return _took(await asyncio.to_thread(self._taken, url, reply))

    def _redirected(self, url: str, reply: Reply) -> Settled:
        target = target_of(reply)
        refusal = self._scope.refusal(target)
        if refusal is not None:
            raise Unwanted(refusal[0], f"it redirects to {target}: {refusal[1]}", reply.status)
        return Left(left=NotTaken(url=url, reason="moved", detail=target, status=reply.status), leads_to=target)

    def _taken(self, url: str, reply: Reply) -> Taken:
        taken = take(url, reply, self._settings, self._prefix, now=int(time.time()))
        self._store(taken.page.id, reply.data)
        return taken

    def _kept(self, before: CrawledPage, reply: Reply) -> Taken | None:
        """Return the page of the crawl before, None where its bytes are not what they were."""
        assert self._old is not None
        try:
            data = self._old.data(before)
        except InputError:
            return None
        page = msgspec.structs.replace(
            before,
            id=page_id(before.url, before.content_type, self._prefix),
            fetched_at=int(time.time()),
            extractor=EXTRACTOR,
            not_modified=True,
        )
        taken = with_links(page, data, header_rules(reply.headers.getall("X-Robots-Tag", []), self._settings.agent))
        self._store(page.id, data)
        return taken

    def _store(self, id_: str, data: bytes) -> None:
        path = self._files / id_
        temporary = self._files.parent / f".{canon.sha256(id_.encode())[:16]}"
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                temporary.write_bytes(data)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)


def _took(taken: Taken) -> Took:
    return Took(page=taken.page, links=taken.links, unfollowed=taken.unfollowed, beyond=taken.beyond)


def _left(url: str, unwanted: Unwanted) -> NotTaken:
    return NotTaken(url=url, reason=unwanted.reason, detail=unwanted.detail, status=unwanted.status)


def _conditions(page: CrawledPage) -> dict[str, str]:
    """Return the headers that ask for a page only where it has changed."""
    both = {"If-None-Match": page.etag, "If-Modified-Since": page.last_modified}
    return {name: value for name, value in both.items() if value and value.isascii() and value.isprintable()}
