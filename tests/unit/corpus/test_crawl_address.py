"""An address has one normal form, and lies under a prefix by whole path segments."""

from __future__ import annotations

import pytest

from ragassay.corpus.crawl.address import below, joined, normal, within
from ragassay.errors import InputError


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTPS://Docs.Example", "https://docs.example/"),
        ("http://docs.example:80/a", "http://docs.example/a"),
        ("https://docs.example:443/a", "https://docs.example/a"),
        ("http://docs.example:8080/a", "http://docs.example:8080/a"),
        ("http://docs.example./a", "http://docs.example/a"),
        ("http://docs.example/a/./b/../c#part", "http://docs.example/a/c"),
        ("http://docs.example/a/b/..", "http://docs.example/a/"),
        ("http://docs.example/../../a", "http://docs.example/a"),
        ("http://docs.example/%2e%2E/a", "http://docs.example/a"),
        ("http://docs.example/%7euser/%c3%bc", "http://docs.example/~user/%C3%BC"),
        ("http://docs.example/ü b", "http://docs.example/%C3%BC%20b"),
        ("http://docs.example/a%2Fb", "http://docs.example/a%2Fb"),
        ("http://docs.example/100%", "http://docs.example/100%25"),
        ("http://docs.example/a?", "http://docs.example/a"),
        ("http://docs.example/a?b=c d&e=ü#x?y", "http://docs.example/a?b=c%20d&e=%C3%BC"),
        ("http://docs.example/a\\b", "http://docs.example/a/b"),
        (" http://docs.example/a\n/b ", "http://docs.example/a/b"),
        ("http://[::0001]:80/a", "http://[::1]/a"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://docs.example//a//b", "http://docs.example//a//b"),
    ],
)
def test_normal_form(url: str, expected: str) -> None:
    """Each way to write an address ends in one."""
    assert normal(url) == expected
    assert normal(expected) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "docs/a.html",
        "//docs.example/a",
        "ftp://docs.example/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://",
        "http:///a",
        "http://docs.example:99999/",
        "http://docs.example:x/",
        "http://user:secret@docs.example/",
        "http://[::1/",
        "http://do cs.example/",
        "http://-\u200d.example/",
        "http://docs.example/\ud800",
        "http://docs.example/" + "a" * 9000,
        "http://docs.example/" + "é" * 8000,
        "http:/127.0.0.1/",
        "http:127.0.0.1/",
        "http://127%2e0.0.1/",
        "http://127.0.0.1../",
        "http://[fe80::1%25eth0]/",
        "http://[::1%lo]/",
        "http://[2606:4700::1% x]/",
        "http://[::1]x/",
        "http://[v1.x]/",
        "http://docs.example:８０/",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    """Other schemes, user names, broken hosts and ports are errors, and no message repeats a secret."""
    with pytest.raises(InputError) as caught:
        normal(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "prefix", "expected"),
    [
        ("http://docs.example/docs/a", "http://docs.example/docs/", True),
        ("http://docs.example/docs", "http://docs.example/docs/", True),
        ("http://docs.example/docs?x=1", "http://docs.example/docs", True),
        ("http://docs.example/docs-old/a", "http://docs.example/docs", False),
        ("http://docs.example/docs/../a", "http://docs.example/docs/", False),
        ("http://docs.example/docs%2Fa", "http://docs.example/docs/", False),
        ("http://docs.example/", "http://docs.example", True),
        ("https://docs.example/docs/a", "http://docs.example/docs/", False),
        ("http://docs.example:8080/docs/a", "http://docs.example/docs/", False),
        ("http://docs.example.evil.example/docs/a", "http://docs.example/docs/", False),
    ],
)
def test_within_a_prefix(url: str, prefix: str, expected: bool) -> None:
    """The origin is the same and the path goes on after a whole segment."""
    assert within(url, prefix) is expected


def test_links_are_joined_to_their_page() -> None:
    """Relative links become addresses; what is no http(s) link becomes None."""
    base = "http://docs.example/a/b.html"
    assert joined(base, "../c.html#x") == "http://docs.example/c.html"
    assert joined(base, "?q=1") == "http://docs.example/a/b.html?q=1"
    assert joined(base, "//other.example/d") == "http://other.example/d"
    assert joined(base, "#here") == base
    assert joined(base + "?q=1", "") == base + "?q=1"
    assert joined(base, "/c;?") == "http://docs.example/c;"
    for other in ("\\\\other.example/d", "/\\other.example/d", "//\tother.example/d", " //other.example/d\r\n"):
        assert joined(base, other) == "http://other.example/d"
    assert joined(base, "http://good\\@127.0.0.1/") == "http://good/@127.0.0.1/"
    assert joined(base, "///d") == "http://docs.example///d"
    assert joined(base, "c;") == "http://docs.example/a/c;"
    assert [joined(base, link) for link in ("mailto:a@b.example", "javascript:x", "http://[", "data:,x")] == [None] * 4


def test_path_below_a_folder() -> None:
    """The path is relative to the folder; an address that is not below it has none."""
    assert below("http://docs.example/docs/a/b", "http://docs.example/docs") == "a/b"
    assert below("http://docs.example/docs/", "http://docs.example/docs/") == ""
    assert below("http://docs.example/docs", "http://docs.example/docs/") is None
