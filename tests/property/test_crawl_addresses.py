"""Whatever an address holds: one normal form, and one page id that no other address has."""

from __future__ import annotations

import re

from hypothesis import assume, example, given
from hypothesis import strategies as st

from ragassay.corpus import names
from ragassay.corpus.crawl.address import joined, normal, within
from ragassay.corpus.crawl.links import links_of_html
from ragassay.corpus.crawl.naming import page_id
from ragassay.corpus.crawl.sitemap import read_sitemap
from ragassay.errors import InputError

SITE = "http://docs.example/"
segments = st.one_of(
    st.sampled_from(
        [
            *("index", "index.html", "index.htm", "Index.html", "a", "A", "a.html", "a~.html", "a.html~.html", "con"),
            *(
                "con.html",
                "nul.txt",
                "..",
                ".",
                "",
                "a.",
                "a ",
                "%2F",
                "%2f",
                "%2E%2E",
                "%00",
                ".hidden",
                "ü",
                "u\u0308",
            ),
            *("x" * 120, "x" * 300, "a%20b", "a+b", "a:b", "a~0123456789abcdef.html", "a?b", "a#b", "a;b", "\u202e"),
        ]
    ),
    st.text(max_size=8),
)
paths = st.lists(segments, max_size=6).map("/".join)
queries = st.one_of(st.just(""), st.text(max_size=8).map("?{}".format))
addresses = st.tuples(paths, queries).map(lambda parts: SITE + parts[0] + parts[1])


def normal_or_assume(url: str) -> str:
    """Return the normal form; a text that is no address is another try."""
    try:
        return normal(url)
    except InputError:
        assume(False)
        raise


@given(st.one_of(addresses, st.text(max_size=40).map("http://".__add__)))
@example("http://docs.example/%%32%35")
@example("http://docs.example//..//a")
def test_normal_is_idempotent(url: str) -> None:
    """The normal form of a normal address is itself, and it is ASCII without a fragment."""
    once = normal_or_assume(url)
    assert normal(once) == once
    assert once.isascii()
    assert "#" not in once
    assert " " not in once
    assert joined("http://elsewhere.example/", once) == once
    assert within(once, once)


@given(addresses, addresses, st.sampled_from(["text/html", "text/markdown"]))
@example(SITE + "a", SITE + "a.html", "text/html")
@example(SITE + "a/", SITE + "a/index.html", "text/html")
@example(SITE + "a/index", SITE + "a/index.html", "text/html")
@example(SITE + "a.html", SITE + "a.html~.html", "text/html")
@example(SITE + "A.html", SITE + "a.html", "text/html")
@example(SITE + "a/b", SITE + "a%2Fb", "text/html")
@example(SITE + "a//b", SITE + "a/b", "text/html")
@example(SITE + "a/", SITE + "a/index.md", "text/markdown")
@example(SITE + "a/", SITE + "a/~", "text/markdown")
def test_two_addresses_never_have_one_id(one: str, other: str, media: str) -> None:
    """Not even where letters' case is ignored, and no page lies where another's folder is."""
    first, second = normal_or_assume(one), normal_or_assume(other)
    assume(first != second)
    a, b = page_id(first, media).casefold(), page_id(second, media).casefold()
    assert a != b
    assert not a.startswith(f"{b}/")
    assert not b.startswith(f"{a}/")


@given(addresses, st.sampled_from(["text/html", "text/markdown", "text/plain", "text/x-rst"]))
def test_an_id_is_a_path_that_can_be_written(url: str, content_type: str) -> None:
    """It is relative, ends in a suffix that is read, and holds nothing that a file system refuses."""
    found = page_id(normal_or_assume(url), content_type)
    assert names.reason_unread(found) is None
    assert names.name_problem(found) is None
    assert names.page_id(found) == found
    assert len(found.encode()) <= 200
    for part in found.split("/"):
        assert part
        assert not part.startswith(".")
        assert not part.endswith((".", " "))
        assert not re.search(r'[<>:"|?*\\\x00-\x1f]', part)
        assert part.partition(".")[0].lower() not in ("con", "prn", "aux", "nul", "com1", "lpt1")


@given(st.one_of(st.binary(max_size=200), st.text(max_size=60).map(lambda text: f"<urlset><url><loc>{text}".encode())))
def test_no_sitemap_breaks_the_reader(data: bytes) -> None:
    """Whatever stands there is an address or a problem."""
    read = read_sitemap(data, SITE)
    assert all(normal(page) == page for page in read.pages)


@given(st.binary(max_size=200), st.sampled_from([None, "utf-8", "latin-1", "x"]))
def test_no_page_breaks_the_links(data: bytes, charset: str | None) -> None:
    """Whatever bytes a page has, its links are normal addresses."""
    assert all(normal(target) == target for target in links_of_html(data, SITE, charset).targets)
