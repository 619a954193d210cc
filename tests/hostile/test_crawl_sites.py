"""Sites that mean no good, or fail: a crawl ends in time, in a folder that adds up, or in a word that says why not."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import stat
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from ragassay.corpus.crawl import ask, pace, place, scope
from ragassay.corpus.crawl.crawl import Finished, Incomplete, Watch, crawl
from ragassay.corpus.crawl.disk import exchange
from ragassay.corpus.crawl.folder import Crawled, load_crawl
from ragassay.corpus.crawl.settings import CrawlSettings, Manner
from ragassay.corpus.found import Limits
from ragassay.corpus.read import find
from ragassay.errors import InputError
from site_server import Answer, Request, Site, conditional, drip, sent, sitemap_of

MANNER = ("concurrency", "rate_per_s", "timeout_s", "max_time_s", "allow_failures", "restart", "fresh")


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(pace, "_FIRST_SLOWER_S", 0.005)
    monkeypatch.setattr(pace, "_SLOWEST_S", 0.02)


@pytest.fixture
def site() -> Iterator[Site]:
    """A site without pages."""
    with Site() as opened:
        yield opened


def go(site: Site, folder: Path, start: str = "/", watch: Watch | None = None, **options: Any) -> Finished:
    """Crawl the site as tests do: this machine is allowed, without pace, with a short time-out."""
    manner = Manner(**{"rate_per_s": 0.0, "timeout_s": 5.0, **{k: v for k, v in options.items() if k in MANNER}})
    shaping = {name: value for name, value in options.items() if name not in MANNER}
    settings = CrawlSettings(**{"start": site.url + start, "allow_private": True, "discovery": "links", **shaping})
    return asyncio.run(crawl(settings, manner, folder, watch=watch))


def whole(folder: Path) -> Crawled:
    """Return the crawl in a folder, after every check of the reader, and with nothing else lying about."""
    crawled = load_crawl(folder)
    files = {path.relative_to(folder / "files").as_posix() for path in (folder / "files").rglob("*") if path.is_file()}
    assert files == {page.id for page in crawled.pages}
    assert {path.name for path in folder.parent.iterdir() if path.name.startswith(folder.name)} == {folder.name}
    assert {path.name for path in folder.iterdir()} == {"crawl.json", "pages.jsonl", "left-out.jsonl", "files"}
    return crawled


def paths(site: Site, crawled: Crawled) -> set[str]:
    """Return the paths of the pages."""
    return {page.url.removeprefix(site.url) for page in crawled.pages}


def reasons(site: Site, crawled: Crawled) -> dict[str, str]:
    """Return why each other address is no page."""
    return {left.url.removeprefix(site.url): left.reason for left in crawled.left_out}


def detail(site: Site, crawled: Crawled, path: str) -> str:
    """Return what is said of an address that was left out."""
    return next(left.detail or "" for left in crawled.left_out if left.url == site.url + path)


def linked(site: Site, *links: str) -> None:
    """Serve a start page with these links."""
    site.page("/", links=links)


def test_redirects_that_lead_astray_are_not_followed(site: Site, tmp_path: Path) -> None:
    """Other schemes, hosts, ports and private addresses are never asked for, and each is told."""
    with Site() as other:
        targets = {
            "/a": "http://127.0.0.1:1/",
            "/b": "http://169.254.169.254/latest/meta-data/",
            "/c": "http://[::1]:80/",
            "/d": "file:///etc/passwd",
            "/e": f"{other.url}/secret",
            "/f": "http://user:word@127.0.0.1/",
            "/g": "http://2130706433/",
            "/h": "https://",
        }
        for path, target in targets.items():
            site.redirect(path, target)
        site.handlers["/none"] = Answer(status=302)
        linked(site, *targets, "/none", "/fine")
        site.redirect("/fine", "/end", 301)
        site.page("/end")
        go(site, tmp_path / "c")
        assert other.requests == []
    crawled = whole(tmp_path / "c")
    assert paths(site, crawled) == {"/", "/end"}
    found = reasons(site, crawled)
    assert found.pop("/fine") == "moved"
    assert {path: found[path] for path in ("/a", "/b", "/c", "/e")} == dict.fromkeys(
        ("/a", "/b", "/c", "/e"), "outside"
    )
    assert set(found.values()) == {"outside", "redirect"}, found


def test_robots_sitemaps_and_lists_are_guarded_like_pages(site: Site, tmp_path: Path) -> None:
    """No list of a site leads the crawl to an address that is never connected to."""
    site.robots("Sitemap: http://169.254.169.254/sitemap.xml\nSitemap: http://0x7f000001/map.xml\n")
    site.redirect("/sitemap.xml", "http://169.254.169.254/map.xml")
    site.redirect("/llms.txt", "http://[fe80::1]/llms.txt")
    site.page("/")
    finished = go(site, tmp_path / "c", discovery="auto")
    assert any("169.254.169.254 is link-local" in note for note in finished.notes)
    assert finished.header.discovery["used"] == "links"


def test_without_the_option_this_machine_is_not_crawled(site: Site, tmp_path: Path) -> None:
    """A start address on this machine is refused before anything is asked."""
    site.page("/")
    with pytest.raises(InputError, match="--allow-private"):
        go(site, tmp_path / "c", allow_private=False)
    assert site.requests == []


def test_redirect_loops_and_long_ways_end(site: Site, tmp_path: Path) -> None:
    """A circle, a page that redirects to itself, and a way without end are left out."""
    site.redirect("/self", "/self")
    site.redirect("/x", "/y")
    site.redirect("/y", "/x")
    site.fallback = lambda request: (
        Answer(status=302, headers=(("Location", request.target + "1"),))
        if request.target.startswith("/long")
        else Answer(status=404)
    )
    linked(site, "/self", "/x", "/long")
    go(site, tmp_path / "c")
    crawled = whole(tmp_path / "c")
    assert paths(site, crawled) == {"/"}
    assert set(reasons(site, crawled).values()) == {"redirect"}
    assert sum(target.startswith("/long") for target in site.asked) == scope.MOST_HOPS + 1


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_bomb_is_left_out_and_takes_no_memory(site: Site, tmp_path: Path, coding: str) -> None:
    """A body that inflates to a hundred times the cap is given up at the cap."""
    import tracemalloc
    import zlib

    compress = zlib.compressobj(9, wbits=31 if coding == "gzip" else 15)
    bomb = b"".join([*(compress.compress(bytes(1 << 20)) for _ in range(100)), compress.flush()])
    site.handlers["/bomb"] = Answer(bomb, headers=(("Content-Encoding", coding),))
    site.handlers["/good"] = Answer(gzip.compress(b"<p>good"), headers=(("Content-Encoding", "gzip"),))
    linked(site, "/bomb", "/good")
    tracemalloc.start()
    go(site, tmp_path / "c", max_page_bytes=1_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    crawled = whole(tmp_path / "c")
    assert reasons(site, crawled) == {"/bomb": "too large"}
    assert paths(site, crawled) == {"/", "/good"}
    assert peak < 16_000_000


def test_slow_and_endless_pages_end_in_time(site: Site, tmp_path: Path) -> None:
    """A page that drips, a header that drips and a page without end are given up; none is put in place in part."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    site.handlers["/drip"] = drip(head + b"\r\n<p>", b"x", 0.05)
    site.handlers["/headers"] = drip(head, b"X-A: b\r\n", 0.2)
    site.handlers["/silent"] = drip(b"", b"", 0.2)
    site.handlers["/endless"] = drip(head + b"\r\n<p>", bytes(100_000), 0.0)
    linked(site, "/drip", "/headers", "/silent", "/endless")
    began = time.monotonic()
    with pytest.raises(Incomplete, match="3 of 5 addresses could not be fetched"):
        go(site, tmp_path / "c", timeout_s=1.5, max_page_bytes=1_000_000)
    assert time.monotonic() - began < 30
    assert not (tmp_path / "c").exists()
    assert site.asked["/endless"] == 1
    go(site, tmp_path / "c", timeout_s=1.5, max_page_bytes=1_000_000, allow_failures=True)
    crawled = whole(tmp_path / "c")
    assert reasons(site, crawled) == {
        "/drip": "failed", "/headers": "failed", "/silent": "failed", "/endless": "too large"
    }  # fmt: skip


def test_bodies_that_are_not_what_they_say(site: Site, tmp_path: Path) -> None:
    """A body shorter than its length is asked for again and fails, garbage fails, what is empty is told as empty."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    site.handlers["/short"] = sent(head + b"Content-Length: 1000\r\n\r\n<p>only this")
    site.handlers["/torn"] = Answer(gzip.compress(b"<p>torn" * 99)[:-9], headers=(("Content-Encoding", "gzip"),))
    site.handlers["/garbage"] = sent(b"\x00\x01\x02 no HTTP\r\n\r\n")
    site.handlers["/closed"] = sent(b"")
    site.handlers["/headers"] = sent(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n")
    site.handlers["/empty"] = Answer(b"  \n")
    site.handlers["/nothing"] = Answer(status=204)
    linked(site, "/short", "/torn", "/garbage", "/closed", "/headers", "/empty", "/nothing")
    go(site, tmp_path / "c", allow_failures=True)
    crawled = whole(tmp_path / "c")
    assert reasons(site, crawled) == {
        **dict.fromkeys(("/short", "/torn", "/garbage", "/closed", "/headers"), "failed"),
        **dict.fromkeys(("/empty", "/nothing"), "empty"),
    }
    assert "length" in detail(site, crawled, "/short")
    assert site.asked["/short"] == ask.RETRIES["truncated"] + 1


def test_a_body_longer_than_its_length_is_never_taken_as_it_came(site: Site, tmp_path: Path) -> None:
    """What stands behind the length that was named is no part of a page: it ends there, or it fails."""
    site.handlers["/long"] = sent(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 7\r\n\r\n<p>long and more"
    )
    linked(site, "/long")
    go(site, tmp_path / "c", allow_failures=True)
    crawled = whole(tmp_path / "c")
    long = [crawled.data(page) for page in crawled.pages if page.url.endswith("/long")]
    assert long == [b"<p>long"] or reasons(site, crawled) == {"/long": "failed"}


def test_other_kinds_of_content_are_left_out_unread(site: Site, tmp_path: Path) -> None:
    """Content that is no documentation is not read; PDF is taken on request; a charset is kept as it was named."""
    site.handlers["/data"] = Answer(b"{}", media="application/json")
    site.handlers["/movie"] = drip(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n", b"x" * 1000, 0.01)
    site.handlers["/untyped"] = Answer(b"words", media=None)
    site.handlers["/coded"] = Answer(b"words", headers=(("Content-Encoding", "br"),))
    site.handlers["/a.md"] = Answer(b"# A\n[b](b.md)", media="text/markdown; charset=UTF-8")
    site.handlers["/b.md"] = Answer(b"# B", media="text/plain")
    site.handlers["/latin"] = Answer("<p>é".encode("latin-1"), media="text/html; charset=ISO-8859-1")
    site.handlers["/book.pdf"] = Answer(b"%PDF-1.7", media="application/pdf")
    linked(site, "/data", "/movie", "/untyped", "/coded", "/a.md", "/latin", "/book.pdf")
    go(site, tmp_path / "c")
    crawled = whole(tmp_path / "c")
    other = ("/data", "/movie", "/untyped", "/coded", "/book.pdf")
    assert reasons(site, crawled) == dict.fromkeys(other, "content type")
    assert site.asked["/book.pdf"] == 0
    charsets = {page.url.removeprefix(site.url): page.charset for page in crawled.pages}
    assert charsets == {"/": "utf-8", "/a.md": "utf-8", "/b.md": None, "/latin": "iso-8859-1"}
    go(site, tmp_path / "pdf", pdf=True)
    assert "/book.pdf" in paths(site, whole(tmp_path / "pdf"))


def test_retry_after_is_kept_to(site: Site, tmp_path: Path) -> None:
    """A 429 with Retry-After keeps every request back for so long; a date is read too."""

    def busy(request: Request) -> Answer:
        if request.times == 1:
            return Answer(status=429, headers=(("Retry-After", "1"),))
        if request.times == 2:
            return Answer(status=503, headers=(("Retry-After", formatdate(time.time() - 5, usegmt=True)),))
        return Answer(b"<p>at last")

    site.handlers["/busy"] = busy
    linked(site, "/busy", *(f"/p{n}" for n in range(5)))
    for n in range(5):
        site.page(f"/p{n}")
    finished = go(site, tmp_path / "c", concurrency=2)
    at = {request.target: when for request, when in zip(site.requests, site.times, strict=True) if request.times == 1}
    again = next(when for request, when in zip(site.requests, site.times, strict=True) if request[::2] == ("/busy", 2))
    assert 0.95 <= again - at["/busy"] < 5
    assert not [path for path, when in at.items() if at["/busy"] + 0.1 < when < at["/busy"] + 0.9]
    assert finished.retried == {"rate": 1, "server": 1}
    assert "/busy" in paths(site, whole(tmp_path / "c"))


def test_a_server_that_wants_to_be_left_alone_is_left_alone(site: Site, tmp_path: Path) -> None:
    """A Retry-After of hours ends the crawl; the same command goes on later and asks for nothing twice."""
    linked(site, "/a", "/b")
    site.page("/a")
    site.handlers["/b"] = Answer(status=429, headers=(("Retry-After", "7200"),))
    with pytest.raises(Incomplete, match="7,200 s"):
        go(site, tmp_path / "c", concurrency=1)
    site.page("/b")
    go(site, tmp_path / "c")
    assert paths(site, whole(tmp_path / "c")) == {"/", "/a", "/b"}
    assert site.asked["/"] == site.asked["/a"] == site.asked["/robots.txt"] == 1


def test_a_storm_of_503_stops_the_crawl_and_loses_nothing(site: Site, tmp_path: Path) -> None:
    """A site that goes down in the middle ends the crawl soon; the one before stays, and this one can go on."""
    names = [f"/p{n}" for n in range(40)]
    linked(site, *names)
    for name in names:
        site.page(name)
    go(site, tmp_path / "c")
    before = (tmp_path / "c" / "crawl.json").read_bytes()
    fine, down = dict(site.handlers), Answer(b"down", status=503)
    site.asked.clear()

    def fails(request: Request) -> Answer:
        if sum(site.asked.values()) < 15:
            answer = fine.get(request.target, Answer(status=404))
            return answer if isinstance(answer, Answer) else answer(request)
        return down

    site.handlers.clear()
    site.fallback = fails
    with pytest.raises(Incomplete, match="in a row failed"):
        go(site, tmp_path / "c")
    assert sum(site.asked.values()) < 100
    assert (tmp_path / "c" / "crawl.json").read_bytes() == before
    assert (tmp_path / "c.crawling").is_dir()
    got = {target for target, number in site.asked.items() if number == 1 and target != "/robots.txt"}
    site.handlers.update(fine)
    site.asked.clear()
    finished = go(site, tmp_path / "c")
    assert finished.resumed > 5
    assert len(set(site.asked) & got) <= 4
    assert len(paths(site, whole(tmp_path / "c"))) == 41


def test_broken_pages_of_a_site_that_is_there_do_not_end_the_crawl(site: Site, tmp_path: Path) -> None:
    """Many addresses that fail in a row are no end of a site that still answers; the crawl is held back, and listed."""
    broken = [f"/x{n}" for n in range(7)]
    linked(site, *broken, "/good")
    site.page("/good")
    for path in broken:
        site.handlers[path] = Answer(status=500)
    with pytest.raises(Incomplete, match="7 of 9 addresses") as caught:
        go(site, tmp_path / "c", concurrency=1)
    assert caught.value.exit_code == 3
    assert "/x0: status 500" in str(caught.value)
    assert site.asked["/x0"] == ask.RETRIES["server"] + 1
    site.asked.clear()
    finished = go(site, tmp_path / "c", concurrency=1, allow_failures=True)
    assert site.asked["/good"] == 0
    assert reasons(site, whole(tmp_path / "c")) == dict.fromkeys(broken, "failed")
    assert "7 addresses failed and are missing" in finished.notes


def test_robots_txt_is_obeyed(site: Site, tmp_path: Path) -> None:
    """What is disallowed is not asked for, the delay is kept, and a page or header may forbid to keep or to follow."""
    site.robots("User-agent: *\nDisallow: /no/\nCrawl-delay: 0.1\n")
    linked(site, "/no/a", "/meta", "/header", "/quiet", "/to-no")
    site.page("/meta", head='<meta name="ROBOTS" content="NoIndex">', links=("/from-meta",))
    site.page("/header", headers=(("X-Robots-Tag", "noindex, nofollow"),), links=("/from-header",))
    site.page("/quiet", head='<meta name="robots" content="nofollow">', links=("/from-quiet",))
    site.redirect("/to-no", "/no/b")
    for path in ("/from-meta", "/from-header", "/from-quiet", "/no/a", "/no/b"):
        site.page(path)
    began = time.monotonic()
    go(site, tmp_path / "c")
    assert time.monotonic() - began >= 0.1 * (len(site.requests) - 2)
    crawled = whole(tmp_path / "c")
    assert paths(site, crawled) == {"/", "/quiet", "/from-meta"}
    assert reasons(site, crawled) == {
        "/no/a": "robots", "/to-no": "robots", "/meta": "noindex", "/header": "noindex"
    }  # fmt: skip
    assert not [target for target in site.asked if target.startswith("/no/")]


@pytest.mark.parametrize("status", [500, 503])
def test_a_robots_txt_that_cannot_be_read_forbids_all(site: Site, tmp_path: Path, status: int) -> None:
    """A server error on robots.txt counts as a prohibition, is said, and nothing else is asked for."""
    site.page("/")
    site.handlers["/robots.txt"] = Answer(status=status)
    with pytest.raises(Incomplete, match="counts as a prohibition"):
        go(site, tmp_path / "c")
    assert set(site.asked) == {"/robots.txt"}


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_robots_txt_that_is_not_there_allows_all(site: Site, tmp_path: Path, status: int) -> None:
    """A 4xx on robots.txt allows everything."""
    site.page("/")
    site.handlers["/robots.txt"] = Answer(status=status)
    go(site, tmp_path / "c")
    assert paths(site, whole(tmp_path / "c")) == {"/"}


def test_an_endless_robots_txt_is_cut(site: Site, tmp_path: Path) -> None:
    """A robots.txt without end is read to its cap, and its first rules count."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /no\n"
    site.handlers["/robots.txt"] = drip(head, b"# filler\n" * 10_000, 0.0)
    linked(site, "/no", "/yes")
    site.page("/yes")
    go(site, tmp_path / "c")
    assert paths(site, whole(tmp_path / "c")) == {"/", "/yes"}
    assert site.asked["/no"] == 0


def test_a_robots_txt_that_takes_too_long_to_apply_is_not_read(site: Site, tmp_path: Path) -> None:
    """Thousands of wildcards, each tried on each address, would hold the crawl up for hours."""
    site.robots("User-agent: *\n" + "".join(f"Disallow: /*a{n}$\n" for n in range(2_001)))
    site.page("/")
    with pytest.raises(Incomplete, match="2,000 wildcards"):
        go(site, tmp_path / "c")
    assert set(site.asked) == {"/robots.txt"}


def test_nobody_at_home_is_told(tmp_path: Path) -> None:
    """A server that is not there ends the crawl with code 3, and with a word."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        site = Site()
        site.port = bound.getsockname()[1]
        with pytest.raises(Incomplete, match=r"robots\.txt cannot be read"):
            go(site, tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_sitemaps_nested_gzipped_and_in_a_circle(site: Site, tmp_path: Path) -> None:
    """Every sitemap of an index is read once, gzipped or not; pages elsewhere are left out; what is broken is told."""
    site.robots(f"Sitemap: {site.url}/index.xml\n")
    site.sitemap("/index.xml", sitemaps=("/index.xml", "/a.xml.gz", "/deeper.xml", "/broken.xml", "/gone.xml"))
    site.handlers["/a.xml.gz"] = Answer(gzip.compress(sitemap_of(site.url, ["/docs/a"])), media="application/gzip")
    site.sitemap("/deeper.xml", sitemaps=("/index.xml", "/b.xml"))
    site.sitemap("/b.xml", pages=("/docs/b", "/blog/", "/docs/a"))
    site.handlers["/broken.xml"] = Answer(b"<urlset><url>", media="application/xml")
    site.page("/docs/a", links=("/docs/hidden",))
    site.page("/docs/b")
    finished = go(site, tmp_path / "c", start="/docs/", discovery="auto")
    crawled = whole(tmp_path / "c")
    assert paths(site, crawled) == {"/docs/a", "/docs/b"}
    assert reasons(site, crawled) == {"/blog/": "outside"}
    assert site.asked["/index.xml"] == 1
    assert finished.header.discovery["used"] == "sitemap"
    assert any("/broken.xml" in note for note in finished.notes)
    assert any("/gone.xml: status 404" in note for note in finished.notes)
    assert any("1 addresses within the prefix are linked" in note for note in finished.notes)


def test_a_list_that_could_not_be_read_holds_the_crawl_back(site: Site, tmp_path: Path) -> None:
    """A sitemap that fails would be a hole nobody sees: the crawl ends, and goes on when it is there."""
    site.sitemap("/sitemap.xml", sitemaps=("/a.xml", "/b.xml"))
    site.sitemap("/a.xml", pages=("/a",))
    site.handlers["/b.xml"] = Answer(status=500)
    site.page("/a")
    with pytest.raises(Incomplete, match=r"b\.xml: status 500"):
        go(site, tmp_path / "c", discovery="sitemap")
    site.sitemap("/b.xml", pages=("/b",))
    site.page("/b")
    go(site, tmp_path / "c", discovery="sitemap")
    assert paths(site, whole(tmp_path / "c")) == {"/a", "/b"}


def test_a_sitemap_without_end_is_counted_and_cut(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More addresses than are seen at most are counted; those within the prefix come first."""
    monkeypatch.setattr("ragassay.corpus.crawl.scope.MAX_ADDRESSES", 50)
    site.sitemap("/sitemap.xml", sitemaps=tuple(f"/s{n}.xml" for n in range(5)))
    for n in range(5):
        site.sitemap(f"/s{n}.xml", pages=[*(f"/x/{n}-{m}" for m in range(100)), f"/docs/{n}"])
        site.page(f"/docs/{n}")
    finished = go(site, tmp_path / "c", start="/docs/", discovery="sitemap")
    counts = finished.header.counts
    assert (counts["pages"], counts["seen"], counts["beyond"]) == (5, 50, 455)
    assert any("455 more addresses" in note for note in finished.notes)


def test_llms_txt_names_the_pages(site: Site, tmp_path: Path) -> None:
    """The links of llms.txt are the addresses; without one that names a page llms-full.txt is the one page."""
    site.handlers["/docs/llms.txt"] = Answer(b"# Docs\n- [A](a.md)\n- [B](/docs/b.md): b\n", media="text/plain")
    for path in ("/docs/a.md", "/docs/b.md"):
        site.handlers[path] = Answer(path.encode(), media="text/markdown")
    site.handlers["/docs/llms-full.txt"] = Answer(b"# All", media="text/plain")
    assert go(site, tmp_path / "c", start="/docs/", discovery="auto").header.discovery["used"] == "llms"
    assert paths(site, whole(tmp_path / "c")) == {"/docs/a.md", "/docs/b.md"}
    del site.handlers["/docs/llms.txt"]
    go(site, tmp_path / "full", start="/docs/", discovery="llms")
    assert paths(site, whole(tmp_path / "full")) == {"/docs/llms-full.txt"}
    with pytest.raises(InputError, match="--from links"):
        go(site, tmp_path / "none", start="/docs/", discovery="sitemap")


def test_traps_end(site: Site, tmp_path: Path) -> None:
    """A calendar without end, growing paths and endless queries end at their caps, and the counts add up."""

    def trap(request: Request) -> Answer:
        path, _, query = request.target.partition("?")
        links = [f"{path}deep/", f"{path}?n={len(query)}{query}1", f"/year/{request.times}{len(site.asked)}/"]
        anchors = "".join(f'<a href="{link}">x</a>' for link in links)
        return Answer(f"<p>{request.target}</p>{anchors}".encode())

    site.fallback = lambda request: Answer(status=404) if request.target == "/robots.txt" else trap(request)
    finished = go(site, tmp_path / "c", max_pages=60, depth=12)
    crawled = whole(tmp_path / "c")
    assert len(crawled.pages) == 60
    assert {"page cap", "trap"} <= set(reasons(site, crawled).values())
    assert any("shut out by a cap" in note for note in finished.notes)
    assert len(site.requests) < 70
    with pytest.raises(Incomplete, match="--max-time"):
        go(site, tmp_path / "slow", rate_per_s=20, max_time_s=0.5)


def test_the_cap_of_all_bytes_holds(site: Site, tmp_path: Path) -> None:
    """Once all pages together are too large no more is asked for, and the rest is listed."""
    names = [f"/p{n}" for n in range(20)]
    site.sitemap("/sitemap.xml", names)
    for name in names:
        site.page(name, text="x" * 10_000)
    go(site, tmp_path / "c", discovery="sitemap", max_bytes=52_000, concurrency=1)
    crawled = whole(tmp_path / "c")
    assert len(crawled.pages) == 5
    assert set(reasons(site, crawled).values()) == {"byte cap"}
    assert len(crawled.left_out) == 15
    assert sum(target.startswith("/p") for target in site.asked) == 6


def test_duplicates_are_kept_once(site: Site, tmp_path: Path) -> None:
    """Canonical pages and equal bytes are pages once; a canonical page that is no page takes nothing away."""
    linked(site, "/print", "/lost", "/copy/")
    site.page("/print", head='<link rel="canonical" href="/article">')
    site.page("/article", head='<link rel="canonical" href="/article">')
    site.page("/lost", head='<link rel="canonical" href="/not-there">')
    site.handlers["/copy/"] = site.handlers["/"]
    go(site, tmp_path / "c")
    crawled = whole(tmp_path / "c")
    assert paths(site, crawled) == {"/", "/article", "/lost"}
    assert reasons(site, crawled) == {"/print": "canonical", "/copy/": "same bytes", "/not-there": "not found"}
    assert detail(site, crawled, "/copy/") == f"the same bytes as {site.url}/"


def test_a_folder_behind_a_redirect_is_the_prefix(site: Site, tmp_path: Path) -> None:
    """A start without a slash that redirects to its folder takes only what is in that folder."""
    site.redirect("/docs", "/docs/")
    site.page("/docs/", links=("/docs/a", "/blog/"))
    site.page("/docs/a")
    go(site, tmp_path / "c", start="/docs")
    crawled = whole(tmp_path / "c")
    assert paths(site, crawled) == {"/docs/", "/docs/a"}
    assert reasons(site, crawled) == {"/blog/": "outside", "/docs": "moved"}


def test_a_second_crawl_asks_only_for_what_has_changed(site: Site, tmp_path: Path) -> None:
    """ETags come back as conditions; a 304 takes the bytes from before, checked; changes are counted."""
    linked(site, "/same", "/changes", "/goes")
    site.handlers["/same"] = conditional(b"<p>same<a href='/below'>", '"1"')
    site.page("/below")
    site.page("/changes")
    site.page("/goes")
    first = go(site, tmp_path / "c")
    assert first.changes is None
    site.page("/changes", text="new words")
    linked(site, "/same", "/changes", "/comes")
    site.page("/comes")
    second = go(site, tmp_path / "c")
    assert second.changes is not None
    assert (second.changes.new, second.changes.changed, second.changes.same, second.changes.gone) == (1, 2, 2, 1)
    crawled = whole(tmp_path / "c")
    assert [page.url.removeprefix(site.url) for page in crawled.pages if page.not_modified] == ["/same"]
    assert paths(site, crawled) == {"/", "/same", "/below", "/changes", "/comes"}
    go(site, tmp_path / "c", fresh=True)
    assert not any(page.not_modified for page in whole(tmp_path / "c").pages)


def test_bytes_from_before_that_are_damaged_are_fetched_again(site: Site, tmp_path: Path) -> None:
    """A 304 for a file that is not what it was does not bring the damage into the new crawl."""
    site.handlers["/"] = conditional(b"<p>words", '"1"')
    go(site, tmp_path / "c")
    next((tmp_path / "c" / "files").iterdir()).write_bytes(b"<p>other")
    go(site, tmp_path / "c")
    crawled = whole(tmp_path / "c")
    assert crawled.data(crawled.pages[0]) == b"<p>words"
    assert not crawled.pages[0].not_modified


def test_ids_are_those_of_this_crawl(site: Site, tmp_path: Path) -> None:
    """A page that is not modified gets the id that it has below the prefix of now."""
    site.handlers["/docs/a.html"] = conditional(b"<p>a", '"1"')
    site.page("/docs/", links=("/docs/a.html",))
    go(site, tmp_path / "c", start="/docs/")
    assert {page.id for page in whole(tmp_path / "c").pages} == {"a.html", "index.html"}
    go(site, tmp_path / "c", start="/docs/", prefix=f"{site.url}/")
    crawled = whole(tmp_path / "c")
    assert {page.id: page.not_modified for page in crawled.pages} == {"docs/a.html": True, "docs/index.html": False}


def test_a_site_that_shuts_out_crawlers_does_not_replace_what_is_there(site: Site, tmp_path: Path) -> None:
    """No page, or fewer than half of those before, is no crawl to put in place; the old one stays."""
    names = [f"/p{n}" for n in range(10)]
    site.sitemap("/sitemap.xml", names)
    for name in names:
        site.page(name)
    go(site, tmp_path / "c", discovery="sitemap")
    for name in names[1:]:
        site.handlers[name] = Answer(b"go away", status=403)
    with pytest.raises(Incomplete, match="fewer than half"):
        go(site, tmp_path / "c", discovery="sitemap")
    site.handlers[names[0]] = Answer(b"go away", status=403)
    with pytest.raises(Incomplete, match="no page was taken") as caught:
        go(site, tmp_path / "c", discovery="sitemap", restart=True)
    assert "/p0: refused (status 403)" in str(caught.value)
    assert len(load_crawl(tmp_path / "c").pages) == 10


def test_so_many_at_once_and_no_more(tmp_path: Path) -> None:
    """As many requests are under way at once as are allowed, never more, and the rate is kept."""
    names = [f"/p{n}" for n in range(30)]
    with Site(wait_s=0.03) as site:
        site.sitemap("/sitemap.xml", names)
        for name in names:
            site.page(name)
        go(site, tmp_path / "c", discovery="sitemap", concurrency=3)
        assert site.most_at_once == 3
        site.times.clear()
        began = time.monotonic()
        go(site, tmp_path / "rate", discovery="sitemap", concurrency=8, rate_per_s=40)
        assert time.monotonic() - began >= (len(site.times) - 1) / 40


def test_stopping_keeps_what_was_fetched(site: Site, tmp_path: Path) -> None:
    """A crawl that is stopped goes on where it stopped; other settings are refused until it is begun anew."""
    names = [f"/p{n}" for n in range(20)]
    site.sitemap("/sitemap.xml", names)
    for name in names:
        site.page(name)
    stop = Watch(stopped=lambda: len(site.requests) > 10)
    with pytest.raises(Incomplete, match="goes on where it stopped") as caught:
        go(site, tmp_path / "c", watch=stop, discovery="sitemap")
    assert caught.value.interrupted
    with pytest.raises(InputError, match="other settings") as refused:
        go(site, tmp_path / "c", discovery="sitemap", max_pages=7)
    assert refused.value.problems == ("maxPages: 20000 then, 7 now",)
    finished = go(site, tmp_path / "c", discovery="sitemap")
    assert finished.resumed >= 5
    assert len(whole(tmp_path / "c").pages) == 20
    assert max(site.asked.values()) == 1
    with contextlib.suppress(Incomplete):
        go(site, tmp_path / "c", watch=stop, discovery="sitemap")
    go(site, tmp_path / "c", discovery="sitemap", max_pages=7, restart=True)
    assert len(whole(tmp_path / "c").pages) == 7


def test_a_journal_that_was_torn_or_lost_its_files(site: Site, tmp_path: Path) -> None:
    """Half a line, and pages whose bytes never reached the disk, are as if they had not been asked for."""
    names = [f"/p{n}" for n in range(10)]
    site.sitemap("/sitemap.xml", names)
    for name in names:
        site.page(name)
    with pytest.raises(Incomplete):
        go(site, tmp_path / "c", watch=Watch(stopped=lambda: site.asked["/p7"] > 0), discovery="sitemap", concurrency=1)
    building = tmp_path / "c.crawling"
    with (building / "journal.jsonl").open("ab") as file:
        file.write(b'{"type":"took","page":{"id":"half')
    files = sorted((building / "files").iterdir())
    files[0].write_bytes(b"")
    files[1].unlink()
    (building / ".0123456789abcdef").write_bytes(b"half")
    finished = go(site, tmp_path / "c", discovery="sitemap")
    assert finished.header.counts["pages"] == len(whole(tmp_path / "c").pages) == 10
    assert sum(number == 2 for number in site.asked.values()) == 2


def test_one_writer_and_no_foreign_folder(site: Site, tmp_path: Path) -> None:
    """A folder that another process crawls into, or that holds something else, is left alone."""
    import fcntl

    site.page("/")
    with (tmp_path / ".c.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process"):
            go(site, tmp_path / "c")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("dear")
    with pytest.raises(InputError, match="holds no crawl"):
        go(site, tmp_path / "mine")
    assert site.requests == []
    go(site, tmp_path / "c")


@pytest.mark.parametrize("beside", ["{}.crawling", ".{}.before"])
def test_folders_of_others_beside_are_not_removed(site: Site, tmp_path: Path, beside: str) -> None:
    """A folder that only bears the name that a crawl would use is left alone, and the crawl refused."""
    site.page("/")
    (tmp_path / beside.format("c")).mkdir()
    (tmp_path / beside.format("c") / "thesis.txt").write_text("dear")
    with pytest.raises(InputError, match="stands in the way"):
        go(site, tmp_path / "c", restart=True)
    assert (tmp_path / beside.format("c") / "thesis.txt").read_text() == "dear"


def test_the_crawl_of_another_site_is_not_replaced(site: Site, tmp_path: Path) -> None:
    """A folder that holds the crawl of another start address is refused."""
    site.page("/")
    site.page("/docs/")
    go(site, tmp_path / "c")
    with pytest.raises(InputError, match="name another folder with --out"):
        go(site, tmp_path / "c", start="/docs/")
    assert paths(site, whole(tmp_path / "c")) == {"/"}


def test_links_lost_with_a_page_are_found_again(site: Site, tmp_path: Path) -> None:
    """Where links are followed, what a page alone named is not lost with the bytes of that page."""
    linked(site, "/a", "/b")
    site.page("/a", links=("/only-here",))
    site.page("/b", links=("/only-here", "/c"))
    site.page("/c")
    site.page("/only-here")
    with pytest.raises(Incomplete):
        go(site, tmp_path / "c", watch=Watch(stopped=lambda: site.asked["/only-here"] > 0), concurrency=1)
    (tmp_path / "c.crawling" / "files" / "a~.html").write_bytes(b"")
    site.page("/a", text="no links any more")
    go(site, tmp_path / "c")
    assert paths(site, whole(tmp_path / "c")) == {"/", "/a", "/b", "/c", "/only-here"}
    assert site.asked["/"] == 1


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_kill_in_the_swap_loses_neither_crawl(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Where two folders cannot change places in one step, the next crawl ends what a kill has left in the middle."""
    site.page("/")
    go(site, tmp_path / "c")
    site.page("/", text="second")
    moves = {"before": 0, "between": 1, "after": 2}[moment]

    class Killed(BaseException):
        pass

    rename = Path.rename

    def renamed(self: Path, target: Path) -> Path:
        nonlocal moves
        if moves == 0:
            raise Killed
        moves -= 1
        done = rename(self, target)
        if moves == 0 and moment == "after":
            raise Killed
        return done

    with monkeypatch.context() as patch:
        patch.setattr(place, "exchange", lambda _one, _other: False)
        patch.setattr(Path, "rename", renamed)
        with pytest.raises(Killed):
            go(site, tmp_path / "c")
    site.requests.clear()
    if moment == "after":
        go(site, tmp_path / "c", watch=Watch(stopped=lambda: False))
        assert len(site.requests) > 0
    else:
        go(site, tmp_path / "c")
        assert site.requests == []
    crawled = whole(tmp_path / "c")
    assert b"second" in crawled.data(crawled.pages[0])


def test_a_full_disk_is_told_and_loses_nothing(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that cannot be written ends the crawl with a word; with room again it goes on."""
    names = [f"/p{n}" for n in range(10)]
    site.sitemap("/sitemap.xml", names)
    for name in names:
        site.page(name)
    write_bytes = Path.write_bytes
    written = 0

    def full(self: Path, data: bytes) -> int:
        nonlocal written
        written += 1
        if written > 4:
            raise OSError(28, "No space left on device")
        return write_bytes(self, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(InputError, match="No space left on device"):
            go(site, tmp_path / "c", discovery="sitemap", concurrency=1)
    assert not (tmp_path / "c").exists()
    finished = go(site, tmp_path / "c", discovery="sitemap")
    assert finished.resumed == 4
    assert len(whole(tmp_path / "c").pages) == 10


def test_a_folder_that_cannot_be_written_is_told(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place below a file, or one without permission, is an error about the place, before anything is asked."""
    site.page("/")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        go(site, tmp_path / "file" / "c")
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        (closed / "probe").touch()
    except PermissionError:
        with pytest.raises(InputError, match="cannot be written"):
            go(site, closed / "c")
    finally:
        closed.chmod(stat.S_IRWXU)
    assert site.requests == []


def test_every_line_is_canonical_and_the_counts_add_up(site: Site, tmp_path: Path) -> None:
    """The lists are canonical JSON lines in the order of ids and addresses, and seen = pages + left out."""
    linked(site, "/b", "/a", "/gone")
    site.page("/a")
    site.page("/b")
    finished = go(site, tmp_path / "c")
    rows = [json.loads(line) for line in (tmp_path / "c" / "pages.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    assert rows[0].keys() == {
        "id", "url", "asked", "canonical", "fetchedAt", "status", "contentType", "charset", "etag", "lastModified",
        "bytes", "sha256", "extractor", "notModified",
    }  # fmt: skip
    counts = finished.header.counts
    assert counts["seen"] == counts["pages"] + counts["leftOut"] == 4


@pytest.mark.parametrize("moment", ["before", "after"])
def test_the_folder_is_never_missing(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Old and new change places in one step: at a kill right before or behind it a whole crawl is in the place."""
    site.page("/")
    go(site, tmp_path / "c")
    site.page("/", text="second")

    class Killed(BaseException):
        pass

    def killed(one: Path, other: Path) -> bool:
        if moment == "after" and not exchange(one, other):
            pytest.skip("no such step here")
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(place, "exchange", killed)
        with pytest.raises(Killed):
            go(site, tmp_path / "c")
    there = load_crawl(tmp_path / "c")
    assert (b"second" in there.data(there.pages[0])) == (moment == "after")
    site.requests.clear()
    go(site, tmp_path / "c")
    assert bool(site.requests) == (moment == "after")
    crawled = whole(tmp_path / "c")
    assert b"second" in crawled.data(crawled.pages[0])


def test_a_crawl_that_was_put_aside_is_not_touched(site: Site, tmp_path: Path) -> None:
    """Whoever keeps the crawl before as `c.old`, moved or copied, still has it after the next crawl."""
    site.page("/")
    go(site, tmp_path / "c")
    (tmp_path / "c").rename(tmp_path / "c.old")
    for text in ("second", "third"):
        site.page("/", text=text)
        go(site, tmp_path / "c")
    kept = load_crawl(tmp_path / "c.old")
    assert b"second" not in kept.data(kept.pages[0])


def test_a_link_as_the_folder_stays_a_link(site: Site, tmp_path: Path) -> None:
    """A crawl folder that is a link to another disk is written there, once and again."""
    (tmp_path / "far").mkdir()
    (tmp_path / "c").symlink_to(tmp_path / "far" / "c")
    site.page("/")
    for _ in range(2):
        go(site, tmp_path / "c")
    assert (tmp_path / "c").is_symlink()
    whole(tmp_path / "far" / "c")


@pytest.mark.parametrize("name", [".", "/", "..", "c.crawling"])
def test_some_folders_are_no_place_for_a_crawl(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The folder one stands in, the root, and the name of an unfinished crawl are refused before anything is asked."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="--out"):
        go(site, Path(name))
    assert site.requests == []


def test_a_swap_that_was_cut_short_says_what_to_do(site: Site, tmp_path: Path) -> None:
    """Where the folder is missing in the middle of a swap or a crawl, reading it names the way out."""
    site.page("/")
    go(site, tmp_path / "c")
    (tmp_path / "c").rename(tmp_path / ".c.before")
    with pytest.raises(InputError, match="cut short while it was put in place"):
        find(tmp_path / "c", Limits())
    go(site, tmp_path / "c")
    whole(tmp_path / "c")
    (tmp_path / "d.crawling").mkdir()
    with pytest.raises(InputError, match="go on with the same"):
        find(tmp_path / "d", Limits())


def test_headers_that_lie_or_are_broken_break_nothing(site: Site, tmp_path: Path) -> None:
    """Broken media types, stacked codings and endless headers end as a page, or as an address that was left out."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n"
    site.handlers["/type"] = sent(head + b"Content-Type: text/html; x=\xff\xc3\xa9; charset*0=\xff,\r\n\r\n<p>abc")
    site.handlers["/twice"] = Answer(
        gzip.compress(gzip.compress(b"<p>x")), headers=(("Content-Encoding", "gzip"), ("Content-Encoding", "gzip"))
    )
    site.handlers["/old"] = sent(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>old")
    site.handlers["/many"] = drip(b"HTTP/1.1 200 OK\r\n", b"X-Y: z\r\n" * 10_000, 0.0)
    chunked = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n0\r\n"
    site.handlers["/trailers"] = drip(chunked, b"X-Y: z\r\n" * 10_000, 0.0)
    site.handlers["/cookie"] = Answer(b"<p>cookie", headers=(("Set-Cookie", 'a=\x01; path="; ;;domain=127.0.0.1'),))
    linked(site, "/type", "/twice", "/old", "/many", "/trailers", "/cookie")
    go(site, tmp_path / "c", allow_failures=True)
    crawled = whole(tmp_path / "c")
    assert paths(site, crawled) == {"/", "/type", "/old", "/cookie"}
    assert reasons(site, crawled) == {"/twice": "content type", "/many": "failed", "/trailers": "failed"}
    assert not any("cookie" in request.headers for request in site.requests)


def test_robots_that_are_one_endless_line_or_ask_for_days_are_a_prohibition(site: Site, tmp_path: Path) -> None:
    """What cannot be read is no permission; a pause of days is none either; lines may end with CR alone."""
    site.page("/", links=("/a",))
    site.page("/a")
    site.robots("User-agent: * Disallow: /" + "x" * 600_000)
    with pytest.raises(Incomplete, match="prohibition"):
        go(site, tmp_path / "c")
    site.robots("User-agent: *\rDisallow: /a\r" + "# x\r" * 200_000)
    go(site, tmp_path / "c")
    assert reasons(site, whole(tmp_path / "c")) == {"/a": "robots"}
    site.robots("User-agent: *\nCrawl-delay: 86400\n")
    with pytest.raises(Incomplete, match="86,400 s"):
        go(site, tmp_path / "d")


def test_a_cap_that_is_just_met_shuts_nothing_out(site: Site, tmp_path: Path) -> None:
    """As many pages, bytes and bytes of a page as are allowed are a whole site; one fewer is told."""
    linked(site, "/a", "/b")
    site.page("/a")
    site.page("/b")
    size = {path: len(answer.body) for path, answer in site.handlers.items() if isinstance(answer, Answer)}
    exact: dict[str, Any] = {"max_pages": 3, "max_bytes": sum(size.values()), "max_page_bytes": max(size.values())}
    assert not go(site, tmp_path / "c", **exact).left_out
    for name, reason in (("max_pages", "page cap"), ("max_bytes", "byte cap")):
        finished = go(site, tmp_path / name, **{**exact, name: exact[name] - 1})
        assert {left.reason for left in finished.left_out} == {reason}
    with pytest.raises(Incomplete, match=r"no page was taken.*\n.*/: too large"):  # the start page is the largest
        go(site, tmp_path / "e", **{**exact, "max_page_bytes": exact["max_page_bytes"] - 1})
