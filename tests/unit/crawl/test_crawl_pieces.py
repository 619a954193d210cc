"""The pure parts of a crawl: codings, pace, rules, scope, and what becomes of duplicates."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from email.utils import formatdate
from pathlib import Path

import msgspec
import pytest

from ragassay import canon
from ragassay.corpus.crawl import inflate
from ragassay.corpus.crawl.address import within
from ragassay.corpus.crawl.folder import (
    FORMAT,
    CrawledPage,
    CrawlHeader,
    NotTaken,
    folder_name,
    load_crawl,
    write_lists,
)
from ragassay.corpus.crawl.pace import Pace, Stopped, retry_after_s
from ragassay.corpus.crawl.robots import Robots, RobotsFile, header_rules, token_of
from ragassay.corpus.crawl.scope import MOST_QUERIES, Prefix, Scope
from ragassay.corpus.crawl.settings import CrawlSettings, Manner, checked, folder_of
from ragassay.corpus.crawl.settle import settle
from ragassay.corpus.crawl.take import content_type
from ragassay.errors import InputError

SITE = "https://example.org"


def _body(coding: str, data: bytes, cap: int = 10_000, piece: int = 7) -> bytes:
    body = inflate.Body(coding, cap)
    for at in range(0, len(data), piece):
        body.add(data[at : at + piece])
    return body.finish()


def test_codings_are_undone_in_pieces() -> None:
    """gzip (in several parts), both forms of deflate, and no coding give the same bytes back."""
    text = b"words " * 100
    raw = zlib.compressobj(wbits=-15)
    assert _body("", text) == text
    assert _body("gzip", gzip.compress(text)) == text
    assert _body("X-GZIP", gzip.compress(text[:50]) + gzip.compress(text[50:])) == text
    assert _body("deflate", zlib.compress(text)) == text
    assert _body("deflate", raw.compress(text) + raw.flush()) == text
    assert _body("gzip", b"") == b""


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, gzip"])
def test_a_coding_that_was_not_asked_for_is_refused(coding: str) -> None:
    """What this crawl cannot undo under a cap is not read."""
    with pytest.raises(inflate.UnknownCoding):
        inflate.Body(coding, 100)


def test_a_bomb_stops_at_the_cap() -> None:
    """A small body that becomes a large one is given up at the cap, not at its end."""
    bomb = gzip.compress(bytes(50_000_000))
    body = inflate.Body("gzip", 1_000_000)
    with pytest.raises(inflate.TooLarge):
        body.add(bomb)
    assert len(body.so_far()) == 1_000_000


def test_damaged_codings_are_told() -> None:
    """A body that ends too early, that is no gzip, or has thousands of parts is damaged."""
    whole = gzip.compress(b"words " * 100)
    for data in (whole[:-3], b"no gzip at all", gzip.compress(b"") * 2_000):
        with pytest.raises(inflate.Damaged):
            _body("gzip", data, cap=1_000_000, piece=1_000_000)


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    """Both forms of the header are read; what is neither is none."""
    assert retry_after_s("120", now=0) == 120
    assert retry_after_s(formatdate(1_000_060, usegmt=True), now=1_000_000) == 60
    assert retry_after_s(formatdate(900_000, usegmt=True), now=1_000_000) == 0
    date = formatdate(900_000, usegmt=True)
    assert retry_after_s(formatdate(900_060, usegmt=True), date=date, now=1_000_000) == 60
    assert retry_after_s(formatdate(1_000_060, usegmt=True), date="soon", now=1_000_000) == 60
    for text in (None, "", "soon", "-5", "1.5.2"):
        assert retry_after_s(text, now=0) is None


def test_turns_are_given_out_at_the_rate() -> None:
    """So many turns take as long as the rate says, however many wait."""

    async def turns() -> float:
        pace = Pace(50, stopped=lambda: False)
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.gather(*(pace.turn() for _ in range(11)))
        return loop.time() - began

    assert 0.19 <= asyncio.run(turns()) < 2


def test_whoever_waits_for_a_turn_can_be_stopped() -> None:
    """A crawl that is asked for a minute of quiet ends at once when it is stopped."""
    stop: list[bool] = []

    async def wait() -> None:
        pace = Pace(0, stopped=lambda: bool(stop))
        pace.quiet(60)
        asyncio.get_running_loop().call_later(0.05, stop.append, True)
        await pace.turn()

    with pytest.raises(Stopped):
        asyncio.run(asyncio.wait_for(wait(), 5))


def test_rules_of_robots_txt() -> None:
    """The rules of the own name count before those for everybody; delay, rate and sitemaps are read."""
    text = (
        "User-agent: *\nDisallow: /\n\nUser-agent: ragassay\nDisallow: /private/\nAllow: /private/open$\n"
        "Crawl-delay: 2\nRequest-rate: 1/5s\nSitemap: https://example.org/map.xml\n"
    )
    robots = Robots(RobotsFile(text=text, note="", at=0), "ragassay/1.0 (+https://example.org)")
    assert robots.allows(f"{SITE}/docs/")
    assert robots.allows(f"{SITE}/private/open")
    assert not robots.allows(f"{SITE}/private/x")
    assert robots.interval_s == 5
    assert robots.sitemaps == (f"{SITE}/map.xml",)
    assert not Robots(RobotsFile(text=text, note="", at=0), "other/1").allows(f"{SITE}/docs/")
    assert token_of("my-bot/2.0 (x)") == "my-bot"


def test_rules_of_the_header() -> None:
    """X-Robots-Tag counts where it is for everybody or for this agent."""
    assert header_rules(["noindex, nofollow"], "ragassay/1") >= {"noindex", "nofollow"}
    assert "noindex" in header_rules(["none"], "ragassay/1")
    assert "noindex" in header_rules(["ragassay: NOINDEX"], "ragassay/1")
    assert header_rules(["otherbot: noindex, nofollow"], "ragassay/1") == set()
    assert "noindex" in header_rules(["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], "ragassay/1")


def _scope(**more: object) -> Scope:
    settings = CrawlSettings(start=f"{SITE}/docs/", **more)  # type: ignore[arg-type]
    return Scope(settings, f"{SITE}/docs/", lambda url: "secret" not in url)


def test_a_prefix_holds_itself_and_what_is_below() -> None:
    """The prefix with and without its slash is the same; a longer name, another host or port is elsewhere."""
    for prefix in (f"{SITE}/docs", f"{SITE}/docs/"):
        inside = [f"{SITE}/docs", f"{SITE}/docs/", f"{SITE}/docs/a?b", f"{SITE}/docs?x"]
        outside = [
            f"{SITE}/docs-old",
            f"{SITE}/",
            f"{SITE}.evil/docs/",
            f"{SITE}:8080/docs/",
            "http://example.org/docs/",
        ]
        held = [url for url in (*inside, *outside) if Prefix(prefix).holds(url)]
        assert held == inside == [url for url in (*inside, *outside) if within(url, prefix)]
    assert Prefix(f"{SITE}/").holds(f"{SITE}/x")
    assert not Prefix(f"{SITE}/").holds(f"{SITE}.evil/x")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/docs/a.html", None),
        ("/docs/node.js", None),
        ("/docs/a?x=1", None),
        ("/blog/", "outside"),
        ("/docs-old/", "outside"),
        ("/docs/secret/x", "robots"),
        ("/docs/release-1", "excluded"),
        ("/docs/logo.PNG", "content type"),
        ("/docs/book.pdf", "content type"),
        ("/docs/x/x/x/x/", "trap"),
        ("/docs/" + "y" * 2_000, "trap"),
    ],
)
def test_addresses_are_judged_by_a_reason_each(path: str, reason: str | None) -> None:
    """Each address that is not asked for has its reason from the vocabulary."""
    judged = _scope(exclude=("*/release-*",)).judge(SITE + path, 0, 0)
    assert (judged and judged[0]) == reason


def test_depth_redirects_and_queries_have_an_end() -> None:
    """Too many links, redirects in a row, or addresses that differ in their query alone are left out."""
    scope = _scope(depth=2, include=("/docs/*",), pdf=True)
    assert scope.judge(f"{SITE}/docs/a", 3, 0) == ("too deep", "more than 2 links from the start")
    assert (scope.judge(f"{SITE}/docs/b", 1, 6) or ("",))[0] == "redirect"
    assert scope.judge(f"{SITE}/docs/book.pdf", 1, 0) is None
    judged = [scope.judge(f"{SITE}/docs/c?n={n}", 0, 0) for n in range(MOST_QUERIES + 3)]
    assert [one[0] for one in judged if one] == ["trap"] * 3


def test_content_types_are_read_as_servers_write_them() -> None:
    """Media type and charset come in lower case, quotes undone; nothing is guessed."""
    assert content_type('Text/HTML; Charset="ISO-8859-1"') == ("text/html", "iso-8859-1")
    assert content_type("text/plain;charset=utf-8; x=y") == ("text/plain", "utf-8")
    assert content_type('text/html;x="a";CHARSET = "utf-8') == ("text/html", "utf-8")
    assert content_type("text/html; x=\udcff\xe9; charset*0=\udcff,") == ("text/html", None)
    assert content_type("text/html; charset=") == ("text/html", None)
    assert content_type(None) == content_type(" ") == (None, None)


def _page(path: str, data: str = "", canonical: str | None = None) -> CrawledPage:
    digest = canon.sha256((data or path).encode())
    url = SITE + path
    return CrawledPage(
        id=path[1:] + ".html", url=url, asked=url, canonical=canonical and SITE + canonical, fetched_at=1, status=200,
        content_type="text/html", charset=None, etag=None, last_modified=None, bytes=len((data or path).encode()),
        sha256=digest, extractor="x", not_modified=False,
    )  # fmt: skip


def _settled(pages: list[CrawledPage], left: list[NotTaken] | None = None) -> tuple[set[str], dict[str, str]]:
    result = settle(pages, left or [], [])
    assert len(result.pages) + len(result.left_out) == len(pages) + len(left or [])
    return (
        {page.url.removeprefix(SITE) for page in result.pages},
        {one.url.removeprefix(SITE): one.reason for one in result.left_out},
    )


def test_a_canonical_address_counts_only_where_it_is_a_page() -> None:
    """A duplicate goes for its canonical page; a canonical address that is not there takes nothing away."""
    pages = [_page("/a"), _page("/a-print", canonical="/a"), _page("/b", canonical="/gone")]
    assert _settled(pages) == ({"/a", "/b"}, {"/a-print": "canonical"})


def test_canonical_circles_and_chains_keep_one_page() -> None:
    """Pages that call each other canonical never vanish together."""
    circle = [_page("/b", canonical="/a"), _page("/a", canonical="/c"), _page("/c", canonical="/b")]
    chain = [_page("/x", canonical="/y"), _page("/y", canonical="/z"), _page("/z", canonical="/z")]
    assert _settled(circle)[0] == {"/a"}
    assert _settled(chain)[0] == {"/z"}
    assert _settled([_page("/in", canonical="/a"), *circle])[0] == {"/a"}


def test_the_same_bytes_are_kept_once() -> None:
    """Of two addresses with the same bytes the shorter stays, and the other names it."""
    assert _settled([_page("/index.html", "x"), _page("/", "x"), _page("/o", "y")]) == (
        {"/", "/o"},
        {"/index.html": "same bytes"},
    )


def test_a_redirect_says_where_it_leads_in_the_end() -> None:
    """A redirect to a page is told as moved, one to nothing as a redirect to what was left out, a circle as one."""

    def moved(path: str, to: str) -> NotTaken:
        return NotTaken(url=SITE + path, reason="moved", detail=SITE + to, status=302)

    left = [moved("/1", "/a"), moved("/2", "/gone"), moved("/c", "/d"), moved("/d", "/c"), moved("/e", "/2")]
    left.append(NotTaken(url=f"{SITE}/gone", reason="not found", detail=None, status=404))
    _, reasons = _settled([_page("/a")], left)
    assert reasons == {
        "/1": "moved", "/2": "redirect", "/c": "redirect", "/d": "redirect", "/e": "redirect", "/gone": "not found"
    }  # fmt: skip


def test_settings_that_cannot_be_used_are_listed_together() -> None:
    """Every wrong option is named at once, private start addresses with the way to allow them."""
    wrong = CrawlSettings(start="http://127.0.0.1/", prefix="ftp://x", max_pages=0, agent="a\nb")
    with pytest.raises(InputError) as caught:
        checked(wrong, Manner(concurrency=0, rate_per_s=-1, timeout_s=float("nan")))
    assert len(caught.value.problems) == 7
    assert "--allow-private" in caught.value.problems[0]
    with pytest.raises(InputError, match="link-local") as never:
        checked(CrawlSettings(start="http://169.254.169.254/"), Manner())
    assert "--allow-private" not in str(never.value)
    with pytest.raises(InputError, match="another scheme, host or port"):
        checked(CrawlSettings(start=f"{SITE}/a/", prefix=f"{SITE}:8443/a/"), Manner())
    outside = CrawlSettings(start=f"{SITE}/a/", prefix=f"{SITE}/b/", discovery="links")
    with pytest.raises(InputError, match="not within"):
        checked(outside, Manner())
    assert folder_of(f"{SITE}/docs/16/index.html?x=a/b") == f"{SITE}/docs/16/"


def test_folder_names_are_safe_and_tell_addresses_apart() -> None:
    """The name of a folder is readable, has no path of its own, and differs for every start address."""
    starts = [f"{SITE}/docs/", f"{SITE}/docs", f"{SITE}/docs/?a", "http://../..", "http://[::1]/" + "x" * 500]
    names = [folder_name(start) for start in starts]
    assert len(set(names)) == len(names)
    assert all(len(name) < 80 and "/" not in name and not name.startswith(".") for name in names)


def _folder(tmp_path: Path) -> Path:
    pages = [_page("/a"), _page("/b")]
    left = [NotTaken(url=f"{SITE}/c", reason="not found", detail=None, status=404)]
    (tmp_path / "files").mkdir()
    for page in pages:
        (tmp_path / "files" / page.id).write_bytes(page.url.removeprefix(SITE).encode())
    header = CrawlHeader(
        format=FORMAT, start=SITE, settings={}, agent="x", began=1, ended=2,
        counts={"seen": 3, "pages": 2, "leftOut": 1}, files={},
    )  # fmt: skip
    write_lists(tmp_path, header, pages, left)
    return tmp_path


def test_a_crawl_folder_reads_back(tmp_path: Path) -> None:
    """What was written is read back with all digests checked."""
    crawled = load_crawl(_folder(tmp_path))
    assert [page.id for page in crawled.pages] == ["a.html", "b.html"]
    assert crawled.data(crawled.pages[0]) == b"/a"


@pytest.mark.parametrize("name", ["crawl.json", "pages.jsonl", "left-out.jsonl", "files/a.html"])
def test_each_damaged_file_of_a_crawl_folder_is_noticed(tmp_path: Path, name: str) -> None:
    """One changed byte, a longer file or a missing one is an error that says what to do."""
    path = _folder(tmp_path) / name
    whole = path.read_bytes()
    for damaged in (whole[:-2] + b"?" + whole[-1:], whole + b"{}\n", b"", None):
        path.unlink(missing_ok=True)
        if damaged is not None:
            path.write_bytes(damaged)
        with pytest.raises(InputError):
            load_crawl(tmp_path)


def test_a_list_that_names_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    """An id that leaves the folder, or counts that do not add up, are no crawl, however well they are signed."""
    _folder(tmp_path)
    bad = msgspec.structs.replace(_page("/a"), id="../../etc/passwd")
    header = CrawlHeader(
        format=FORMAT, start=SITE, settings={}, agent="x", began=1, ended=2,
        counts={"seen": 5, "pages": 1, "leftOut": 0}, files={},
    )  # fmt: skip
    write_lists(tmp_path, header, [bad], [])
    with pytest.raises(InputError) as caught:
        load_crawl(tmp_path)
    assert len(caught.value.problems) == 2
