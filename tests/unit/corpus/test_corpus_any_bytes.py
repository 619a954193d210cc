"""CASES 23: whatever bytes a page has, it is read or refused with a clear error, by whichever way it comes."""

from __future__ import annotations

import asyncio
import codecs
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from crawl_folder import START, crawl
from ragassay.corpus import read_corpus
from ragassay.corpus.crawl.crawl import crawl as crawl_site
from ragassay.corpus.crawl.settings import CrawlSettings, Manner, checked
from ragassay.errors import InputError
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.records import Corpus
from site_server import Answer, Site

Way = Callable[[Path, Mapping[str, bytes]], Path]

READ = {
    "bom.md": (codecs.BOM_UTF8 + b"# Mark\n", "# Mark\n"),
    "bom.html": (codecs.BOM_UTF8 + "<p>café".encode(), "café"),
    "utf16.txt": ("\ufeffgrüße".encode("utf-16-le"), "grüße"),
    "latin.html": ('<meta charset="iso-8859-1"><p>café “x”'.encode("cp1252"), "café “x”"),
    "crlf.md": (b"# A\r\n\r\none\rtwo\r\n", "# A\n\none\ntwo\n"),
    "rtl.txt": ("שלום \u202eabc\u202c مرحبا".encode(), "שלום \u202eabc\u202c مرحبا"),
    "combining.md": ("e\u0301 und u\u0308 👩‍👩‍👧".encode(), "e\u0301 und u\u0308 👩‍👩‍👧"),
    "empty.md": (b"", ""),
    "blank.html": (b"<p> \r\n&#32;</p>", ""),
    "blank.txt": (b" \r\n\t\r\n", ""),
}
"""Page → (bytes, text)."""

REFUSED = {
    "latin.md": (b"line\ncaf\xe9", "byte 0xe9 at offset 8 (line 2) is not UTF-8, the only encoding read here"),
    "latin.txt": (b"\xff", "byte 0xff at offset 0 (line 1) is not UTF-8"),
    "undeclared.html": (b"<p>caf\xe9", "is not UTF-8, and no charset is declared"),
    "binary.txt": (b"a\0b", "character 1 is NUL"),
    "utf32.txt": ("\ufeffx".encode("utf-32-le"), "UTF-32"),
    "large.txt": (b"x" * 50_000_000, "50,000,000 bytes are more than the 16,777,216 allowed for one page"),
}
"""Page → (bytes, what the error says)."""


def folder(place: Path, files: Mapping[str, bytes]) -> Path:
    """Return a folder of these files."""
    for name, data in files.items():
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    return place


def archive(place: Path, files: Mapping[str, bytes]) -> Path:
    """Return an archive of these files."""
    with tarfile.open(f"{place}.tar", "w") as tar:
        tar.add(folder(place, files), "docs")
    return Path(f"{place}.tar")


WAYS: dict[str, Way] = {"folder": folder, "archive": archive, "crawl": crawl}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    """Each way by which pages come."""
    return WAYS[request.param]


def read(source: Path) -> Corpus:
    """Read a source with the usual chunker."""
    return read_corpus(source, HeadingChunker())


def test_what_can_be_read_is_read(way: Way, tmp_path: Path) -> None:
    """Each page has its text; what was done to it is told by page; nothing is dropped and the counts add up."""
    corpus = read(way(tmp_path / "site", {name: data for name, (data, _) in READ.items()}))
    assert {page.id: page.text for page in corpus.pages} == {name: text for name, (_, text) in READ.items()}
    source = corpus.source
    assert (source["seen"], source["pages"], source["leftOut"]) == (len(READ), len(READ), [])
    assert source["byteOrderMarkDropped"] == ["bom.html", "bom.md", "utf16.txt"]
    assert source["otherCharsets"] == {"latin.html": "cp1252", "utf16.txt": "utf-16-le"}
    assert source["lineEndsNormalised"] == ["blank.html", "blank.txt", "crlf.md"]
    assert source["emptyPages"] == ["blank.html", "blank.txt", "empty.md"]
    assert {chunk.page for chunk in corpus.chunks} == {name for name, (_, text) in READ.items() if text}


@pytest.mark.parametrize("named", ["folder", "archive"])
def test_what_cannot_be_read_is_refused_all_at_once(named: str, tmp_path: Path) -> None:
    """Every such page is named with what is wrong and where; the good ones beside them hide nothing."""
    bad = {name: data for name, (data, _) in REFUSED.items()}
    source = WAYS[named](tmp_path / "site", {"good.md": b"# Good", **bad})
    with pytest.raises(InputError) as caught:
        read(source)
    problems = {problem.partition(": ")[0].removeprefix("docs/"): problem for problem in caught.value.problems}
    assert problems.keys() == REFUSED.keys()
    for name, (_, said) in REFUSED.items():
        assert said in problems[name]


def test_what_cannot_be_read_of_a_site_is_left_out_and_listed(tmp_path: Path) -> None:
    """Whoever crawls cannot mend a page: it is left out by its address, and told; only what is too large is refused."""
    bad = {name: data for name, (data, _) in REFUSED.items() if name != "large.txt"}
    corpus = read(crawl(tmp_path / "site", {"good.md": b"# Good", **bad}))
    assert [page.id for page in corpus.pages] == ["good.md"]
    assert corpus.source["addresses"] == {"good.md": f"{START}good.md"}
    assert corpus.source["seen"] == 1 + len(bad) == 1 + len(corpus.source["leftOut"])
    for left in corpus.source["leftOut"]:
        said = REFUSED[left["path"].removeprefix(START)][1]
        assert left["reason"].startswith("unreadable: ")
        assert said in left["reason"]
    with pytest.raises(InputError) as caught:
        read(crawl(tmp_path / "other", bad))
    assert caught.value.problems == (f"unreadable: {len(bad)}",)


SERVED = {
    "bom": (codecs.BOM_UTF8 + "<p>café".encode(), "text/html; charset=iso-8859-1", "café"),
    "named": ("<p>café".encode("latin-1"), "text/html; charset=ISO-8859-1", "café"),
    "declared": ('<meta charset="koi8-r"><p>код'.encode("koi8-r"), "text/html", "код"),
    "crlf": (b"# A\r\n\r\ntext\r\n", "text/markdown", "# A\n\ntext\n"),
    "rtl": ("שלום e\u0301".encode(), "text/plain; charset=utf-8", "שלום e\u0301"),
    "blank": (b"<p> </p>", "text/html", ""),
}
"""Path → (bytes, media type, text)."""


def test_a_served_site_is_read_or_listed(tmp_path: Path) -> None:
    """Served and crawled, each page has its text; an empty one and one of 50 MB are listed; the counts add up."""
    manner = Manner(rate_per_s=0)
    with Site() as site:
        for path, (body, media, _) in SERVED.items():
            site.handlers[f"/{path}"] = Answer(body, media=media)
        site.handlers["/empty"] = Answer(b"")
        site.handlers["/large"] = Answer(b"x" * 50_000_000)
        site.sitemap("/sitemap.xml", [f"/{path}" for path in (*SERVED, "empty", "large")])
        settings = checked(CrawlSettings(start=f"{site.url}/", allow_private=True), manner)
        asyncio.run(crawl_site(settings, manner, tmp_path / "site"))
        corpus = read(tmp_path / "site")
        prefix = f"{site.url}/"
    assert {corpus.source["addresses"][page.id].removeprefix(prefix): page.text for page in corpus.pages} == {
        path: text for path, (_, _, text) in SERVED.items()
    }
    assert corpus.source["emptyPages"] == ["blank~.html"]
    left = {one["path"].removeprefix(prefix): one["reason"].partition(":")[0] for one in corpus.source["leftOut"]}
    assert left == {"empty": "empty", "large": "too large"}
    assert corpus.source["seen"] == len(SERVED) + 2


def test_all_ways_give_one_corpus(tmp_path: Path) -> None:
    """The digest does not depend on the way by which the pages came."""
    files = {name: data for name, (data, _) in READ.items()}
    assert len({read(way(tmp_path / name, files)).digest() for name, way in WAYS.items()}) == 1
