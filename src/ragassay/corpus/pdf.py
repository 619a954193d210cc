"""A PDF file becomes the text of its pages, page after page, by pypdfium2. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ragassay.corpus.found import Limits
from ragassay.errors import InputError, PluginError

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]

_HYPHEN = "\ufffe"
"""What PDFium writes for a hyphen at which a line was broken."""
_SOFT_HYPHEN = "\u00ad"
_LONGEST_TITLE = 200


class PdfText(msgspec.Struct, frozen=True):
    """The text of a PDF file, a blank line between its pages, and the title that its author gave it."""

    text: str
    title: str | None


def read(data: bytes, limits: Limits) -> PdfText:
    """Return the text of a PDF file; empty where its pages are pictures.

    Raises `InputError` when it is encrypted, damaged, or holds more than the limits allow; `PluginError` when pypdfium2
    is not installed.
    """
    try:
        import pypdfium2
    except ImportError as error:
        raise PluginError("reading PDF files needs 'pypdfium2': pip install 'ragassay[pdf]'") from error
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise InputError("it is encrypted; save it without a password, or leave it out") from error
        raise InputError(f"it is damaged, or no PDF ({error}); save it anew, or leave it out") from error
    try:
        return PdfText(_text(document, limits), _title(document))
    finally:
        document.close()


def _text(document: pypdfium2.PdfDocument, limits: Limits) -> str:
    count = len(document)
    if count > limits.pdf_pages:
        raise InputError(f"{count:,} pages are more than the {limits.pdf_pages:,} allowed for one PDF; split it")
    texts: list[str] = []
    size = 0
    for number in range(count):
        text = _page(document, number)
        size += len(text.encode("utf-8"))
        if size > limits.page_bytes:
            raise InputError(f"its text has more than the {limits.page_bytes:,} bytes allowed for one page; split it")
        if text:
            texts.append(text)
    return "\n\n".join(texts)


def _page(document: pypdfium2.PdfDocument, number: int) -> str:
    import pypdfium2

    try:
        page = document[number]
        text = page.get_textpage().get_text_range(errors="replace")
        page.close()
    except pypdfium2.PdfiumError as error:
        raise InputError(f"its page {number + 1} cannot be read ({error}); save it anew, or leave it out") from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace(_HYPHEN, _SOFT_HYPHEN).replace("\0", "\ufffd")
    return "\n".join(line.rstrip() for line in lines.split("\n")).strip("\n")


def _title(document: pypdfium2.PdfDocument) -> str | None:
    found = document.get_metadata_dict(skip_empty=True).get("Title", "")
    return " ".join(found.replace("\0", " ").split())[:_LONGEST_TITLE] or None
