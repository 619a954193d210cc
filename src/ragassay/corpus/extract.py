"""One file's bytes become one page: decode, drop front matter or walk the HTML, find the title. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ragassay import canon
from ragassay.corpus import decode, names, pdf
from ragassay.corpus import front_matter as matter
from ragassay.corpus.attributes import attributes_problem
from ragassay.corpus.found import Limits
from ragassay.errors import InputError, PluginError
from ragassay.records import Page

EXTRACTOR = "blocks/2"
"""Names what text a file becomes; it changes whenever the text of any page may change."""
PDF_EXTRACTOR = "pdfium/1"
"""The same for PDF files, beside the other where a corpus holds any."""
NO_LIMITS_GIVEN = Limits()


class ExtractedPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page and what was done to its bytes."""

    page: Page
    charset: str
    mark: bool
    line_ends: bool
    front_matter: bool


def extractor_of(formats: Iterable[str]) -> str:
    """Return the name of what made texts of pages of these formats."""
    return f"{EXTRACTOR}+{PDF_EXTRACTOR}" if "pdf" in formats else EXTRACTOR


def reads_pdf(extractor: object) -> bool:
    """Return whether the name of an extractor says that PDF files were read."""
    return isinstance(extractor, str) and PDF_EXTRACTOR in extractor.split("+")


def extract(id_: str, data: bytes, *, charset: str | None = None, limits: Limits = NO_LIMITS_GIVEN) -> ExtractedPage:
    """Turn the bytes of the page `id_` into its text; `charset` is what the server that sent them said.

    Raises `InputError` (without the page's name) for bytes that are no text in a known encoding, `PluginError` when
    lxml, markdown-it-py or pypdfium2 is not installed.
    """
    format_ = names.format_of(id_, pdf=True) or "text"
    if format_ == "pdf":
        read = pdf.read(data, limits)
        return _extracted(id_, data, format_, read.text, read.title)
    decoded = decode.decode(data, html=format_ == "html", charset=charset)
    if format_ == "html" and (problem := attributes_problem(decoded.text)):
        raise InputError(f"{problem}; simplify it or leave the file out")
    text, title, block = _content(decoded.text, format_)
    return _extracted(id_, data, format_, text, title, decoded=decoded, front_matter=bool(block))


def _extracted(
    id_: str,
    data: bytes,
    format_: names.Format,
    text: str,
    title: str | None,
    *,
    decoded: decode.Decoded | None = None,
    front_matter: bool = False,
) -> ExtractedPage:
    stem = id_.rpartition("/")[2].rpartition(".")[0]
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
        page=page,
        charset=decoded.charset if decoded else "utf-8",
        mark=decoded is not None and decoded.mark,
        line_ends=decoded is not None and decoded.line_ends,
        front_matter=front_matter,
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
    block, rest = matter.split(text)
    return rest, titles.of_markdown(rest) or matter.title(block), block
