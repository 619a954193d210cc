"""A PDF file becomes the text of its pages, page after page, by pypdfium2 in a process of its own.

PDFium takes as much memory as a file asks for, and a fault of it ends its process: a few megabytes would be enough to
end the caller. `pdf_worker.py` is that process; it calls `read_here`.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec

from ragassay.corpus.found import Limits
from ragassay.errors import InputError, PluginError

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]

WORKER = "ragassay.corpus.pdf_worker"
_HYPHEN = "\ufffe"
"""What PDFium writes for a hyphen at which a line was broken."""
_SOFT_HYPHEN = "\u00ad"
_LONGEST_TITLE = 200


class PdfText(msgspec.Struct, frozen=True, tag="text"):
    """The text of a PDF file, a blank line between its pages, and the title that its author gave it."""

    text: str
    title: str | None


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """Why a PDF file cannot be read."""

    problem: str


def read(data: bytes, limits: Limits) -> PdfText:
    """Return the text of a PDF file; empty where its pages are pictures.

    Raises `InputError` when it is encrypted, damaged, or takes or holds more than the limits allow; `PluginError` when
    pypdfium2 is not installed.
    """
    try:
        import pypdfium2  # noqa: F401 - asked for here, where it can be said what to install
    except ImportError as error:
        raise PluginError("reading PDF files needs 'pypdfium2': pip install 'ragassay[pdf]'") from error
    command = [sys.executable, "-P", "-m", WORKER, msgspec.json.encode(limits).decode()]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=limits.pdf_s, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"it takes more than {limits.pdf_s:g} s to read; split it, or leave it out") from None
    try:
        answer = msgspec.json.decode(done.stdout, type=PdfText | Refused)
    except msgspec.MsgspecError:
        if done.returncode == 0 or b"Error" in done.stderr.replace(b"MemoryError", b""):
            said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise PluginError(f"the process that reads PDF files failed ({said or done.returncode})") from None
        raise InputError(
            f"it takes more than the {limits.pdf_memory:,} bytes of memory allowed, or ends its reader "
            f"({done.returncode}); save it anew, or leave it out"
        ) from None
    if isinstance(answer, Refused):
        raise InputError(answer.problem)
    return answer


def read_here(data: bytes, limits: Limits) -> PdfText:
    """Return the text of a PDF file, read in this process; raises `InputError`."""
    import pypdfium2

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
