"""The tree that is grown from a board's chunks: headings, levels, summaries, and whose text a chunk is."""

from __future__ import annotations

from typing import Literal

import pytest
from wrapped_factory import page

from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.plugins.stacks.tree.headings import headings
from ragassay.plugins.stacks.tree.nodes import Branch, grown, summary
from ragassay.records import Page

GUIDE = page(
    "guide.md",
    "# Guide\n\n",
    "Welcome to it. It is long.\n\n",
    "## Install\n\n### On Linux\n\nUse apt.\n\n",
    "### On a Mac\n\nUse brew. Or not.\n\n",
    "## Notes\n\n",
    "## Use\n\nfirst ",
    "second ## no heading\n",
)


def shown(branch: Branch) -> list[str]:
    """Return the lines of a branch's sections."""
    return [node.entry(number) for number, node in enumerate(branch.sections, 1)]


def text_page(text: str, form: Literal["markdown", "rst"]) -> Page:
    """Return a page of that format."""
    return Page(id="p", title="p", text=text, format=form, sha256="", source_sha256="")


def test_sections_are_nested_by_their_headings() -> None:
    """Each is shown by its path; one without text of its own, and one without any, are marked."""
    (branch,) = grown(GUIDE, "markdown", 40)
    assert branch.node.entry(1) == "1. guide.md > Guide: Welcome to it. It is long. Use apt."
    assert shown(branch) == [
        "1. guide.md > Guide: Welcome to it. It is long.",
        "2. guide.md > Guide > Install (heading only): Use apt. Use brew. Or not.",
        "3. guide.md > Guide > Install > On Linux: Use apt.",
        "4. guide.md > Guide > Install > On a Mac: Use brew. Or not.",
        "5. guide.md > Guide > Notes (no text)",
        "6. guide.md > Guide > Use: first second ## no heading",
    ]


def test_a_section_delivers_its_own_text_or_what_stands_below() -> None:
    """The chunk that holds a heading alone is nobody's text."""
    (branch,) = grown(GUIDE, "markdown", 0)
    assert [node.chunks for node in branch.sections] == [
        ("guide.md#1",),
        ("guide.md#2", "guide.md#3"),
        ("guide.md#2",),
        ("guide.md#3",),
        (),
        ("guide.md#5", "guide.md#6"),
    ]
    assert branch.node.chunks == tuple(f"guide.md#{n}" for n in (1, 2, 3, 5, 6))


def test_a_chunk_that_joins_sections_belongs_to_each() -> None:
    """The default chunker joins small sections: each of them is found nevertheless, and delivers that chunk."""
    text = "# A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree\n"
    source = Page(id="p.md", title="", text=text, format="markdown", sha256="", source_sha256="")
    chunks = HeadingChunker().split(source)
    (branch,) = grown(chunks, "markdown", 100)
    assert len(chunks) == 1
    assert [node.chunks for node in branch.sections] == [("p.md#0",)] * 3
    assert [node.summary for node in branch.sections] == ["one", "two", "three"]


def test_text_before_the_first_heading_is_a_section_of_the_page() -> None:
    """So is a page without headings; a page without visible text has no node."""
    chunks = [*page("a", "before\n\n# One\n\n", "text"), *page("b", "just text"), *page("c", " \n"), *page("d", "")]
    assert [shown(branch) for branch in grown(chunks, "markdown", 50)] == [
        ["1. a: before", "2. a > One: text"],
        ["1. b: just text"],
    ]


def test_a_page_of_headings_alone_has_no_text() -> None:
    """It is shown, and marked."""
    (branch,) = grown(page("a", "# One\n\n## Two\n"), "markdown", 50)
    assert branch.node.entry(1) == "1. a > One (no text)"
    assert [node.chunks for node in branch.sections] == [(), ()]


@pytest.mark.parametrize(
    ("line", "level", "title"),
    [
        ("# One", 1, "One"),
        ("###### Six ##", 6, "Six"),
        ("## C# ##", 2, "C#"),
        ("#", 1, "(untitled)"),
        ("## ##", 2, "(untitled)"),
        ("One\n===", 1, "One"),
        ("One\nmore\n---", 2, "One more"),
        ("## a  b\tc", 2, "a b c"),
        ("# C#", 1, "C#"),
        ("   # One\t#\t", 1, "One"),
        ("# " + " " * 50_000 + "x", 1, "x"),
        ("# " + "x" * 200, 1, "x" * 119 + "…"),
    ],
)
def test_markdown_headings(line: str, level: int, title: str) -> None:
    """Both styles, closing marks, and titles that are cut to 120 characters."""
    text = f"before\n\n{line}\n\nafter\n"
    (found,) = headings(text_page(text, "markdown"))
    assert (found.level, found.title) == (level, title)
    assert text[found.body :].strip() == "after"


def test_rst_levels_follow_the_order_of_styles() -> None:
    """An overlined title is another style than an underlined one with the same sign."""
    text = "=====\nTitle\n=====\n\na\n\nOne\n===\n\nb\n\nTwo\n---\n\nc\n\nThree\n=====\n\nd\n"
    found = headings(text_page(text, "rst"))
    assert [(one.level, one.title) for one in found] == [(1, "Title"), (2, "One"), (3, "Two"), (2, "Three")]
    assert [text[one.body :].split()[0] for one in found] == ["a", "b", "c", "d"]


def test_html_headings_are_of_one_level_below_the_first_line() -> None:
    """The extractor puts two blank lines before a heading and keeps no levels."""
    (branch,) = grown(page("p", "The page\n\nintro\n\n\nOne\n\ntext\n\n\nTwo\n\nmore"), "html", 50)
    assert branch.node.path == "p > The page"
    assert shown(branch) == ["1. p > The page: intro", "2. p > The page > One: text", "3. p > The page > Two: more"]


def test_titles_and_summaries_are_one_line() -> None:
    """No line of a document can look like an entry of the list."""
    (branch,) = grown(page("p", "# T\n\nfirst\n2. forged: line\n\u2028 3. more"), "markdown", 100)
    assert branch.sections[0].entry(1) == "1. p > T: first 2. forged: line 3. more"


@pytest.mark.parametrize(
    ("text", "most", "told"),
    [
        ("One. Two. Three is long.", 12, "One. Two."),
        ("One. Two. Three is long.", 100, "One. Two. Three is long."),
        ("A first sentence that is long.", 12, "A first sen…"),
        ("文。" * 10, 7, "文。文。文。"),
        ("text", 0, ""),
        ("  ", 10, ""),
    ],
)
def test_a_summary_is_the_first_sentences(text: str, most: int, told: str) -> None:
    """As many as fit whole; a first one that does not fit is cut."""
    assert summary(text, most) == told


def test_a_long_path_keeps_its_end() -> None:
    """The title of the section itself is always there."""
    text = "".join(f"{'#' * level} {'x' * 100}{level}\n\ntext\n\n" for level in range(1, 7))
    (branch,) = grown(page("p", text), "markdown", 0)
    path = branch.sections[-1].path
    assert len(path) == 300
    assert path.startswith("…")
    assert path.endswith("x6")


def test_chunks_count_in_page_order() -> None:
    """However they are given."""
    chunks = page("p", "# A\n\none two ", "three\n\n# B\n\nfour")
    (branch,) = grown(chunks[::-1], "markdown", 50)
    assert [(node.summary, node.chunks) for node in branch.sections] == [
        ("one two three", ("p#0", "p#1")),
        ("four", ("p#1",)),
    ]
