"""Where the sections of a page begin and which lines are code, by its format."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from markdown_it import MarkdownIt

from ragassay.records import Page

_MARKDOWN = MarkdownIt("commonmark").enable("table").disable(["inline"])
_HTML_HEADING = re.compile(r"\n\n\n(?=[^\s])")
_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1+[^\S\n]*")


class Outline(msgspec.Struct, frozen=True):
    """Character offsets of a page: where sections begin, and half-open spans in which every line stands by itself."""

    sections: tuple[int, ...]
    by_line: tuple[tuple[int, int], ...] = ()


def outline(page: Page) -> Outline:
    """Return the sections of a page; plain text has none.

    Markdown headings and fences are found by markdown-it-py (nested headings do not count); reStructuredText headings
    by their underlines; HTML headings by the two blank lines that the extractor puts before each.
    """
    if page.format == "markdown":
        return _markdown(page.text)
    if page.format == "rst":
        return _rst(page.text)
    if page.format == "html":
        return Outline(tuple(found.end() for found in _HTML_HEADING.finditer(page.text)))
    return Outline(())


def _offsets(text: str) -> list[int]:
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    offsets[-1] = len(text)
    return offsets


def _markdown(text: str) -> Outline:
    offsets = _offsets(text)
    sections: list[int] = []
    by_line: list[tuple[int, int]] = []
    for token in _MARKDOWN.parse(text.replace("\r", " ")):  # a page's lines end in LF alone; the parser's also in CR
        if token.map is None:
            continue
        first, last = token.map
        if token.type == "heading_open" and token.level == 0:
            sections.append(offsets[first])
        elif token.type in ("fence", "code_block", "table_open"):
            by_line.append((offsets[first], offsets[min(last, len(offsets) - 1)]))
    return Outline(tuple(sections), tuple(by_line))


def _rst(text: str) -> Outline:
    lines = text.split("\n")
    offsets = _offsets(text)
    return Outline(tuple(offsets[number] for number in _rst_headings(lines)))


def _rst_headings(lines: Sequence[str]) -> list[int]:
    """Return the first line of each title, its overline where it has one."""
    found = []
    for number in range(1, len(lines)):
        title, below = lines[number - 1].rstrip(), lines[number].rstrip()
        if not title.strip() or not _is_line(below) or len(below) < min(4, len(title.strip())) or _is_line(title):
            continue
        over = number >= 2 and lines[number - 2].rstrip() == below
        above = lines[number - 3 if over else number - 2].strip() if number >= (3 if over else 2) else ""
        if not above and (over or not title[0].isspace()):
            found.append(number - 2 if over else number - 1)
    return found


def _is_line(line: str) -> bool:
    return len(line) >= 2 and _UNDERLINE.fullmatch(line) is not None
