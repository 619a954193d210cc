"""What becomes of everything that was seen, at the end: duplicates, redirects that led nowhere. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ragassay.corpus.crawl.folder import CrawledPage, NotTaken, Reason


class Result(msgspec.Struct, frozen=True):
    """The pages, and every other address that was seen with the reason why it is none."""

    pages: tuple[CrawledPage, ...]
    left_out: tuple[NotTaken, ...]


def settle(pages: Iterable[CrawledPage], left_out: Iterable[NotTaken], unsettled: Iterable[NotTaken]) -> Result:
    """Return pages that are no duplicate of another, and what is left out.

    A page is left out for its canonical address only where that leads to a page that was taken: nothing is lost by a
    canonical address that is not there. Of pages with the same bytes the one with the shortest address stays.
    """
    by_url = {page.url: page for page in pages}
    left = [*left_out, *unsettled]
    kept: dict[str, CrawledPage] = {}
    for url, page in by_url.items():
        end = _canonical_end(url, by_url)
        if end == url:
            kept[url] = page
        else:
            left.append(_not_taken(page, "canonical", f"its canonical address is {end}"))
    first: dict[str, str] = {}
    for url in sorted(kept, key=lambda url: (len(url), url)):
        page = kept[url]
        if (other := first.setdefault(page.sha256, url)) != url:
            left.append(_not_taken(page, "same bytes", f"the same bytes as {other}"))
    pages_kept = tuple(kept[url] for url in first.values())
    return Result(pages_kept, tuple(_moved(left, {page.url for page in pages_kept})))


def _canonical_end(url: str, by_url: Mapping[str, CrawledPage]) -> str:
    """Follow canonical addresses as long as they lead to pages; of a circle the smallest address is the end."""
    way = [url]
    while (to := by_url[way[-1]].canonical) in by_url and to is not None:
        if to in way:
            return min(way[way.index(to) :])
        way.append(to)
    return way[-1]


def _not_taken(page: CrawledPage, reason: Reason, detail: str) -> NotTaken:
    return NotTaken(url=page.url, reason=reason, detail=detail, status=page.status)


def _moved(left: list[NotTaken], pages: set[str]) -> Iterable[NotTaken]:
    """Tell of a redirect that leads to no page what it leads to."""
    by_url = {one.url: one for one in left}
    for one in left:
        way = [one.url]
        while (here := by_url.get(way[-1])) is not None and here.reason == "moved" and here.detail is not None:
            if here.detail in way:
                break
            way.append(here.detail)
        if one.reason != "moved" or way[-1] in pages or (end := by_url.get(way[-1])) is None:
            yield one
        elif end.reason == "moved":
            yield msgspec.structs.replace(one, reason="redirect", detail="in a circle")
        elif end.reason in ("canonical", "same bytes"):
            yield one
        else:
            yield msgspec.structs.replace(one, reason="redirect", detail=f"to {end.url}, left out: {end.reason}")
