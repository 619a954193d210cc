"""An address becomes a page id that every file system can hold."""

from __future__ import annotations

import re

import pytest

from ragassay.corpus.crawl.naming import page_id, suffix_of
from ragassay.errors import InputError

SITE = "http://docs.example/"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("sql-select.html", "sql-select.html"),
        ("v1.2/guide/a_b.htm", "v1.2/guide/a_b.htm"),
        ("", "index.html"),
        ("guide/", "guide/index.html"),
        ("guide/index.html", "guide/index.html~.html"),
        ("guide", "guide~.html"),
        ("guide/index", "guide/index~.html"),
        ("page.php", "page.php~.html"),
        ("readme.md", "readme.md~.html"),
    ],
)
def test_plain_addresses_keep_their_path(path: str, expected: str) -> None:
    """The path stays; what has not the suffix of its format gets it after a mark."""
    assert page_id(SITE + path, "text/html; charset=utf-8") == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Guide/Install.html", r"guide/install~[0-9a-f]{16}\.html"),
        ("con.html", r"con-~[0-9a-f]{16}\.html"),
        ("nul/a.html", r"nul-/a~[0-9a-f]{16}\.html"),
        ("a.html/b.html", r"a-html/b~[0-9a-f]{16}\.html"),
        ("a%2Fb.html", r"a-b~[0-9a-f]{16}\.html"),
        ("a//b.html", r"a/b~[0-9a-f]{16}\.html"),
        ("trailing./b.html", r"trailing/b~[0-9a-f]{16}\.html"),
        (".hidden/b.html", r"hidden/b~[0-9a-f]{16}\.html"),
        ("über.html", r"über~[0-9a-f]{16}\.html"),
        ("search?q=a/../b&x=Y", r"search-q-a-b-x-y~[0-9a-f]{16}\.html"),
        ("?p=1", r"index-p-1~[0-9a-f]{16}\.html"),
        ("%00%0A.html", r"index~[0-9a-f]{16}\.html"),
        ("x" * 300 + ".html", r"x{50}~[0-9a-f]{16}\.html"),
        ("/".join(["deep"] * 80) + "/a.html", r"(deep-)+deep-?~[0-9a-f]{16}\.html"),
    ],
)
def test_other_addresses_are_written_with_a_digest(path: str, expected: str) -> None:
    """What a file system could not hold, or holds twice, is written as words with a digest of the address."""
    found = page_id(SITE + path, "text/html")
    assert re.fullmatch(expected, found), found


def test_a_folder_is_its_index_in_html_alone() -> None:
    """Where the folder itself is Markdown, which is rare, `index.md` beside it keeps its name."""
    assert page_id(SITE + "guide/index.md", "text/markdown") == "guide/index.md"
    assert page_id(SITE + "guide/", "text/markdown") == "guide/~.md"
    assert page_id(SITE + "guide/index.html", "text/plain") == "guide/index.html~.txt"


def test_ids_are_relative_to_a_prefix() -> None:
    """Below the folder of the crawl the path is relative; the folder itself without a slash stays apart."""
    prefix = SITE + "en/latest"
    assert page_id(SITE + "en/latest/a/b.html", "text/html", prefix) == "a/b.html"
    assert page_id(SITE + "en/latest/", "text/html", prefix) == "index.html"
    assert page_id(SITE + "en/latest", "text/html", prefix).startswith("en/latest~")


@pytest.mark.parametrize(
    ("path", "content_type", "expected"),
    [
        ("a", "text/html", ".html"),
        ("a", "Application/XHTML+XML; charset=x", ".html"),
        ("a.md", "text/plain", ".md"),
        ("a.rst", "text/plain; charset=utf-8", ".rst"),
        ("a.html", "text/plain", ".txt"),
        ("a.md", "text/markdown", ".md"),
        ("a.pdf", "application/pdf", ".pdf"),
        ("a.htm", None, ".html"),
        ("a.md", "application/octet-stream", ".md"),
        ("a.png", "image/png", None),
        ("a.html", "image/png", None),
        ("a", None, None),
    ],
)
def test_suffix_of_a_media_type(path: str, content_type: str | None, expected: str | None) -> None:
    """The server's media type decides, the path only where that says nothing more exact."""
    assert suffix_of(SITE + path, content_type) == expected


def test_what_is_no_documentation_has_no_id() -> None:
    """An image or an address without a type is an error, not a page."""
    with pytest.raises(InputError, match="no documentation format"):
        page_id(SITE + "a.png", "image/png")
    with pytest.raises(InputError, match="no media type"):
        page_id(SITE + "a", None)
