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
    ends = _ends({url: page.canonical for url, page in by_url.items() if page.canonical in by_url}, by_url)
    left = [*left_out, *unsettled]
    kept: dict[str, CrawledPage] = {}
    for url, page in by_url.items():
        end, _ = ends[url]
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


def _ends(to: Mapping[str, str | None], of: Iterable[str]) -> dict[str, tuple[str, str | None]]:
    """Return where each address leads in the end, and of a circle there its smallest address."""
    ends: dict[str, tuple[str, str | None]] = {}
    for url in of:
        way: dict[str, int] = {}
        here = url
        while here not in ends and here not in way and (there := to.get(here)) is not None:
            way[here] = len(way)
            here = there
        if here in way:
            circle = min(list(way)[way[here] :])
            ends.update(dict.fromkeys(way, (circle, circle)))
        else:
            end = ends.setdefault(here, (here, None))
            ends.update(dict.fromkeys(way, end))
    return ends


def _not_taken(page: CrawledPage, reason: Reason, detail: str) -> NotTaken:
    return NotTaken(url=page.url, reason=reason, detail=detail, status=page.status)


def _moved(left: list[NotTaken], pages: set[str]) -> Iterable[NotTaken]:
    """Tell of a redirect that leads to no page what it leads to."""
    by_url = {one.url: one for one in left}
    moved = [one.url for one in by_url.values() if one.reason == "moved"]
    ends = _ends({url: by_url[url].detail for url in moved}, moved)
    for one in left:
        end, circle = ends.get(one.url, (one.url, None))
        if one.reason != "moved" or end in pages or end not in by_url:
            yield one
        elif circle is not None:
            yield msgspec.structs.replace(one, reason="redirect", detail="in a circle")
        elif by_url[end].reason in ("canonical", "same bytes"):
            yield one
        else:
            yield msgspec.structs.replace(one, reason="redirect", detail=f"to {end}, left out: {by_url[end].reason}")
