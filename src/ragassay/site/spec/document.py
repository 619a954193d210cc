"""A page as one value, from which Markdown and HTML are both written: paragraphs, tables, quotes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

PAIR, MANY = 2, 4
"""Columns that always fit a narrow screen, and the most that may."""
LONG = 24
"""Characters of a cell from which three columns do not fit it."""


class Text(msgspec.Struct, frozen=True):
    """Words as they are read; `strong` where they name what a paragraph is about."""

    text: str
    strong: bool = False


class Code(msgspec.Struct, frozen=True):
    """An identifier, a digest or a parameter, letter by letter."""

    text: str


class Link(msgspec.Struct, frozen=True):
    """Words that lead to where they come from; `path` is relative to the root of the site."""

    text: str
    path: str
    code: bool = False


Span: TypeAlias = Text | Code | Link
Said: TypeAlias = str | Span | Sequence["Said"] | None
"""What a sentence is put together from; None says nothing."""


class Paragraph(msgspec.Struct, frozen=True):
    """Sentences."""

    spans: tuple[Span, ...]


class Quote(msgspec.Struct, frozen=True):
    """A text that is quoted verbatim, line breaks included, with a word of what it is."""

    label: str
    text: str


class Command(msgspec.Struct, frozen=True):
    """What one types in a terminal, and what it prints."""

    lines: tuple[str, ...]


class Table(msgspec.Struct, frozen=True):
    """Columns under their names; `numbers` are the columns, from 0, that are set to the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[tuple[Span, ...], ...], ...]
    caption: str = ""
    numbers: frozenset[int] = frozenset()

    @property
    def stacked(self) -> bool:
        """Tell whether on a narrow screen each row is better set as lines below each other than as columns."""
        longest = max((sum(len(span.text) for span in cell) for row in self.rows for cell in row), default=0)
        return len(self.head) > MANY or (len(self.head) > PAIR and longest > LONG)


class Heading(msgspec.Struct, frozen=True):
    """A heading inside a section."""

    spans: tuple[Span, ...]


Block: TypeAlias = Paragraph | Quote | Command | Table | Heading


class Section(msgspec.Struct, frozen=True):
    """One part of the page under its heading; `anchor` names it in the HTML."""

    title: str
    anchor: str
    blocks: tuple[Block, ...]


class Document(msgspec.Struct, frozen=True):
    """The whole page: its heading, what stands before the first section, and the sections."""

    title: str
    lead: tuple[Block, ...]
    sections: tuple[Section, ...] = ()


def spans(*said: Said) -> tuple[Span, ...]:
    """Return parts as spans: strings become text, what is nested is laid flat, None and empty text vanish."""
    found: list[Span] = []
    for one in said:
        if one is None or one == "":
            continue
        if isinstance(one, str):
            found.append(Text(one))
        elif isinstance(one, Text | Code | Link):
            found.append(one)
        else:
            found += spans(*one)
    return tuple(found)


def paragraph(*sentences: Said) -> Paragraph:
    """Return sentences with one space between them; those that are None vanish."""
    return Paragraph(spaced(*sentences))


def spaced(*sentences: Said) -> tuple[Span, ...]:
    """Return sentences as spans with one space between them; those that are None or empty vanish."""
    found: list[Span] = []
    for sentence in sentences:
        if own := spans(sentence):
            found += [Text(" "), *own] if found else own
    return tuple(found)


def under_title(title: str, *sentences: Said) -> Paragraph:
    """Return sentences that begin with what they are about, in bold."""
    return paragraph(Text(title, strong=True), *sentences)


def heading(*said: Said) -> Heading:
    """Return a heading inside a section."""
    return Heading(spans(*said))


def cells(*columns: Said) -> tuple[tuple[Span, ...], ...]:
    """Return one row of a table."""
    return tuple(spans(column) for column in columns)


def series(names: Sequence[Said], last: str = "and") -> tuple[Span, ...]:
    """Return things as a list in words: a, b and c."""
    found: list[Said] = []
    for place, name in enumerate(names):
        if place:
            found.append(f" {last} " if place == len(names) - 1 else ", ")
        found.append(name)
    return spans(*found)


def is_said(blocks: Sequence[Block | None]) -> tuple[Block, ...]:
    """Return the blocks that say something: no None, no empty paragraph, no table without rows."""
    return tuple(
        block
        for block in blocks
        if block is not None
        and not (isinstance(block, Paragraph) and not block.spans)
        and not (isinstance(block, Table) and not block.rows)
    )
