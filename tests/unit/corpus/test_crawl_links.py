"""What an HTML page and an llms.txt say to a crawler."""

from __future__ import annotations

import pytest

from ragassay.corpus.crawl.links import Links, links_of_html
from ragassay.corpus.crawl.llms import links_of_llms

URL = "http://docs.example/guide/a.html"


def links(html: str) -> Links:
    """Return the links of a page."""
    return links_of_html(html.encode(), URL, None)


def test_targets_in_order_once_each() -> None:
    """Links, image maps and frames count; mail, scripts and data do not."""
    found = links(
        '<a href="b.html#x">b</a><map><area href="/c"></map><a href="B.html">B</a><a href="b.html">again</a>'
        '<a href="mailto:a@b.example"></a><a href="javascript:x"></a><a name="here"></a><a href="http://["></a>'
        '<a href=" d\n.html ">d</a>'
    )
    assert found.targets == tuple(
        f"http://docs.example/{p}" for p in ("guide/b.html", "c", "guide/B.html", "guide/d.html")
    )
    assert links('<frameset><frame src="f.html"></frameset>').targets == ("http://docs.example/guide/f.html",)


def test_base_moves_links() -> None:
    """The first `<base href>` counts, relative to the page; one that is no address is passed over."""
    assert links('<base href="/v2/"><base href="/v3/"><a href="x">x</a>').targets == ("http://docs.example/v2/x",)
    assert links('<base href="javascript:"><a href="x">x</a>').targets == ("http://docs.example/guide/x",)


def test_canonical() -> None:
    """One canonical address is taken; two that differ say nothing."""
    assert links('<link rel="Canonical" href="./a">').canonical == "http://docs.example/guide/a"
    assert links('<link rel=canonical href="a"><link rel=canonical href="b">').canonical is None
    assert links('<link rel=canonical href="">').canonical is None
    assert links("<link rel=stylesheet href=a>").canonical is None


@pytest.mark.parametrize(
    ("content", "noindex", "nofollow"),
    [
        ("noindex", True, False),
        ("NOINDEX, NoFollow", True, True),
        ("none", True, True),
        ("index,follow", False, False),
        ("max-snippet:0, nofollow", False, True),
    ],
)
def test_robots_meta(content: str, noindex: bool, nofollow: bool) -> None:
    """The robots meta tag says whether the page may be kept and followed."""
    found = links(f'<META NAME="Robots" content="{content}"><a href="x">x</a>')
    assert (found.noindex, found.nofollow, len(found.targets)) == (noindex, nofollow, 1)


def test_nofollow_links_stand_apart() -> None:
    """A link that is marked so is told, and is a target only where it is linked without the mark too."""
    found = links('<a rel="x nofollow" href="a">a</a><a rel=nofollow href="b">b</a><a href="b">b</a>')
    assert found.targets == ("http://docs.example/guide/b",)
    assert found.unfollowed == ("http://docs.example/guide/a",)


@pytest.mark.parametrize(
    ("data", "charset"),
    [
        ('<a href="/ü">'.encode(), None),
        ('<a href="/ü">'.encode("latin-1"), "ISO-8859-1"),
        ('<meta charset="latin1"><a href="/ü">'.encode("latin-1"), None),
        (b"\xef\xbb\xbf" + '<a href="/ü">'.encode(), "latin-1"),
        ('\ufeff<a href="/ü">'.encode("utf-16-le"), None),
        ('<a href="/ü">'.encode(), "no-such-charset"),
        ('<a href="/ü">'.encode("utf-16-le"), "UTF-16"),
        ('<a href="/ü"> '.encode(), "utf-16"),
    ],
)
def test_charsets(data: bytes, charset: str | None) -> None:
    """A byte order mark wins, then the server's charset, then the declared one."""
    assert links_of_html(data, URL, charset).targets == ("http://docs.example/%C3%BC",)


@pytest.mark.parametrize("data", [b"", b" \n", b"\x00\xff\xfe", b"<" * 1000, b"<!-- -->"])
def test_damaged_pages_have_no_links(data: bytes) -> None:
    """Nothing that a server sends is an error here."""
    assert links_of_html(data, URL, None).targets == ()


def test_llms_links() -> None:
    """Links in brackets, in angle brackets and bare ones, relative ones joined, code left alone."""
    text = (
        "\ufeff# Product\n\n> Docs, see <https://docs.example/about>.\n\n## Guides\n\n"
        "- [Install](/guide/install.md): first (see https://docs.example/x).\n"
        '- [Again](guide/install.md "title")\n- https://docs.example/bare\n'
        "- [Mail](mailto:a@b.example) `https://docs.example/code`\n"
        "- [With (brackets)](https://docs.example/a_(b))\n\n```\n[No](/no)\n```\n"
    )
    assert links_of_llms(text, "https://docs.example/llms.txt") == tuple(
        f"https://docs.example/{path}" for path in ("about", "guide/install.md", "x", "bare", "a_(b)")
    )
    assert links_of_llms("", "https://docs.example/llms.txt") == ()
