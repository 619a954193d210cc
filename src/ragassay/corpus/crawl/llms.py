"""The links of an `llms.txt`, the Markdown list of a site's pages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragassay.corpus.crawl.address import joined

_MARKDOWN = MarkdownIt("commonmark")
_BARE = re.compile(r"https?://[^\s<>\[\]\"'`]+")
_AFTER = ".,;:!?)"


def links_of_llms(text: str, base: str) -> tuple[str, ...]:
    """Return the normal addresses of all links, in order and once each; `base` is the file's own address.

    Links in brackets, in angle brackets and bare http(s) addresses count; what stands in code does not.
    """
    tokens = _MARKDOWN.parse(text.removeprefix("\ufeff"))
    found = (joined(base, link) for token in tokens for link in _links(token.children or []))
    return tuple(dict.fromkeys(address for address in found if address is not None))


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
