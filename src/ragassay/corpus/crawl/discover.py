"""Where the addresses of a site come from: its sitemaps, its llms.txt, or the links of its pages."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec

from ragassay.corpus.crawl.address import joined
from ragassay.corpus.crawl.ask import Asker, follow, origin_of
from ragassay.corpus.crawl.fetch import Fault, Reply, Unwanted
from ragassay.corpus.crawl.frontier import Capped
from ragassay.corpus.crawl.journal import Discovered
from ragassay.corpus.crawl.llms import links_of_llms
from ragassay.corpus.crawl.robots import Robots
from ragassay.corpus.crawl.scope import Prefix
from ragassay.corpus.crawl.settings import MIB, CrawlSettings
from ragassay.corpus.crawl.sitemap import SitemapLimits, read_sitemap
from ragassay.errors import InputError, PluginError

SITEMAP_BYTES = 64 * MIB
MOST_SITEMAPS = 1_000
MOST_PROBLEMS = 200
LLMS_BYTES = 8 * MIB


class _Found(msgspec.Struct):
    inside: Capped = msgspec.field(default_factory=Capped)
    outside: Capped = msgspec.field(default_factory=Capped)
    sources: list[str] = msgspec.field(default_factory=list)
    problems: list[str] = msgspec.field(default_factory=list)
    failed: list[str] = msgspec.field(default_factory=list)
    beyond: int = 0

    def add(self, urls: Iterable[str], prefix: str) -> None:
        within = Prefix(prefix)
        for url in urls:
            into = self.inside if within.holds(url) else self.outside
            if not into.add(url):
                self.beyond += into.missed(url)

    def problem(self, text: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(text)


async def discover(
    asker: Asker, robots: Robots, settings: CrawlSettings, prefix: str, *, allow_failures: bool
) -> Discovered:
    """Return the addresses to begin with, and which way was used to find them.

    Raises `InputError` where the way that was asked for finds nothing within the prefix, and `PluginError` where a
    list could not be read this time: what it names would be missing.
    """
    found = _Found()
    if settings.discovery in ("auto", "sitemap"):
        await _sitemaps(asker, robots, settings, prefix, found)
        _whole(found, allow_failures=allow_failures)
        if found.inside.urls:
            return _discovered("sitemap", prefix, found)
        if settings.discovery == "sitemap":
            raise InputError(f"no sitemap names a page within {prefix}; try --from links", found.problems)
    if settings.discovery in ("auto", "llms"):
        found = _Found(problems=found.problems)
        await _llms(asker, settings, prefix, found)
        _whole(found, allow_failures=allow_failures)
        if found.inside.urls:
            return _discovered("llms", prefix, found)
        if settings.discovery == "llms":
            raise InputError(f"no llms.txt or llms-full.txt of {prefix} is there; try --from links", found.problems)
    found = _Found(problems=found.problems, sources=[settings.start])
    found.inside.add(settings.start)
    return _discovered("links", prefix, found)


def _whole(found: _Found, *, allow_failures: bool) -> None:
    if found.failed and not allow_failures:
        raise PluginError(
            "what the site lists could not be read this time: " + "; ".join(found.failed[:10]) + "; crawl again, or go "
            "on without it with --allow-failures",
            retryable=True,
        )


def _discovered(used: str, prefix: str, found: _Found) -> Discovered:
    all_ = Capped()
    cut = sum(not all_.add(url) for url in (*found.inside.urls, *found.outside.urls))
    return Discovered(
        used=used,
        prefix=prefix,
        addresses=tuple(all_.urls),
        sources=tuple(found.sources),
        problems=(*found.problems, *found.failed),
        beyond=found.beyond + cut,
    )


async def _sitemaps(asker: Asker, robots: Robots, settings: CrawlSettings, prefix: str, found: _Found) -> None:
    named = []
    for given in robots.sitemaps:
        if (url := joined(f"{origin_of(settings.start)}/robots.txt", given)) is None:
            found.problem(f"robots.txt names a sitemap at {given[:200]!r}, which is no http or https address")
        else:
            named.append(url)
    guesses = dict.fromkeys([f"{prefix.rstrip('/')}/sitemap.xml", f"{origin_of(settings.start)}/sitemap.xml"])
    waiting = deque([*((url, True) for url in dict.fromkeys(named)), *((url, False) for url in guesses)])
    read: set[str] = set()
    while waiting:
        url, is_named = waiting.popleft()
        if url in read:
            continue
        if len(read) >= MOST_SITEMAPS:
            found.problem(f"more than {MOST_SITEMAPS:,} sitemaps; the rest is not read")
            return
        read.add(url)
        reply = await _read(asker, url, SITEMAP_BYTES, found, tell=is_named)
        if reply is None:
            continue
        if not is_named and _is_html(reply):
            continue
        sitemap = read_sitemap(reply.data, url, SitemapLimits(bytes=SITEMAP_BYTES))
        found.add(sitemap.pages, prefix)
        room = MOST_SITEMAPS + 1 - len(read) - len(waiting)  # one more than are read, so that the rest is told
        waiting.extend((child, True) for child in sitemap.sitemaps[: max(0, room)])
        found.sources.append(url)
        for problem in sitemap.problems:
            found.problem(f"{url}: {problem}")


async def _llms(asker: Asker, settings: CrawlSettings, prefix: str, found: _Found) -> None:
    """Take the links of an llms.txt; without one that names a page, llms-full.txt is the one page."""
    places = list(dict.fromkeys([prefix.rstrip("/"), origin_of(settings.start)]))
    for place in places:
        url = f"{place}/llms.txt"
        reply = await _read(asker, url, LLMS_BYTES, found, tell=False)
        if reply is not None and not _is_html(reply):
            found.add(links_of_llms(reply.data.decode("utf-8", "replace"), url), prefix)
            found.sources.append(url)
        if found.inside.urls:
            return
    for place in places:
        url = f"{place}/llms-full.txt"
        reply = (
            await _read(asker, url, settings.max_page_bytes, found, tell=False) if Prefix(prefix).holds(url) else None
        )
        if reply is not None and not _is_html(reply):
            found.add([url], prefix)
            found.sources.append(url)
            return


async def _read(asker: Asker, url: str, cap: int, found: _Found, *, tell: bool) -> Reply | None:
    """Return a list that is there; a list that could not be read is told, and so is a named one that is not there."""
    try:
        reply = await follow(asker, url, cap=cap)
    except Unwanted as unwanted:
        if tell or unwanted.reason == "too large":
            found.problem(f"{url}: {unwanted.detail}")
        return None
    except Fault as fault:
        found.failed.append(f"{url}: {fault.detail}")
        return None
    if reply.status == 200 and reply.data:
        return reply
    if tell:
        found.problem(f"{url}: status {reply.status}" + ("" if reply.status != 200 else ", and it is empty"))
    return None


def _is_html(reply: Reply) -> bool:
    """Return whether a page for people came in place of a list."""
    head = reply.data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith((b"<!doctype html", b"<html"))
