"""A file's bytes become one page: its text, its title, its digests."""

from __future__ import annotations

import hashlib

import pytest

from ragassay.corpus.extract import extract


@pytest.mark.parametrize(
    ("id_", "data", "title"),
    [
        ("a/b.md", b"Intro\n\n## The `uv` *cache* { #anchor }\n", "The uv cache"),
        ("b.md", b"Two\nlines\n===\n", "Two lines"),
        ("b.md", b"> # quoted\n\n```\n# code\n```\n", "b"),
        ("b.md", b"---\ntitle: From matter\n---\ntext", "From matter"),
        ("b.md", b"# `<tag>` <b>bold</b>", "<tag> bold"),
        ("guide.v2.txt", b"# not a heading in plain text", "guide.v2"),
        ("b.rst", b".. comment\n\n=====\nTitle\n=====\n\nText\n", "Title"),
        ("b.rst", b":ref:`The cache <cache>`\n--------------------\n", "The cache"),
        ("b.rst", b"no heading\n\n    code\n    ====\n", "b"),
        ("b.html", b"<title>T</title><p>x", "T"),
        ("b.htm", b"<title>T</title><h1>H</h1>", "H"),
        ("b.HTML", b"<p>x", "b"),
    ],
)
def test_title_is_the_first_heading(id_: str, data: bytes, title: str) -> None:
    """First heading, else <title> or the front matter's title, else the file's name."""
    assert extract(id_, data).page.title == title


def test_markdown_is_raw_after_front_matter() -> None:
    """Markup stays in the text: evidence is quoted with it."""
    source = "# A\n\n**bold** [link](x) `code`\n\n!!! note\n    inside\n"
    page = extract("a.md", ("---\nkey: v\n---\n" + source).encode()).page
    assert page.text == source
    assert page.format == "markdown"


def test_digests_are_of_text_and_of_source() -> None:
    """`sha256` is over the text's UTF-8 bytes, `source_sha256` over the file's bytes."""
    data = b"\xef\xbb\xbf# A\r\n"
    page = extract("a.md", data).page
    assert page.sha256 == hashlib.sha256(b"# A\n").hexdigest()
    assert page.source_sha256 == hashlib.sha256(data).hexdigest()


def test_blank_page_has_an_empty_text() -> None:
    """A page of white space alone is an empty page."""
    assert extract("a.md", b" \n\r\n\t").page.text == ""


def test_long_heading_gives_a_short_title() -> None:
    """A title keeps at most 200 characters."""
    assert len(extract("a.md", b"# " + b"word " * 100_000).page.title) <= 200
