"""The end of a crawl: what was settled becomes lists that add up, and they take the place of the crawl before."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ragassay import canon
from ragassay.corpus.crawl.fetch import Fault
from ragassay.corpus.crawl.folder import FORMAT, Crawled, CrawledPage, CrawlHeader, NotTaken, write_lists
from ragassay.corpus.crawl.frontier import Frontier
from ragassay.corpus.crawl.journal import Discovered, Took
from ragassay.corpus.crawl.place import Place
from ragassay.corpus.crawl.scope import MAX_ADDRESSES
from ragassay.corpus.crawl.settings import CrawlSettings
from ragassay.corpus.crawl.settle import Result, settle
from ragassay.errors import PluginError
from ragassay.records import to_json

SHOWN = 10


class Incomplete(PluginError):
    """The crawl has not come to its end: nothing was put in place, and nothing that was fetched is lost."""

    def __init__(self, message: str, *, interrupted: bool = False) -> None:
        self.interrupted = interrupted
        super().__init__(message, retryable=True)


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """Pages against the crawl before, by address."""

    new: int
    changed: int
    same: int
    gone: int


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """All that a crawl came to, before anything of it is written."""

    settings: CrawlSettings
    discovered: Discovered
    began: int
    frontier: Frontier
    failures: Mapping[str, Fault]
    is_full: bool


def result_of(ended: Ended) -> Result:
    """Return the pages, and what is left out: of what was not settled, what failed and what a cap shut out."""
    frontier = ended.frontier
    pages = [line.page for line in frontier.settled.values() if isinstance(line, Took)]
    return settle(pages, frontier.left(), (_unsettled(url, ended) for url in frontier.unsettled()))


def _unsettled(url: str, ended: Ended) -> NotTaken:
    if (fault := ended.failures.get(url)) is not None:
        return NotTaken(url=url, reason="failed", detail=fault.detail, status=fault.status)
    if ended.is_full:
        return NotTaken(url=url, reason="byte cap", detail=f"--max-bytes {ended.settings.max_bytes:,}", status=None)
    return NotTaken(url=url, reason="page cap", detail=f"--max-pages {ended.settings.max_pages:,}", status=None)


def hold_back(ended: Ended, result: Result, old: Crawled | None, *, allow_failures: bool) -> None:
    """Raise `Incomplete` where the result is not to take the place of the crawl before."""
    if ended.failures and not allow_failures:
        failed = [f"  - {url}: {fault.detail}" for url, fault in sorted(ended.failures.items())]
        raise Incomplete(
            "\n".join(
                [
                    f"{len(failed):,} of {ended.frontier.seen:,} addresses could not be fetched, so the crawl is not "
                    "put in place; crawl again to ask for them alone, or take it without them with --allow-failures",
                    *failed[:SHOWN],
                    *([f"  … and {len(failed) - SHOWN:,} more"] if len(failed) > SHOWN else []),
                ]
            )
        )
    if not result.pages:
        raise Incomplete("\n".join(["no page was taken, so no crawl is put in place", *_reasons(result.left_out)]))
    if old is None or allow_failures or canon.digest(old.header.settings) != canon.digest(to_json(ended.settings)):
        return
    if 2 * len(result.pages) < len(old.pages):
        raise Incomplete(
            f"{len(result.pages):,} pages are fewer than half of the {len(old.pages):,} of the crawl before, which is "
            "kept; crawl anew with --restart, or let this one take its place with --allow-failures"
        )


def _reasons(left_out: Iterable[NotTaken]) -> Iterator[str]:
    for left in list(left_out)[:SHOWN]:
        yield f"  - {left.url}: {left.reason}" + (f" ({left.detail})" if left.detail else "")


def write(place: Place, ended: Ended, result: Result) -> CrawlHeader:
    """Write the lists of a crawl, remove the bytes that are no page's, and put it in its place."""
    place.drop_files({page.id for page in result.pages})
    discovered = ended.discovered
    header = CrawlHeader(
        format=FORMAT,
        start=ended.settings.start,
        settings=to_json(ended.settings),
        agent=ended.settings.agent,
        began=ended.began,
        ended=int(time.time()),
        counts={
            "seen": len(result.pages) + len(result.left_out),
            "pages": len(result.pages),
            "leftOut": len(result.left_out),
            "notModified": sum(page.not_modified for page in result.pages),
            "bytes": sum(page.bytes for page in result.pages),
            "beyond": discovered.beyond + ended.frontier.beyond,
            "onlyLinked": ended.frontier.only_linked(),
        },
        files={},
        discovery={
            "used": discovered.used,
            "prefix": discovered.prefix,
            "sources": list(discovered.sources),
            "problems": list(discovered.problems),
        },
    )
    written = write_lists(place.building, header, result.pages, result.left_out)
    place.swap()
    return written


def changes(old: Iterable[CrawledPage], new: Iterable[CrawledPage]) -> Changes:
    """Return how many pages are new, changed, the same and gone."""
    before = {page.url: page.sha256 for page in old}
    after = {page.url: page.sha256 for page in new}
    kept = before.keys() & after.keys()
    changed = sum(before[url] != after[url] for url in kept)
    return Changes(
        new=len(after.keys() - before.keys()),
        changed=changed,
        same=len(kept) - changed,
        gone=len(before.keys() - after.keys()),
    )


def notes(header: CrawlHeader, left_out: Iterable[NotTaken]) -> Iterator[str]:
    """Yield what whoever relies on the crawl should know."""
    reasons = Counter(left.reason for left in left_out)
    counts = header.counts
    if counts["onlyLinked"]:
        yield (
            f"{counts['onlyLinked']:,} addresses within the prefix are linked from pages but stand in no "
            f"{header.discovery['used']}; --from links would take them"
        )
    if counts["beyond"]:
        yield f"{counts['beyond']:,} more addresses are not listed: {MAX_ADDRESSES:,} are seen at most"
    if capped := reasons["page cap"] + reasons["byte cap"]:
        yield f"{capped:,} addresses were shut out by a cap: this is not the whole site"
    if reasons["failed"]:
        yield f"{reasons['failed']:,} addresses failed and are missing"
    if reasons["canonical"] > counts["pages"]:
        yield f"{reasons['canonical']:,} pages named another page as their canonical address, more than were taken"
    for problem in header.discovery["problems"][:SHOWN]:
        yield f"a list of the site: {problem}"
    if (more := len(header.discovery["problems"]) - SHOWN) > 0:
        yield f"… and {more:,} more such problems, listed in crawl.json"
