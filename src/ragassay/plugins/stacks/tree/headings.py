"""The headings of a page with their levels and titles, read where the outline says that a section begins."""

from __future__ import annotations

import re

import msgspec

from ragassay.plugins.chunkers.outline import outline
from ragassay.records import Page

TITLE_CHARACTERS = 120
"""The longest title that is shown."""
UNTITLED = "(untitled)"

_SETEXT = re.compile(r" {0,3}(?:=+|-+)[ \t]*")


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """A heading at the character `start` of its page; what it heads begins at `body`. Level 1 is the highest."""

    start: int
    body: int
    level: int
    title: str


def headings(page: Page) -> list[Heading]:
    """Return the headings of a page in order.

    Markdown tells the levels; in reStructuredText a style of lines is the deeper, the later it is first used; the text
    of an HTML page keeps no levels, so all its headings are of one.
    """
    styles: list[str] = []
    found = []
    for start in outline(page).sections:
        lines = page.text[start:].split("\n", 64)
        count, level, title = _read(page.format, lines, styles)
        body = min(start + sum(len(line) + 1 for line in lines[:count]), len(page.text))
        found.append(Heading(start=start, body=body, level=level, title=shown(title) or UNTITLED))
    return found


def shown(text: str, most: int = TITLE_CHARACTERS) -> str:
    """Return a text as one line of at most `most` characters; what is cut off is told by an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _read(form: str, lines: list[str], styles: list[str]) -> tuple[int, int, str]:
    """Return how many lines the heading takes, its level and its title."""
    if form == "markdown":
        return _markdown(lines)
    if form == "rst":
        return _rst(lines, styles)
    return 1, 1, lines[0]


def _markdown(lines: list[str]) -> tuple[int, int, str]:
    first = lines[0].strip()
    level = len(first) - len(first.lstrip("#"))
    title = first[level:]
    if 1 <= level <= 6 and title[:1] in ("", " ", "\t"):
        unclosed = title.rstrip("#")
        return 1, level, title if unclosed and unclosed[-1] not in " \t" else unclosed
    for number, line in enumerate(lines[1:], 1):
        if _SETEXT.fullmatch(line):
            return number + 1, 1 if "=" in line else 2, " ".join(lines[:number])
    return 1, 1, lines[0]


def _rst(lines: list[str], styles: list[str]) -> tuple[int, int, str]:
    first = lines[0].strip()
    over = len(first) > 1 and len(set(first)) == 1 and not first[0].isalnum()
    title, line = (lines[1], lines[2]) if over and len(lines) > 2 else (lines[0], lines[1] if len(lines) > 1 else "")
    style = f"{over}{line.strip()[:1]}"
    if style not in styles:
        styles.append(style)
    return 3 if over else 2, styles.index(style) + 1, title
