"""What a file's name says: whether it is read, as which format, and under which page id."""

from __future__ import annotations

import unicodedata
from typing import Literal

Format = Literal["markdown", "html", "rst", "text", "pdf"]

FORMATS: dict[str, Format] = {
    ".md": "markdown",
    ".html": "html",
    ".htm": "html",
    ".rst": "rst",
    ".txt": "text",
}
"""Suffixes that are read, lower case; a file with any other suffix is left out and listed."""

PDF = ".pdf"
"""The suffix that is read only where it is asked for."""

ARCHIVES = (".tar", ".tgz", ".tbz2", ".txz")


def suffix_of(path: str) -> str:
    """Return the last suffix of a `/` path in lower case with its dot, or an empty string."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


def format_of(path: str, *, pdf: bool = False) -> Format | None:
    """Return the format that the suffix of `path` names, None for a file that is not read."""
    suffix = suffix_of(path)
    return "pdf" if pdf and suffix == PDF else FORMATS.get(suffix)


def reason_unread(path: str, *, pdf: bool = False) -> str | None:
    """Return why a regular file is left out by its name alone, None when it is read."""
    if any(part.startswith(".") for part in path.split("/")):
        return "hidden"
    if format_of(path, pdf=pdf) is None:
        suffix = suffix_of(path)
        if suffix == PDF:
            return f"{suffix} is read only with `pdf = true` under [corpus], or --pdf"
        return f"{suffix} is not a documentation format" if suffix else "has no suffix"
    return None


def name_problem(path: str) -> str | None:
    """Return why `path` cannot be a page id, None when it can."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8; rename it"
    if any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in path):
        return "its name holds a control character; rename it"
    return None


def page_id(path: str) -> str:
    """Return the page id of a `/` path: the same on file systems that compose letters and those that do not."""
    return unicodedata.normalize("NFC", path)


def is_archive(name: str) -> bool:
    """Return whether a file name is that of a tar archive, compressed or not."""
    lower = name.lower()
    return lower.endswith(ARCHIVES) or ".tar." in lower


def shown(path: str) -> str:
    """Return `path` with what is not printable written as an escape, for a message."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in path)
