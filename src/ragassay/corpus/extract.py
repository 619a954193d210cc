"""One file's bytes become one page: decode, drop front matter or walk the HTML, find the title. Pure."""

from __future__ import annotations

import msgspec

from ragassay import canon
from ragassay.corpus import decode, front_matter, names
from ragassay.errors import PluginError
from ragassay.records import Page

EXTRACTOR = "blocks/1"
"""Names what text a file becomes; it changes whenever the text of any page may change."""


class ExtractedPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page and what was done to its bytes."""

    page: Page
    charset: str
    mark: bool
    line_ends: bool
    front_matter: bool


def extract(id_: str, data: bytes) -> ExtractedPage:
    """Turn the bytes of the page `id_` into its text.

    Raises `InputError` (without the page's name) for bytes that are no text in a known encoding, `PluginError` when
    lxml or markdown-it-py is not installed.
    """
    format_ = names.format_of(id_) or "text"
    decoded = decode.decode(data, html=format_ == "html")
    stem = id_.rpartition("/")[2].rpartition(".")[0]
    text, title, block = _content(decoded.text, format_)
    if not text.strip():
        text = ""
    page = Page(
        id=id_,
        title=title or stem,
        text=text,
        format=format_,
        sha256=canon.sha256(text.encode("utf-8")),
        source_sha256=canon.sha256(data),
    )
    return ExtractedPage(
        page=page, charset=decoded.charset, mark=decoded.mark, line_ends=decoded.line_ends, front_matter=bool(block)
    )


def _content(text: str, format_: names.Format) -> tuple[str, str | None, str]:
    """Return (text, title, front matter) of a decoded page."""
    if format_ == "text":
        return text, None, ""
    try:
        from ragassay.corpus import html_blocks, titles
    except ImportError as error:
        raise PluginError(f"reading documentation needs {error.name!r}: pip install 'ragassay[run]'") from error
    if format_ == "html":
        walked = html_blocks.extract(text)
        title = walked.heading or walked.title
        return walked.text, titles.tidy(title) if title else None, ""
    if format_ == "rst":
        return text, titles.of_rst(text), ""
    block, rest = front_matter.split(text)
    return rest, titles.of_markdown(rest) or front_matter.title(block), block
