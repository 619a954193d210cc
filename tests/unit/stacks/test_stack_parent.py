"""Sections and pages in the place of their chunks, on pages whose headings are known."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from wrapped_factory import Fixed, page

from ragassay.errors import InputError
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.plugins.stacks.parent import Parent, Parents, sections
from ragassay.records import Chunk, Page
from ragassay.testing.stack_contract import ignore_progress

GUIDE = page("guide", "Intro. ", "More.\n\n", "# One\n\nfirst ", "second ", "third\n\n", "## Two\n\nfourth ", "fifth\n")
CHUNKS = GUIDE + page("notes", *[f"line {n}\n" for n in range(9)])


def over(*hits: tuple[str, float], **params: Any) -> Parents:
    """Return the wrapper over a stack with these hits."""
    return Parent(**params).build(CHUNKS, {"of": Fixed(*hits)}, ignore_progress)


def found(parents: Parents, k: int = 50) -> list[tuple[str, float]]:
    """Return ids and scores."""
    return [(hit.chunk, hit.score) for hit in parents.search("q", k)]


def test_parent_delivers_the_section_of_a_hit_in_page_order_with_its_score() -> None:
    """Sections come as their best hits rank; a second hit in one changes nothing."""
    hits = (("guide#3", 3.0), ("guide#6", 2.0), ("guide#4", 1.0), ("guide#0", 0.5))
    wanted = [("guide#2", 3.0), ("guide#3", 3.0), ("guide#4", 3.0), ("guide#5", 2.0), ("guide#6", 2.0)]
    assert found(over(*hits)) == [*wanted, ("guide#0", 0.5), ("guide#1", 0.5)]


def test_parent_delivers_the_page_of_a_hit() -> None:
    """With `level = "page"` headings do not count."""
    ids = [chunk for chunk, _ in found(over(("guide#3", 3.0), level="page", max_chunks=10))]
    assert ids == [f"guide#{n}" for n in range(7)]


@pytest.mark.parametrize(("hit", "first"), [(0, 0), (1, 0), (4, 3), (7, 6), (8, 6)])
def test_parent_caps_a_long_parent_around_its_best_hit(hit: int, first: int) -> None:
    """`max_chunks` neighbouring chunks are delivered, the hit always among them."""
    parents = over((f"notes#{hit}", 1.0), ("notes#0", 0.5), level="page", max_chunks=3)
    assert [chunk for chunk, _ in found(parents)] == [f"notes#{n}" for n in range(first, first + 3)]


def test_parent_cuts_the_end_of_the_last_parent() -> None:
    """`top_k` counts delivered chunks."""
    parents = over(("guide#5", 2.0), ("guide#3", 1.0))
    assert [chunk for chunk, _ in found(parents, 3)] == ["guide#5", "guide#6", "guide#2"]


def test_parent_asks_for_its_depth_whatever_k_is() -> None:
    """So a smaller k is the beginning of the same list."""
    inner = Fixed(("notes#0", 1.0))
    parents = Parent(depth=7).build(CHUNKS, {"of": inner}, ignore_progress)
    assert found(parents, 1) == found(parents, 30)[:1] == [("notes#0", 1.0)]
    assert inner.asked == [("q", 7), ("q", 7)]
    assert parents.search("q", 0) == []


@pytest.mark.parametrize(("level", "parents"), [("section", 4), ("page", 2)])
def test_parent_describes_and_closes(level: str, parents: int) -> None:
    """The format is recorded where headings are looked for, and the number of parents always."""
    inner = Fixed()
    built = Parent(level=level).build(CHUNKS, {"of": inner}, ignore_progress)
    form = {"format": "markdown"} if level == "section" else {}
    fixed = {"kind": "parent", "level": level, "depth": 20, "max_chunks": 5, "parents": parents}
    assert built.describe() == {**fixed, **form, "of": {"kind": "fixed"}}
    built.close()
    assert inner.closed == 1


def test_parent_finds_sections_under_overlapping_chunks() -> None:
    """The page is put together again from chunks that overlap; a heading inside a code block is none."""
    code = "```\n# no heading\n```\n"
    text = f"# One\n\n{'Some words stand here. ' * 60}\n\n{code}\n# Two\n\n{'Other words follow. ' * 40}\n"
    whole = Page(id="p.md", title="p", text=text, format="markdown", sha256="", source_sha256="")
    chunks = list(HeadingChunker(max_tokens=64, overlap=16, min_tokens=8).split(whole))
    assert any(after.start < before.end for before, after in itertools.pairwise(chunks))
    one, two = sections(chunks, "markdown")
    starts = {chunk.id: chunk.start for chunk in chunks}
    assert all(starts[chunk] < text.index("# Two") for chunk in one)
    assert starts[two[0]] <= text.index("# Two") + 2
    assert all(starts[chunk] >= starts[two[0]] for chunk in two)


def test_parent_looks_at_the_first_visible_character_of_a_chunk() -> None:
    """Blank lines before a heading that a chunk begins with do not make it part of the section before."""
    chunks = page("a", "# One\n\nfirst", "\n\n# Two\n\nsecond\n", "third\n")
    assert sections(chunks, "markdown") == [["a#0"], ["a#1", "a#2"]]


def test_parent_reads_other_formats() -> None:
    """reStructuredText has its headings underlined; as Markdown's the extractor's HTML has two blank lines."""
    rst = page("a", "One\n====\n\nfirst\n\n", "second\n\n", "Two\n====\n\nthird\n")
    html = page("a", "One\n\nfirst", "\n\nmore\n\n\n", "Two\n\nthird\n")
    assert sections(rst, "rst") == sections(html, "html") == [["a#0", "a#1"], ["a#2"]]


def test_parent_leaves_a_gap_between_chunks_blank() -> None:
    """A chunker that leaves something out moves no heading."""
    first, _, last = page("a", "# One\n\nfirst\n\n", "left out\n\n", "# Two\n\nlast\n")
    assert sections([first, last], "markdown") == [["a#0"], ["a#2"]]


def test_parent_of_no_chunks() -> None:
    """An empty corpus has no parent."""
    none: list[Chunk] = []
    assert Parent().build(none, {"of": Fixed()}, ignore_progress).search("q", 5) == []


def test_parent_names_every_wrong_parameter() -> None:
    """All problems in one error."""
    with pytest.raises(InputError) as caught:
        Parent(level="chapter", format="pdf", depth=0, max_chunks=0, size=1)
    assert len(caught.value.problems) == 5
