"""How the reader cuts a delivered chunk into sentences: prose by punctuation, markup by its lines.

Reads Markdown, and text whose blocks stand on lines of their own, as extracted HTML does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

Kind = Literal["prose", "item", "row", "code", "heading"]

WRAPPED_CHARS = 50
"""Prose of which a line is at least this long is wrapped: it goes on until a blank line or a mark of markup."""
LEAD_CHARS = 400
"""A sentence that ends with a colon takes up what follows it until it is this long."""
SHORT_WORDS = 3
"""A sentence of at most this many words (a term, a label) is joined to what follows it."""
LONG_CHARS = 600
"""A code block longer than this is cut at its blank lines, then by this length at line ends."""

_FENCE = re.compile(r"\s*(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S")
_TAB = re.compile(r"\s*(!!!|\?\?\?\+?|===\+?)\s")
_ITEM = re.compile(r"\s*([-*+•]|\d{1,3}[.)])\s+\S")
_DEFINITION = re.compile(r"\s*:\s+\S")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE = re.compile(r"[\s|:=*_-]+$")
_NUMBER = re.compile(r"\s*\[\d+\]\s*$")
_END = re.compile(r"(?<=[.!?])[)\"'”’*_`]{0,3}\s+(?=[\"'“‘(\[`*_]{0,3}[A-Z0-9])")
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|no|approx|fig|sec|[A-Z])\.$", re.IGNORECASE)


class Sentence(msgspec.Struct, frozen=True):
    """One sentence, its whitespace collapsed, and the heading that it stands under."""

    text: str
    heading: str = ""


class _Block(msgspec.Struct):
    kind: Kind
    text: str


def sentences(chunk: str) -> list[Sentence]:
    """Return the sentences of a chunk in order; list items, table rows and code blocks count as sentences.

    A heading is no sentence but the context of those below it, unless the chunk holds nothing else.
    """
    found: list[Sentence] = []
    heading = ""
    for block in _joined(list(_pieces(_blocks(chunk)))):
        if block.kind == "heading":
            heading = block.text
        else:
            found.append(Sentence(block.text, heading))
    if not found and heading:
        found.append(Sentence(heading))
    return found


def _blocks(chunk: str) -> Iterator[_Block]:
    lines = chunk.splitlines()
    index = 0
    while index < len(lines):
        if fence := _FENCE.match(lines[index]):
            end = index + 1
            while end < len(lines) and not lines[end].lstrip().startswith(fence[1]):
                end += 1
            yield from _code(lines[index + 1 : end])
            index = end + 1
            continue
        end = index + 1
        kind = _kind(lines[index])
        if kind in ("prose", "item"):
            while end < len(lines) and _continues(lines[index:end], lines[end]):
                end += 1
        if kind is not None:
            yield _Block(kind, " ".join(" ".join(lines[index:end]).split()))
        index = end


def _kind(line: str) -> Kind | None:
    """Return what begins with this line; None for one that says nothing by itself."""
    if not line.strip() or _RULE.match(line) or _NUMBER.match(line):
        return None
    if _HEADING.match(line) or _TAB.match(line):
        return "heading"
    if _ROW.match(line) or "\t" in line.strip():
        return "row"
    return "item" if _ITEM.match(line) or _DEFINITION.match(line) else "prose"


def _continues(before: Sequence[str], line: str) -> bool:
    wrapped = any(len(earlier.strip()) >= WRAPPED_CHARS for earlier in before)
    return wrapped and not _FENCE.match(line) and _kind(line) == "prose"


def _code(lines: Sequence[str]) -> Iterator[_Block]:
    whole = " ".join(" ".join(lines).split())
    if len(whole) <= LONG_CHARS:
        if whole:
            yield _Block("code", whole)
        return
    part: list[str] = []
    for line in [*lines, ""]:
        if part and (not line.strip() or sum(map(len, part)) + len(line) > LONG_CHARS):
            yield _Block("code", " ".join(" ".join(part).split()))
            part = []
        if line.strip():
            part.append(line)
    if part:
        yield _Block("code", " ".join(" ".join(part).split()))


def _pieces(blocks: Iterator[_Block]) -> Iterator[_Block]:
    for block in blocks:
        if block.kind in ("prose", "item"):
            for text in _split(block.text):
                yield _Block(block.kind, text)
        else:
            yield block


def _split(text: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(text):
        head = text[start : match.end()].rstrip()
        if not _ABBREVIATION.search(head):
            yield head
            start = match.end()
    if text[start:]:
        yield text[start:]


def _joined(blocks: Sequence[_Block]) -> Iterator[_Block]:
    """Join what says little alone to what follows it: a line that ends with a colon, a bare term."""
    index = 0
    while index < len(blocks):
        block = blocks[index]
        text = block.text
        index += 1
        if block.kind != "heading":
            leads = text.endswith(":")
            while index < len(blocks) and blocks[index].kind != "heading":
                after = blocks[index]
                room = len(text) + len(after.text) < LEAD_CHARS
                bare = block.kind != "row" and _short(text)
                if not (bare or text.endswith(":") or (leads and room and after.kind in ("item", "code"))):
                    break
                text = f"{text} {after.text}"
                index += 1
        yield _Block(block.kind, text)


def _short(text: str) -> bool:
    return len(re.findall(r"\w+", text)) <= SHORT_WORDS and not text.endswith((".", "!", "?"))
