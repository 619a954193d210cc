"""The links of an `llms.txt`, the Markdown list of a site's pages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragassay.corpus.crawl.address import joined
from ragassay.corpus.crawl.links import MOST_CHARS

_MARKDOWN = MarkdownIt("commonmark")
_BARE = re.compile(r"https?://[^\s<>\[\]\"'`]+")
MOST_READ = 4 * 1024 * 1024
"""Characters in which links are looked for."""
_PIECE = 128 * 1024
_AFTER = ".,;:!?)"


def links_of_llms(text: str, base: str) -> tuple[str, ...]:
    """Return the normal addresses of all links, in order and once each; `base` is the file's own address.

    Links in brackets, in angle brackets and bare http(s) addresses count; what stands in code does not. A long file is
    read in pieces, for the parser takes two hundred times the memory of its text; a reference may then stand alone.
    """
    found: dict[str, None] = {}
    left = MOST_CHARS
    for link in _all(text.removeprefix("\ufeff")[:MOST_READ]):
        address = joined(base, link)
        if address is not None and address not in found and left > 0:
            left -= len(address)
            found[address] = None
    return tuple(found)


def _all(text: str) -> Iterator[str]:
    known: dict[str, dict[str, dict[str, str]]] = {}
    for piece in _pieces(text):
        for token in _MARKDOWN.parse(piece, known):
            yield from _links(token.children or [])
    if len(text) > _PIECE:
        yield from (reference["href"] for reference in known.get("references", {}).values())


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that end behind an empty line, or a line, or anywhere."""
    at = 0
    while at < len(text):
        end = at + _PIECE
        if end < len(text):
            last = max(text.rfind("\n\n", at, end), text.rfind("\n", at + _PIECE // 2, end))
            end = end if last < 0 else last + 1
        yield text[at:end]
        at = end


def _links(children: list[Token]) -> Iterator[str]:
    inside = 0
    for child in children:
        if child.type == "link_open":
            inside += 1
            yield str(child.attrs.get("href", ""))
        elif child.type == "link_close":
            inside -= 1
        elif child.type == "text" and not inside:
            yield from (bare.rstrip(_AFTER) for bare in _BARE.findall(child.content))
