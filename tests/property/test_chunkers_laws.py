"""Laws of the chunkers over any text and any legal parameters."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.corpus.build import checked
from ragassay.corpus.html_blocks import extract
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.plugins.chunkers.sentences import SentenceChunker
from ragassay.plugins.chunkers.spans import TOKENS
from ragassay.plugins.chunkers.tokens import TokenChunker
from ragassay.testing.chunker_contract import page

PIECES = st.sampled_from(
    [
        "word ",
        "a. B",
        "\n",
        "\n\n",
        "\n\n\n",
        "# H\n",
        "===\n",
        "```\n",
        "- ",
        "| a |",
        "  ",
        "!?",
        "。",
        "é",
        "\u2028",
        "x1",
        "\r",
        "\r\n",
    ]
)
WRITTEN = st.lists(PIECES, max_size=60).map("".join) | st.text(st.characters(codec="utf-8"), max_size=200)
FORMAT: st.SearchStrategy[Literal["markdown", "html", "rst", "text"]] = st.sampled_from(
    ("markdown", "html", "rst", "text")
)
SIZES = st.tuples(st.integers(1, 12), st.integers(0, 11)).map(lambda pair: (pair[0], pair[1] % pair[0]))


def count(text: str) -> int:
    """Return the number of tokens."""
    return len(re.findall(TOKENS, text))


@settings(deadline=None)
@given(WRITTEN, FORMAT, SIZES, st.integers(0, 8))
def test_heading_chunks_cover_and_keep_the_cap(
    text: str, format_: Literal["markdown", "html", "rst", "text"], size: tuple[int, int], small: int
) -> None:
    """Whatever the text, chunks cover it, none passes the cap, and neighbours share at most the overlap."""
    cap, overlap = size
    one = page(text, format_)
    chunks = checked(one, HeadingChunker(max_tokens=cap, overlap=overlap, min_tokens=small).split(one))
    assert all(0 < count(chunk.text) <= cap for chunk in chunks)
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert count(text[after.start : before.end]) <= overlap


@settings(deadline=None)
@given(WRITTEN, SIZES, st.integers(1, 12))
def test_sentence_chunks_cover_and_keep_the_cap(text: str, size: tuple[int, int], cap: int) -> None:
    """Whatever the text, windows cover it in order and none passes the cap."""
    sentences, overlap = size
    one = page(text, "text")
    chunks = checked(one, SentenceChunker(sentences=sentences, overlap=overlap, max_tokens=cap).split(one))
    assert all(0 < count(chunk.text) <= cap for chunk in chunks)
    assert all(before.start < after.start for before, after in pairwise(chunks))


@settings(deadline=None)
@given(WRITTEN, SIZES)
def test_token_windows_repeat_exactly_the_overlap(text: str, size: tuple[int, int]) -> None:
    """Each window is full but the last, and shares exactly `overlap` tokens with the one before."""
    cap, overlap = size
    one = page(text, "text")
    chunks = checked(one, TokenChunker(max_tokens=cap, overlap=overlap).split(one))
    assert all(count(chunk.text) == cap for chunk in chunks[:-1])
    for before, after in pairwise(chunks):
        assert count(text[after.start : before.end]) == overlap


TAGS = st.sampled_from(
    ["p", "b", "div", "pre", "ul", "li", "table", "tr", "td", "h2", "dl", "dt", "dd", "br", "section"]
)
WORDS = st.sampled_from(["alpha", " beta ", "gamma\n", "&amp;", "x < y", "é"])


@settings(deadline=None)
@given(st.lists(WORDS | TAGS.map("<{}>".format) | TAGS.map("</{}>".format), max_size=40))
def test_html_walk_keeps_every_word_in_order(pieces: list[str]) -> None:
    """Whatever the nesting of content tags, the characters of the text come out, in order, and no others."""
    from lxml import etree

    html = "<body>" + "".join(pieces)
    parser = etree.HTMLParser(encoding="utf-8")
    tree = etree.fromstring(html.encode(), parser)
    expected = "" if tree is None else "".join(str(piece) for piece in tree.itertext())
    assert "".join(extract(html).text.split()) == "".join(expected.split())
