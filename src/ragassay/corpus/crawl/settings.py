"""What a crawl is asked for: what shapes the pages that come out, and in which manner they are fetched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from ragassay import __version__
from ragassay.corpus.crawl.address import normal, within
from ragassay.corpus.crawl.guard import url_problem
from ragassay.errors import InputError
from ragassay.records import Record

MIB = 1024 * 1024
Discovery = Literal["auto", "sitemap", "llms", "links"]
AGENT = f"ragassay/{__version__}"


class CrawlSettings(Record, frozen=True):
    """What shapes which pages come out; a crawl is resumed only with the same. Sizes in bytes, after inflating."""

    start: str
    discovery: Discovery = "auto"
    prefix: str | None = None
    """None is the folder of the start address."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_pages: int = 20_000
    max_page_bytes: int = 16 * MIB
    max_bytes: int = 1024 * MIB
    depth: int = 20
    pdf: bool = False
    agent: str = AGENT
    allow_private: bool = False


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How pages are fetched; may differ when a crawl is resumed. Times in seconds, no rate is no pace."""

    concurrency: int = 4
    rate_per_s: float = 5.0
    timeout_s: float = 30.0
    max_time_s: float | None = None
    fresh: bool = False
    allow_failures: bool = False
    restart: bool = False


def checked(settings: CrawlSettings, manner: Manner) -> CrawlSettings:
    """Return the settings with addresses in their normal form; raises `InputError` that lists every problem."""
    problems = list(_problems(settings, manner))
    if problems:
        raise InputError("the crawl cannot begin like this", problems)
    prefix = None if settings.prefix is None else normal(settings.prefix)
    return msgspec.structs.replace(settings, start=normal(settings.start), prefix=prefix)


def folder_of(start: str) -> str:
    """Return the prefix that a crawl has without one: the folder of its start address."""
    parts = urlsplit(start)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rpartition('/')[0]}/"


def _problems(settings: CrawlSettings, manner: Manner) -> Iterator[str]:
    for word, url in (("URL", settings.start), ("--prefix", settings.prefix)):
        if url is not None and (problem := _url_problem(url, settings)):
            yield f"{word} {url[:200]}: {problem}"
    if _is_elsewhere(settings):
        yield "--prefix has another scheme, host or port than URL; crawl each site by itself"
    elif settings.discovery == "links" and _starts_outside(settings):
        yield f"URL {settings.start[:200]} is not within the --prefix, so no link of it would be followed"
    for word, number in (
        ("--max-pages", settings.max_pages),
        ("--max-page-bytes", settings.max_page_bytes),
        ("--max-bytes", settings.max_bytes),
        ("--concurrency", manner.concurrency),
        ("--timeout", manner.timeout_s),
        ("--max-time", 1 if manner.max_time_s is None else manner.max_time_s),
    ):
        if not number > 0:
            yield f"{word} is {number}; it must be above 0"
    if settings.depth < 0 or not manner.rate_per_s >= 0:
        yield "--depth and --rate must not be below 0 (a --rate of 0 is no pace)"
    if not settings.agent.strip() or not settings.agent.isascii() or not settings.agent.isprintable():
        yield "--agent must be a line of printable ASCII, for example mybot/1.0 (+https://example.org/bot)"


def _is_elsewhere(settings: CrawlSettings) -> bool:
    if settings.prefix is None or _problem_of(settings.prefix) or _problem_of(settings.start):
        return False
    start, prefix = urlsplit(normal(settings.start)), urlsplit(normal(settings.prefix))
    return (start.scheme, start.netloc) != (prefix.scheme, prefix.netloc)


def _starts_outside(settings: CrawlSettings) -> bool:
    if settings.prefix is None or _problem_of(settings.prefix) or _problem_of(settings.start):
        return False
    return not within(settings.start, settings.prefix)


def _url_problem(url: str, settings: CrawlSettings) -> str | None:
    problem = _problem_of(url)
    if problem is not None:
        return problem
    problem = url_problem(normal(url), allow_private=settings.allow_private)
    if problem is not None and url_problem(normal(url), allow_private=True) is None:
        return f"{problem}; a site of your own network is crawled with --allow-private"
    return problem


def _problem_of(url: str) -> str | None:
    try:
        normal(url)
    except InputError as error:
        return error.message
    return None
