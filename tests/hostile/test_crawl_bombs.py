"""Small answers that would cost hours or gigabytes: each is met by a cap, and what a cap shuts out is said."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from crawl_folder import START, crawl, page
from ragassay.corpus import read_corpus
from ragassay.corpus.attributes import MOST, attributes_problem
from ragassay.corpus.crawl import llms, scope
from ragassay.corpus.crawl.folder import CrawledPage, NotTaken
from ragassay.corpus.crawl.frontier import Frontier
from ragassay.corpus.crawl.journal import Took
from ragassay.corpus.crawl.links import links_of_html
from ragassay.corpus.crawl.llms import links_of_llms
from ragassay.corpus.crawl.scope import Scope
from ragassay.corpus.crawl.settings import CrawlSettings
from ragassay.corpus.crawl.settle import settle
from ragassay.corpus.crawl.sitemap import read_sitemap
from ragassay.plugins.chunkers.heading import HeadingChunker


@contextmanager
def soon(seconds: float = 5.0, megabytes: int = 200) -> Iterator[None]:
    """Fail where the block takes long, or more memory than was in use at any time before."""
    began, peak = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.monotonic() - began < seconds
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < megabytes * 1024


def test_short_links_below_a_long_base_are_cut_and_counted() -> None:
    """300,000 links of four characters that stand for 2,000 each are 8 MiB of addresses, and a number."""
    base = b"<base href='http://x/" + b"a" * 1900 + b"/'>"
    with soon():
        found = links_of_html(base + b"".join(b"<a href=%x></a>" % n for n in range(300_000)), "http://x/", None)
    assert 4_000 < len(found.targets) < 5_000
    assert len(found.targets) + found.beyond == 300_000


def test_a_page_of_a_hundred_thousand_links_is_read_whole() -> None:
    """A long list of links is no attack."""
    with soon():
        found = links_of_html(b"".join(b"<a href=/p%d>x</a>" % n for n in range(100_000)), "http://x/", None)
    assert (len(found.targets), found.beyond) == (100_000, 0)


def test_a_tag_with_endless_attributes_is_found_before_it_is_parsed(tmp_path: Path) -> None:
    """The parser takes minutes for it; the page is no page of the corpus, is listed, and has no links."""
    bomb = b"<p>word<a href=/x>x</a><p " + b" ".join(b"a%d=b" % n for n in range(200_000)) + b">"
    with soon():
        assert links_of_html(bomb, "http://x/", None).targets == ()
        corpus = read_corpus(crawl(tmp_path / "site", {"a.html": b"<p>A", "bomb.html": bomb}), HeadingChunker())
    reason = f"unreadable: a tag on line 1 has more than {MOST:,} attributes; simplify it or leave the file out"
    assert corpus.source["leftOut"] == [{"path": f"{START}bomb.html", "reason": reason}]


MANY = " ".join(f"a{n}" for n in range(MOST + 5))
VALUED = " ".join(f"a{n}='>'" for n in range(MOST + 5))


@pytest.mark.parametrize(
    "bomb",
    [
        f"<p {MANY}>", f"<p {VALUED}>", f"<p {MANY}", f"<p/{MANY.replace(' ', '/')}>", f"<!--><p {MANY}>-->",
        f"<script {MANY}>", f"<script>x</script><p {MANY}>", f"<!-- x --><p {MANY}>", f"<p a='>' {MANY}>",
        f'<p a=" {VALUED}">x<p {MANY}>', f"<script></script ><p {MANY}>",
    ],
)  # fmt: skip
def test_attributes_are_counted_however_they_are_written(bomb: str) -> None:
    """Without values, with a bracket in each value, parted by slashes, behind comments and scripts."""
    assert attributes_problem(bomb) is not None


@pytest.mark.parametrize(
    "fine",
    [
        f"<script>if (a <b) {{ {MANY} }}</script><p>x", f"<!-- <p {MANY}> --><p>x", f"<p>{MANY}</p>",
        f'<img src="data:{MANY}">', f"<p>a < b {MANY}", f'<path d="{MANY}"/>', "<p>it's <b class=it's>x</b>" + MANY,
        f"<style>a<b {MANY}</style>", f"<p title='{VALUED.replace(chr(39), '')}'>", "<" * 100_000, "<a" * 100_000,
        "<!--" * 50_000, "<script>" * 50_000, "=" * 100_000, "<a" + "=" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_attribute_is_not_counted(fine: str) -> None:
    """Scripts, comments, styles, texts and long values hold as many words as they like; no page takes long."""
    with soon(2.0):
        assert attributes_problem(fine) is None


@pytest.mark.parametrize(
    "bomb",
    [
        b"<urlset>" + b"<ab>" * 2_000_000,
        b"<urlset " + b" ".join(b'a%d="b"' % n for n in range(1_000_000)) + b"/>",
        b"<urlset>" + b"<!--" + b"x" * 10_000_000,
        b"<urlset><url><loc>" + b"a" * 10_000_000 + b"</loc></url></urlset>",
    ],
)
def test_a_sitemap_that_is_one_tag_or_one_nest_is_given_up(bomb: bytes) -> None:
    """Elements in elements, and a tag or a comment without end, are a problem that is told and not memory."""
    with soon(megabytes=100):
        found = read_sitemap(bomb, "http://x/")
    assert found.pages == ()
    assert found.problems


@pytest.mark.parametrize("bomb", ["[" * 200_000, "*a " * 100_000, "![[" * 60_000, "> " * 100_000, "[a]: " * 50_000])
def test_markdown_is_read_in_pieces(bomb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is slow for the parser ends, and takes the memory of a piece."""
    monkeypatch.setattr(llms, "MOST_READ", 200_000)
    with soon(10.0, 120):
        assert links_of_llms(bomb, "http://x/") == ()


def test_a_long_list_in_markdown_is_read_whole() -> None:
    """Links, references and code are told apart across pieces as well."""
    lines = [f"- [p{n}](/p{n}) words\n" for n in range(20_000)]
    text = "".join([*lines, "\n[there][1]\n\n```\n[no](/code)\n```\n\n[1]: /referenced\n"])
    found = links_of_llms(text, "http://x/")
    assert len(found) == 20_001
    assert {"http://x/p0", "http://x/p19999", "http://x/referenced"} <= set(found)


def test_links_in_markdown_have_a_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The addresses of one Markdown page have as many characters at most as those of an HTML page."""
    monkeypatch.setattr(llms, "MOST_CHARS", 100)
    assert len(links_of_llms("".join(f"[a](/{n})\n" for n in range(100)), "http://x/")) == 10


def test_chains_of_canonical_pages_and_redirects_are_walked_once() -> None:
    """20,000 pages that each name the next, and as many redirects, are settled at once and not in years."""
    pages = [_named(n, n + 1) for n in range(20_000)]
    moved = [
        NotTaken(url=f"http://x/m{n}", reason="moved", detail=f"http://x/m{n + 1}", status=302) for n in range(20_000)
    ]
    with soon():
        result = settle([*pages, _named(20_000, None)], moved, [])
    assert [one.url for one in result.pages] == ["http://x/20000"]
    assert len(result.left_out) == 40_000
    circle = [
        NotTaken(url=f"http://x/m{n}", reason="moved", detail=f"http://x/m{(n + 1) % 9}", status=302) for n in range(9)
    ]
    with soon():
        result = settle([_named(n, (n + 1) % 20_000) for n in range(20_000)], circle, [])
    assert [one.url for one in result.pages] == ["http://x/0"]
    assert {one.reason for one in result.left_out} == {"canonical", "redirect"}


def _named(number: int, canonical: int | None) -> CrawledPage:
    """Return a page that names another one as its canonical address."""
    to = None if canonical is None else f"http://x/{canonical}"
    one = page(f"{number}", b"%d" % number)
    url = f"http://x/{number}"
    named: CrawledPage = msgspec.structs.replace(one, url=url, asked=url, canonical=to)
    return named


@pytest.mark.parametrize("follows", [True, False])
def test_what_is_seen_is_capped_and_counted_once(monkeypatch: pytest.MonkeyPatch, follows: bool) -> None:
    """Addresses above the number, or the number of characters, are counted once each, and no line repeats them."""
    monkeypatch.setattr(scope, "MAX_ADDRESSES", 50)
    frontier = Frontier(Scope(CrawlSettings(start="http://x/"), "http://x/", lambda _url: True), follows=follows)
    frontier.see(["http://x/"])
    links = tuple(f"http://x/{n}" for n in range(200))
    for name in ("a", "b", "c"):
        one = msgspec.structs.replace(page(name, name.encode()), url=f"http://x/{name}")
        line = frontier.news(Took(page=one, links=links, unfollowed=links))
        assert len(line.links) <= 200 if name == "a" else not line.links
        frontier.settle("http://x/", line)
    assert frontier.beyond == 200 - (49 if follows else 50)
    monkeypatch.setattr(scope, "MAX_ADDRESSES", 1_000)
    monkeypatch.setattr(scope, "MAX_CHARS", 1_000)
    frontier = Frontier(Scope(CrawlSettings(start="http://x/"), "http://x/", lambda _url: True), follows=True)
    frontier.see("http://x/" + "a" * 91 + f"{n}" for n in range(100))
    assert frontier.seen == 9
    assert frontier.beyond == 91
