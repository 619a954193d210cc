"""Chunks become a tree: pages, below them their sections, each with a title, a summary and the chunks of its text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import msgspec

from ragassay.plugins.chunkers.spans import sentence_starts
from ragassay.plugins.stacks.inner import by_page
from ragassay.plugins.stacks.parent import Format, page_of
from ragassay.plugins.stacks.tree.headings import Heading, headings, shown
from ragassay.records import Chunk, Page

PATH_CHARACTERS = 300
"""The longest path of titles that is shown; its end is kept."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A page or a section: its path of titles, the first sentences of its text, and the chunks that are delivered.

    `own` tells whether the chunks hold text of its own; otherwise they are those of everything below it. A node
    without chunks has no text at all.
    """

    path: str
    summary: str
    chunks: tuple[str, ...]
    own: bool

    def entry(self, number: int) -> str:
        """Return the line of a list by which it is shown."""
        mark = "" if self.own else " (heading only)" if self.chunks else " (no text)"
        return f"{number}. {self.path}{mark}" + (f": {self.summary}" if self.summary else "")


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """A page with its sections in page order; text that stands under no heading is a section too, named as the page."""

    page: str
    node: Node
    sections: tuple[Node, ...]


class _Section(msgspec.Struct, kw_only=True):
    """A section while the tree is built: its titles from the page down, its text without the heading, its chunks.

    `below` is how many sections stand below it, at any depth: they are the next ones of the page.
    """

    level: int
    titles: tuple[str, ...]
    start: int
    end: int
    text: str
    below: int = 0
    chunks: list[str] = []


def grown(chunks: Sequence[Chunk], form: Format, summary_characters: int) -> list[Branch]:
    """Return one branch for every page with visible text, pages as their first chunks come.

    A chunk belongs to every section of whose text, the heading itself apart, it holds something visible: a chunk that
    joins small sections belongs to all of them.
    """
    branches = []
    for name, of_page in by_page(chunks).items():
        page = page_of(of_page, form)
        if page.text.strip():
            branches.append(_branch(name, page, of_page, summary_characters))
    return branches


def _branch(name: str, page: Page, chunks: Sequence[Chunk], characters: int) -> Branch:
    found = headings(page)
    first = shown(page.text.strip().split("\n", 1)[0]) if page.format == "html" else ""
    title = first or (found[0].title if found else "")
    sections = _sections((name, first) if first else (name,), page, found)
    _give(sections, page, chunks)
    whole = _ordered((one for section in sections for one in section.chunks), chunks)
    text = " ".join(section.text for section in sections)
    titles = (name, title) if title else (name,)
    node = Node(path=_path(titles), summary=summary(text, characters), chunks=whole, own=bool(whole))
    nodes = [_node(one, sections[at : at + one.below + 1], chunks, characters) for at, one in enumerate(sections)]
    return Branch(page=name, node=node, sections=tuple(nodes))


def _sections(root: tuple[str, ...], page: Page, found: Sequence[Heading]) -> list[_Section]:
    """Return the sections of a page in order; `root` is what the page is called."""
    firsts = [*(heading.start for heading in found), len(page.text)]
    sections = []
    if before := page.text[: firsts[0]].strip():
        text = before.removeprefix(before.split("\n", 1)[0]) if len(root) > 1 else before  # its title is told already
        sections.append(_Section(level=0, titles=root, start=0, end=firsts[0], text=text))
    above: list[_Section] = []
    for heading, end in zip(found, firsts[1:], strict=True):
        while above and above[-1].level >= heading.level:
            above.pop()
        for one in above:
            one.below += 1
        titles = (*(above[-1].titles if above else root), heading.title)
        text = page.text[heading.body : end]
        above.append(_Section(level=heading.level, titles=titles, start=min(heading.body, end), end=end, text=text))
        sections.append(above[-1])
    return sections


def _give(sections: Sequence[_Section], page: Page, chunks: Sequence[Chunk]) -> None:
    """Give every section the chunks, in page order, that hold some of its text."""
    starts = [section.start for section in sections]
    for chunk in chunks:
        first = max(0, bisect_right(starts, chunk.start) - 1)
        for section in sections[first : bisect_left(starts, chunk.end)]:
            if page.text[max(section.start, chunk.start) : min(section.end, chunk.end)].strip():
                section.chunks.append(chunk.id)


def _node(section: _Section, subtree: Sequence[_Section], chunks: Sequence[Chunk], characters: int) -> Node:
    """Return the section with its own text, or with that of its subtree where it has none."""
    told = [section] if section.chunks else subtree
    text = " ".join(one.text for one in told)
    return Node(
        path=_path(section.titles),
        summary=summary(text, characters),
        chunks=tuple(section.chunks) or _ordered((one for part in subtree for one in part.chunks), chunks),
        own=bool(section.chunks),
    )


def _ordered(ids: Iterable[str], chunks: Sequence[Chunk]) -> tuple[str, ...]:
    held = set(ids)
    return tuple(chunk.id for chunk in chunks if chunk.id in held)


def _path(titles: Sequence[str]) -> str:
    path = " > ".join(shown(title) for title in titles)
    return path if len(path) <= PATH_CHARACTERS else "…" + path[len(path) - PATH_CHARACTERS + 1 :]


def summary(text: str, most: int) -> str:
    """Return the first sentences of a text as one line: as many as fit into `most` characters whole, or a cut first."""
    line = shown(text[: 8 * most + 1_000], 2 * most + 200) if most else ""
    if len(line) <= most:
        return line
    whole = [line[:at].rstrip() for at in sentence_starts(line) if at <= most + 1]
    return next((one for one in reversed(whole) if len(one) <= most), "") or shown(line, most)
