"""What a reply is worth: a page with its links, or the reason why it is none. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
from multidict import CIMultiDictProxy

from ragassay import canon
from ragassay.corpus.crawl.fetch import Reply, Unwanted, written
from ragassay.corpus.crawl.folder import CrawledPage
from ragassay.corpus.crawl.links import Links, links_of_html
from ragassay.corpus.crawl.llms import links_of_llms
from ragassay.corpus.crawl.naming import page_id, suffix_of
from ragassay.corpus.crawl.robots import header_rules
from ragassay.corpus.crawl.settings import CrawlSettings
from ragassay.corpus.extract import EXTRACTOR

_NONE = Links((), None, noindex=False, nofollow=False)
_CHARSET = re.compile(r""";\s*charset\s*=\s*(?:"([^"]*)"?|([^\s;"]*))""", re.I)
_HEADER_CHARS = 1_000


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A page, and the addresses it names."""

    page: CrawledPage
    links: tuple[str, ...]
    unfollowed: tuple[str, ...]
    beyond: int = 0
    """Links that were not looked at, for the page has too many."""


class NoIndex(Unwanted):
    """A page that may not be kept; its links may be followed all the same."""

    def __init__(self, detail: str, status: int, links: tuple[str, ...]) -> None:
        super().__init__("noindex", detail, status)
        self.links = links


def wanted(url: str, settings: CrawlSettings) -> Callable[[CIMultiDictProxy[str]], None]:
    """Return what looks at the headers of the page at `url` before its body is read."""

    def look(headers: CIMultiDictProxy[str]) -> None:
        media = headers.get("Content-Type")
        suffix = suffix_of(url, media)
        if suffix is None or (suffix == ".pdf" and not settings.pdf):
            more = " (--pdf takes PDF pages)" if suffix else ""
            raise Unwanted("content type", f"{(media or 'none')[:200]} is no page{more}", 200)

    return look


def take(url: str, reply: Reply, settings: CrawlSettings, prefix: str, *, now: int) -> Taken:
    """Return the page that a 200 brought; raises `Unwanted` where it is empty, or may not be kept."""
    if not reply.data.strip(b" \t\r\n\0\xef\xbb\xbf"):
        raise Unwanted("empty", "it has no content", reply.status)
    media, charset = content_type(reply.headers.get("Content-Type"))
    page = CrawledPage(
        id=page_id(url, media, prefix),
        url=url,
        asked=url,
        canonical=None,
        fetched_at=now,
        status=reply.status,
        content_type=media,
        charset=charset,
        etag=_kept(reply.headers.get("ETag")),
        last_modified=_kept(reply.headers.get("Last-Modified")),
        bytes=len(reply.data),
        sha256=canon.sha256(reply.data),
        extractor=EXTRACTOR,
        not_modified=False,
    )
    return with_links(page, reply.data, header_rules(reply.headers.getall("X-Robots-Tag", []), settings.agent))


def with_links(page: CrawledPage, data: bytes, rules: set[str]) -> Taken:
    """Return a page with what its bytes name; raises `NoIndex` where page or `rules` forbid to keep it."""
    found = _links(page, data)
    links = () if found.nofollow or "nofollow" in rules else found.targets
    if "noindex" in rules or found.noindex:
        where = "X-Robots-Tag" if "noindex" in rules else "its <meta name=robots>"
        raise NoIndex(f"{where} says noindex", page.status, links)
    canonical = None if found.canonical == page.url else found.canonical
    page = msgspec.structs.replace(page, canonical=canonical)
    return Taken(page=page, links=links, unfollowed=found.unfollowed, beyond=found.beyond)


def _links(page: CrawledPage, data: bytes) -> Links:
    suffix = suffix_of(page.url, page.content_type)
    if suffix == ".html":
        return links_of_html(data, page.url, page.charset)
    if suffix == ".md":
        return msgspec.structs.replace(_NONE, targets=links_of_llms(data.decode("utf-8", "replace"), page.url))
    return _NONE


def content_type(value: str | None) -> tuple[str | None, str | None]:
    """Return the media type and the charset of a Content-Type header, in lower case; None where none is named."""
    if not value or not value.strip():
        return None, None
    media = value.partition(";")[0].strip().lower()
    charset = _CHARSET.search(value[:_HEADER_CHARS])
    named = "" if charset is None else written((charset.group(1) or charset.group(2) or "").strip().lower())[:100]
    return written(media)[:200] or None, named or None


def _kept(value: str | None) -> str | None:
    return value if value and len(value) <= _HEADER_CHARS and value.isascii() and value.isprintable() else None
