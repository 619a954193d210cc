"""Chunks are searched, the section or page that they belong to is delivered, as its chunks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

from ragassay.plugins.chunkers.outline import outline
from ragassay.plugins.stacks.inner import asked, by_page, inner_of, lacks_inner
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON, Chunk, Hit, Page
from ragassay.seams import Progress, Retriever

LEVELS = ("section", "page")
FORMATS = ("markdown", "rst", "html")
Format = Literal["markdown", "rst", "html"]


class Parent:
    """Delivers the parents of the hits of its part `of`: sections or pages, at most `max_chunks` of each."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    deterministic: ClassVar[bool] = True
    """Where the stack in it is: the part speaks for itself."""

    def __init__(self, **params: Any) -> None:
        read = Parameters("parent", params)
        self._level = read.choice("level", "section", LEVELS)
        self._format = read.choice("format", "markdown", FORMATS)
        self._depth = read.integer("depth", 20, low=1, high=100_000)
        self._max_chunks = read.integer("max_chunks", 5, low=1, high=100_000)
        read.finish()

    @classmethod
    def lacking(cls, entry: JSON) -> str | None:
        """Say which part the entry lacks; None where it has all."""
        return lacks_inner("parent", entry)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Parents:
        """Find every chunk's parent; raises `InputError` unless `parts["of"]` is one built stack."""
        of = inner_of("parent", parts)
        pages = by_page(chunks)
        families: list[list[str]] = []
        for page in pages.values():
            families += [[c.id for c in page]] if self._level == "page" else sections(page, cast(Format, self._format))
        progress(len(chunks), len(chunks))
        described: JSON = {
            "kind": "parent",
            "level": self._level,
            **({"format": self._format} if self._level == "section" else {}),
            "depth": self._depth,
            "max_chunks": self._max_chunks,
            "parents": len(families),
        }
        return Parents(of, chunks, families, self._depth, self._max_chunks, described)


def sections(page: Sequence[Chunk], form: Format) -> list[list[str]]:
    """Return the chunk ids of every section of one page (its chunks in page order), sections in page order.

    A section reaches from one heading to the next, whatever their levels; what stands before the first heading is
    one too. A chunk belongs to the section that its first visible character stands in.
    """
    starts = outline(page_of(page, form)).sections
    found: dict[int, list[str]] = {}
    for chunk in page:
        visible = chunk.start + len(chunk.text) - len(chunk.text.lstrip())
        found.setdefault(bisect_right(starts, visible), []).append(chunk.id)
    return list(found.values())


def page_of(chunks: Sequence[Chunk], form: Format) -> Page:
    """Return the page whose text the chunks (in page order) cover; what none covers becomes blank lines."""
    pieces: list[str] = []
    reached = 0
    for chunk in chunks:
        if chunk.end > reached:
            pieces += ["\n" * (chunk.start - reached), chunk.text[max(0, reached - chunk.start) :]]
            reached = chunk.end
    name = chunks[0].page
    return Page(id=name, title=name, text="".join(pieces), format=form, sha256="", source_sha256="")


class Parents:
    """A built stack whose hits stand for the section or page around them."""

    def __init__(
        self,
        of: Retriever,
        chunks: Sequence[Chunk],
        families: Sequence[Sequence[str]],
        depth: int,
        max_chunks: int,
        described: JSON,
    ) -> None:
        self._of = of
        self._known = {chunk.id: chunk for chunk in chunks}
        self._families = families
        self._place = {chunk: (number, at) for number, ids in enumerate(families) for at, chunk in enumerate(ids)}
        self._depth = depth
        self._max_chunks = max_chunks
        self._described = described

    def search(self, text: str, k: int) -> list[Hit]:
        """Return the first k chunks of the parents: parents as their best hits rank, each in page order.

        Every chunk has the score of its parent's best hit; further hits in one parent change nothing. The inner
        stack is asked for `depth` hits whatever k is.
        """
        if k < 1:
            return []
        delivered: list[Hit] = []
        met: set[int] = set()
        for hit in asked(self._of, text, self._depth, self._known):
            number, at = self._place[hit.chunk]
            if number not in met:
                met.add(number)
                delivered += [Hit(chunk=chunk, score=hit.score) for chunk in self._around(number, at)]
            if len(delivered) >= k:
                break
        return delivered[:k]

    def _around(self, number: int, at: int) -> Sequence[str]:
        """Return the parent's chunks, or the `max_chunks` of them that stand around the hit at position `at`."""
        family = self._families[number]
        first = max(0, min(at - self._max_chunks // 2, len(family) - self._max_chunks))
        return family[first : first + self._max_chunks]

    def describe(self) -> JSON:
        """Return the parameters, how many parents there are, and what the wrapped stack says of itself."""
        return {**self._described, "of": self._of.describe()}

    def close(self) -> None:
        """Close the wrapped stack."""
        self._of.close()
