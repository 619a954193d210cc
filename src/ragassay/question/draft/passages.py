"""Passages of a page that a question may rest on: paragraphs, list items and table rows with something checkable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from ragassay.question.asserted import asserted, unknown_names
from ragassay.records import Page

MIN_WORDS = 8
MAX_WORDS = 150
"""Words of a passage; a longer paragraph is cut at the ends of its sentences."""
MIN_PLAIN = 7
"""Different words of prose that a passage has: fewer do not say of what they say it. A piece of code counts as one."""

Lack = Literal["empty", "short", "long", "code", "nothing-to-check"]
"""Why a block is no passage; for a page, the one of its best block."""
LACKS: tuple[Lack, ...] = ("empty", "short", "long", "code", "nothing-to-check")

_FENCE = re.compile(r"\s*(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,4}[.)])\s+\S")
_RULE = re.compile(r"[\s|:=+~^\"'#*_.<>-]*")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_WORD = re.compile(r"[^\W\d_]{2,}(?:['’-][^\W\d_]+)*")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts that are written without spaces: two of their characters count as a word."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9`\"'(])|(?<=[。！？])")
_TARGET = re.compile(r"\]\([^)\s]*\)|\]\[[^\]\s]*\]")
"""Where a link of Markdown leads, which is nothing that a question could ask for."""
_OPAQUE = re.compile(r"[(){}\[\]=<>;/\\$#@_|]")
_CODE = re.compile(r"`[^`\n]+`")
_AROUND = "`()[].,;:!?|\"'*_“”‘’«»…"
"""What stands around a word and is no part of it."""
_INNER = re.compile(r"[\d.:]")
_PROMPT = re.compile(r"(?:\$|>>>|[\w-]*[=-][#>])(?= )", re.MULTILINE)
"""How the lines of a listing begin that somebody typed."""
_ALIGNED = re.compile(r"[ \t\f]+\S|.*\S {2,}\S")
"""A line of extracted HTML that is indented or aligned, as only `<pre>` keeps it."""


class Span(NamedTuple):
    """A half-open span of a page's text, in characters."""

    start: int
    end: int


def pieces(page: Page) -> Iterator[Span]:
    """Yield the spans of `page` that may be passages: its blocks, the long ones in parts."""
    for block in blocks(page):
        yield from _pieces(page.text, block)


def lacking(text: str) -> Lack | None:
    """Return why a question cannot rest on `text`, or None."""
    count = words(text)
    if count == 0:
        return "empty"
    if count < MIN_WORDS:
        return "short"
    if count > MAX_WORDS:
        return "long"
    tokens = text.split()
    opaque = sum(1 for token in tokens if _OPAQUE.search(token.strip(_AROUND)) or not _WORD.search(token))
    if 2 * opaque > len(tokens) or _PROMPT.match(text):
        return "code"
    told = _TARGET.sub("]", text)
    if plain_words(told) < MIN_PLAIN:
        return "short"
    leads_on = text.rstrip("`*_ ").endswith((":", "："))
    return None if not leads_on and (asserted(told) or unknown_names(told, ())) else "nothing-to-check"


def words(text: str) -> int:
    """Return how many words `text` has."""
    unspaced = len(_UNSPACED.findall(text))
    return len(_WORD.findall(_UNSPACED.sub(" ", text) if unspaced else text)) + unspaced // 2


def plain_words(text: str) -> int:
    """Return how many different words of prose `text` has: none with marks, digits or capitals alone; code counts."""
    code = set(_CODE.findall(text))
    tokens = [token.strip(_AROUND) for token in _CODE.sub(" ", text).split()]
    plain = {token.casefold() for token in tokens if _is_plain(token)}
    return len(code) + len(plain) + len(_UNSPACED.findall(text)) // 2


def _is_plain(token: str) -> bool:
    return bool(_WORD.search(token)) and not (
        _OPAQUE.search(token) or _INNER.search(token) or _UNSPACED.search(token) or (token.isupper() and len(token) > 1)
    )


def blocks(page: Page) -> Iterator[Span]:
    """Yield paragraphs, list items and table rows of a page in order; headings and fenced code are left out.

    In extracted HTML each line is a block of its own; one that is too short joins the next (a term and its text), but
    for table rows. Listings are left out there too, where white space shows them.
    """
    begun: Span | None = None
    for line in _lines(page):
        text = page.text[line.start : line.end]
        joins = begun is not None and _joins(page, begun, text)
        if begun is not None and (not text.strip() or not joins):
            yield _trimmed(page.text, begun)
            begun = None
        if text.strip():
            begun = line if begun is None else Span(begun.start, line.end)
    if begun is not None:
        yield _trimmed(page.text, begun)


def _joins(page: Page, begun: Span, line: str) -> bool:
    """Return whether a line goes on with the block that was begun before it."""
    if page.format == "html":
        held = page.text[begun.start : begun.end]
        return words(held) < MIN_WORDS and "\t" not in held and "\t" not in line
    row = page.format == "markdown" and line.lstrip().startswith("|")
    return not (row or page.text.startswith("|", begun.start) or _ITEM.match(line))


def _lines(page: Page) -> Iterator[Span]:
    """Yield the lines of a page; headings, rules and code become empty ones, which end a block."""
    at, fence = 0, ""
    listed = _listings(page)
    for line in page.text.splitlines(keepends=True):
        end = at + len(line)
        mark = _FENCE.match(line) if page.format == "markdown" else None
        heading = page.format == "markdown" and _HEADING.match(line)
        kept = not (at in listed or fence or mark or heading or _RULE.fullmatch(line))
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        yield Span(at, end) if kept else Span(at, at)
        at = end


def _listings(page: Page) -> set[int]:
    """Return where the lines of listings begin: lines of extracted HTML without a blank one between, one aligned."""
    if page.format != "html":
        return set()
    found: set[int] = set()
    run: list[int] = []
    at, aligned = 0, False
    for line in page.text.splitlines(keepends=True):
        if line.strip():
            run.append(at)
            aligned = aligned or bool(_ALIGNED.match(line))
        else:
            found.update(run if aligned else ())
            run, aligned = [], False
        at += len(line)
    return found | set(run if aligned else ())


def _trimmed(text: str, span: Span) -> Span:
    held = text[span.start : span.end]
    return Span(span.start + len(held) - len(held.lstrip()), span.start + len(held.rstrip()))


def _pieces(text: str, block: Span) -> Iterator[Span]:
    """Yield a block whole or, where it has more than `MAX_WORDS`, in runs of whole sentences."""
    held = text[block.start : block.end]
    if words(held) <= MAX_WORDS:
        yield block
        return
    starts = [0, *(found.end() for found in _SENTENCE.finditer(held)), len(held)]
    begun = 0
    for at, end in pairwise(starts[1:]):
        if words(held[begun:end]) > MAX_WORDS and at > begun:
            yield _trimmed(text, Span(block.start + begun, block.start + at))
            begun = at
    yield _trimmed(text, Span(block.start + begun, block.end))
