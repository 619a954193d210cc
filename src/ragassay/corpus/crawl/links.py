"""What an HTML page says to a crawler: links, canonical address, whether it may be kept and followed. Pure."""

from __future__ import annotations

import codecs
from functools import cache, partial

import msgspec
from lxml import etree

from ragassay.corpus.attributes import attributes_problem
from ragassay.corpus.crawl.address import joined
from ragassay.corpus.decode import charset_named, declared, served

MOST_CHARS = 8 * 1024 * 1024
"""So many characters have all addresses of one page; a short link may stand for a long address."""
_LINKS = {"a": "href", "area": "href", "frame": "src"}


class Links(msgspec.Struct, frozen=True):
    """Normal addresses in page order, once each."""

    targets: tuple[str, ...]
    canonical: str | None
    """The one address that the page calls its own; None where it names none, or several."""
    noindex: bool
    nofollow: bool
    unfollowed: tuple[str, ...] = ()
    """Addresses that are linked only with `rel="nofollow"`."""
    beyond: int = 0
    """Links that were not looked at: the page has more than are read."""


def links_of_html(data: bytes, url: str, charset: str | None) -> Links:
    """Return the links of the page at `url`; `charset` is what its server said, and damaged bytes are passed over."""
    text = _text(data, charset)
    if attributes_problem(text) is not None:  # `corpus build` says so of the page itself
        return Links((), None, noindex=False, nofollow=False)
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    root = etree.fromstring(text.encode("utf-8"), parser) if text.strip() else None
    if root is None:
        return Links((), None, noindex=False, nofollow=False)
    base = _base(root, url)
    followed, unfollowed, beyond = _targets(root, base)
    rules = _robots(root)
    return Links(
        targets=tuple(followed),
        canonical=_canonical(root, base),
        noindex=not rules.isdisjoint(("noindex", "none")),
        nofollow=not rules.isdisjoint(("nofollow", "none")),
        unfollowed=tuple(address for address in unfollowed if address not in followed),
        beyond=beyond,
    )


def _text(data: bytes, charset: str | None) -> str:
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :].decode("utf-8", "replace")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    codec = served(charset, data) if charset else None
    label = None if codec else declared(data)
    return data.decode(codec or (charset_named(label) if label else None) or "utf-8", "replace")


def _base(root: etree._Element, url: str) -> str:
    for element in root.iter("base"):
        if (href := element.get("href")) is not None:
            return joined(url, href) or url
    return url


def _targets(root: etree._Element, base: str) -> tuple[dict[str, None], dict[str, None], int]:
    followed: dict[str, None] = {}
    unfollowed: dict[str, None] = {}
    join = cache(partial(joined, base))
    left, beyond = MOST_CHARS, 0
    for element in root.iter(*_LINKS):
        href = element.get(_LINKS[str(element.tag)])
        if href is None:
            continue
        if left <= 0:
            beyond += 1
            continue
        address = join(href)
        if address is not None:
            into = unfollowed if "nofollow" in _words(element, "rel") else followed
            left -= 0 if address in into else len(address)
            into[address] = None
    return followed, unfollowed, beyond


def _canonical(root: etree._Element, base: str) -> str | None:
    named = {
        joined(base, element.get("href") or "")
        for element in root.iter("link")
        if "canonical" in _words(element, "rel") and (element.get("href") or "").strip()
    }
    return named.pop() if len(named) == 1 else None


def _robots(root: etree._Element) -> set[str]:
    return {
        rule.strip()
        for element in root.iter("meta")
        if (element.get("name") or "").strip().lower() == "robots"
        for rule in (element.get("content") or "").lower().split(",")
    }


def _words(element: etree._Element, attribute: str) -> list[str]:
    return (element.get(attribute) or "").lower().split()
