"""A sitemap becomes addresses, and what cannot be read is listed."""

from __future__ import annotations

import gzip

import pytest

from ragassay.corpus.crawl.sitemap import SitemapLimits, read_sitemap

BASE = "http://docs.example/sitemap.xml"
NS = "http://www.sitemaps.org/schemas/sitemap/0.9"


def urlset(*locations: str, head: str = '<?xml version="1.0" encoding="UTF-8"?>\n') -> bytes:
    """Return a sitemap of these locations."""
    entries = "".join(f"<url>\n<loc>{one}</loc></url>\n" for one in locations)
    return f'{head}<urlset xmlns="{NS}">\n{entries}</urlset>'.encode()


def test_pages_in_order_once_each_and_normal() -> None:
    """White space, escapes and CDATA are read; a page that is listed twice is one."""
    data = urlset(
        " http://DOCS.example/b?x=1&amp;y=2 ", "<![CDATA[http://docs.example/a#top]]>", "http://docs.example/a"
    )
    assert read_sitemap(data, BASE).pages == ("http://docs.example/b?x=1&y=2", "http://docs.example/a")


@pytest.mark.parametrize(
    "root",
    [
        f'<urlset xmlns="{NS}"><url><loc>{{}}</loc></url></urlset>',
        "<urlset><url><loc>{}</loc></url></urlset>",
        f'<s:urlset xmlns:s="{NS}"><s:url><s:loc>{{}}</s:loc></s:url></s:urlset>',
        '<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url><loc>{}</loc></url></urlset>',
    ],
)
def test_namespaces(root: str) -> None:
    """Whatever the namespace is called, and without one."""
    assert read_sitemap(root.format("http://docs.example/a").encode(), BASE).pages == ("http://docs.example/a",)


def test_extensions_are_passed_over() -> None:
    """The address of an image or of a translation is not that of a page."""
    data = (
        f'<urlset xmlns="{NS}" xmlns:i="urn:i"><url><i:image><i:loc>http://docs.example/x.png</i:loc></i:image>'
        '<loc>http://docs.example/a</loc><i:link href="http://docs.example/de"/></url></urlset>'
    )
    assert read_sitemap(data.encode(), BASE).pages == ("http://docs.example/a",)


def test_an_index_lists_sitemaps() -> None:
    """A sitemap index has no pages."""
    data = f'<sitemapindex xmlns="{NS}"><sitemap><loc>http://docs.example/s1.xml.gz</loc></sitemap></sitemapindex>'
    read = read_sitemap(data.encode(), BASE)
    assert (read.pages, read.sitemaps, read.problems) == ((), ("http://docs.example/s1.xml.gz",), ())


def test_plain_text_with_a_mark_and_crlf() -> None:
    """One address a line; empty lines do not count, others are problems with their number."""
    data = b"\xef\xbb\xbfhttp://docs.example/a\r\n\r\nnot an address\r\nhttp://docs.example/\xc3\xbc\r\n"
    read = read_sitemap(data, BASE)
    assert read.pages == ("http://docs.example/a", "http://docs.example/%C3%BC")
    assert read.problems == (
        "line 3: 'not an address' is relative, which a sitemap does not allow; "
        "perhaps http://docs.example/not%20an%20address is meant",
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marks_and_gzip(encoding: str) -> None:
    """A byte order mark is honoured, gzipped or not."""
    text = urlset("http://docs.example/a", head="").decode()
    for data in (text.encode(encoding), gzip.compress(text.encode(encoding))):
        assert read_sitemap(data, BASE) == read_sitemap(text.encode(), BASE)


def test_relative_and_foreign_addresses_are_problems() -> None:
    """Each entry is an address or a problem with its line."""
    read = read_sitemap(urlset("/a", "ftp://docs.example/a", "", "http://u:p@docs.example/"), BASE)
    assert read.pages == ()
    assert [problem.partition(": ")[0] for problem in read.problems] == ["line 3", "line 5", "line 7", "line 9"]
    assert "perhaps http://docs.example/a is meant" in read.problems[0]


BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
    f'<urlset xmlns="{NS}"><url><loc>http://docs.example/&b;&f;</loc></url></urlset>'
)


@pytest.mark.parametrize("data", [BOMB.encode(), BOMB.encode("utf-16"), b"<!DOCTYPE urlset><urlset/>"])
def test_document_types_are_refused(data: bytes) -> None:
    """No document type is read, so no entity grows and no file is opened."""
    read = read_sitemap(data, BASE)
    assert read.pages == ()
    assert read.problems == ("it declares a document type, which is refused: entities could be hidden there",)


def test_inflating_stops_at_the_cap() -> None:
    """A small gzip file that inflates without end is refused; so is gzip inside gzip."""
    bomb = gzip.compress(b" " * 5_000_000)
    assert "more than the 1,000,000 bytes" in read_sitemap(bomb, BASE, SitemapLimits(bytes=1_000_000)).problems[0]
    assert "gzipped twice" in read_sitemap(gzip.compress(bomb), BASE).problems[0]
    assert "damaged" in read_sitemap(bomb[:1000], BASE).problems[0]


def test_entries_above_the_cap_are_told() -> None:
    """What is read stays, and the rest is a problem, not silence."""
    read = read_sitemap(urlset(*(f"http://docs.example/{n}" for n in range(5))), BASE, SitemapLimits(entries=3))
    assert len(read.pages) == 3
    assert "lists more than 3 addresses" in read.problems[0]


def test_what_stands_before_a_fault_is_kept() -> None:
    """XML that breaks off gives its first addresses and a problem."""
    read = read_sitemap(urlset("http://docs.example/a", "http://docs.example/b")[:-30], BASE)
    assert read.pages == ("http://docs.example/a",)
    assert "not well-formed" in read.problems[0]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"<html><body>Not found</body></html>", "its root is <html>"),
        (b"<rss/>", "its root is <rss>"),
        (b"\x89PNG\xff", "neither XML nor UTF-8 text"),
        (b"<urlset><url><lastmod>x</lastmod></url></urlset>", "an entry without an address"),
        (b"<urlset>&undefined;</urlset>", "not well-formed"),
    ],
)
def test_what_is_no_sitemap_says_so(data: bytes, said: str) -> None:
    """Another file in its place is a problem."""
    read = read_sitemap(data, BASE)
    assert read.pages == ()
    assert said in read.problems[0]


def test_nothing_is_no_problem() -> None:
    """An empty sitemap lists nothing."""
    assert read_sitemap(b"", BASE).problems == read_sitemap(b"<urlset/>", BASE).problems == ()
