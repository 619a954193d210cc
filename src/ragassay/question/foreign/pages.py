"""A document becomes a page: a file name that is safe on any system, and a text that the corpus reads back."""

from __future__ import annotations

import re

from ragassay import canon
from ragassay.question.foreign.seen import ForeignDocument
from ragassay.question.written import text_problem

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\.[A-Za-z0-9_-]{1,40}){0,6}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


def page_name(id_: str) -> str:
    """Return the page of a document: its id and `.txt` where that is a plain name, else what of it is, and a digest."""
    if _PLAIN.fullmatch(id_) and not _RESERVED.fullmatch(id_):
        return f"{id_}.txt"
    digest = canon.sha256(id_.encode("utf-8", "surrogatepass"))[:16]
    return f"{_UNSAFE.sub('-', id_)[:60].strip('-') or 'document'}-{digest}.txt"


def page_text(document: ForeignDocument) -> str:
    """Return title, blank line and text of a document, as its page holds them."""
    parts = [part for part in (document.title, document.text) if text_problem(part) is None]
    return "\n\n".join(parts).replace("\r\n", "\n").replace("\r", "\n") + "\n"


def passage(document: ForeignDocument) -> str:
    """Return the text of a document that stands on its page word for word: its text, or its title where it has none."""
    text = document.title if text_problem(document.text) else document.text
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()
