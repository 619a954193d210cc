"""A crawl folder becomes a corpus: its pages by their ids, and every other address listed with its reason."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from crawl_folder import START, crawl
from ragassay import canon
from ragassay.cli.corpus import command
from ragassay.corpus import Limits, load_corpus, read_corpus, store_corpus, summary
from ragassay.corpus.crawl.folder import NotTaken
from ragassay.corpus.crawled import crawl_folder, is_one
from ragassay.errors import InputError
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.records import Corpus


def read(source: Path, *, limits: Limits | None = None, pdf: bool = False) -> Corpus:
    """Read a source with the usual chunker."""
    return read_corpus(source, HeadingChunker(), limits=limits or Limits(), pdf=pdf)


def test_a_crawl_is_a_corpus_with_its_addresses(tmp_path: Path) -> None:
    """Pages have the ids of the crawl, and each id's address stands in the corpus; no time does."""
    folder = crawl(tmp_path / "site", {"b/index.html": b"<p>B", "a.md": b"# A"})
    corpus = read(folder)
    assert [one.id for one in corpus.pages] == ["a.md", "b/index.html"]
    assert corpus.source["kind"] == "crawl"
    assert corpus.source["start"] == START
    assert corpus.source["addresses"] == {"a.md": START + "a.md", "b/index.html": START + "b/index.html"}
    assert b"1800000000" not in canon.canonical(summary(corpus))
    assert load_corpus(store_corpus(corpus, tmp_path / "corpora")) == corpus


def test_a_second_crawl_of_equal_pages_is_the_same_corpus(tmp_path: Path) -> None:
    """Times do not reach the digest, nor any stored byte; a folder of the same files has the same digest."""
    files = {"a.html": b"<h1>A</h1><p>text", "b.md": b"# B\n\nmore"}
    first = read(crawl(tmp_path / "one" / "site", files))
    second = read(crawl(tmp_path / "two" / "site", files, fetched_at=1_900_000_000))
    assert summary(first) == summary(second)
    assert read(tmp_path / "one" / "site" / "files").digest() == first.digest()


def test_what_the_crawl_left_out_is_listed_and_counts_add_up(tmp_path: Path) -> None:
    """Each address that was seen is a page, or stands under left out with the crawl's reason."""
    left = (
        NotTaken(url=START + "gone", reason="not found", detail=None, status=404),
        NotTaken(url=START + "x.png", reason="content type", detail="image/png", status=200),
    )
    corpus = read(crawl(tmp_path / "site", {"a.html": b"<p>A", "m.pdf": b"%PDF"}, left_out=left))
    assert corpus.source["leftOut"] == [
        {"path": START + "gone", "reason": "not found: status 404"},
        {"path": START + "m.pdf", "reason": ".pdf is read only with `pdf = true` under [corpus], or --pdf"},
        {"path": START + "x.png", "reason": "content type: image/png"},
    ]
    assert corpus.source["seen"] == 4 == corpus.source["pages"] + len(corpus.source["leftOut"])


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("<p>café".encode("latin-1"), "ISO-8859-1", "café"),
        ('<meta charset="koi8-r"><p>café'.encode("latin-1"), "iso-8859-1", "café"),
        ("<p>“quoted”".encode("cp1252"), "latin-1", "“quoted”"),
        ("<p>日本".encode("iso2022_jp"), "ISO-2022-JP", "日本"),
        ("<p>grüße".encode("utf-16-le"), "utf-16", "grüße"),
        (b"<p>ASCII", "utf-16", "ASCII"),
        ("<p>café".encode(), "utf-16be", "café"),
        (codecs.BOM_UTF8 + "<p>café".encode(), "iso-8859-1", "café"),
        ("<p>café".encode(), "no-such-charset", "café"),
        ("<p>café".encode(), "utf-8", "café"),
        ("<p>café".encode(), "rot13", "café"),
        ("<p>é".encode(), "iso-8859-1", "Ã©"),
    ],
)
def test_the_servers_charset_stands_before_the_declared_one(
    tmp_path: Path, data: bytes, charset: str, text: str
) -> None:
    """As in browsers: a byte order mark, then the server's word, then the page's; an unknown one says nothing."""
    corpus = read(crawl(tmp_path / "site", {"a.html": data}, charsets={"a.html": charset}))
    assert corpus.pages[0].text == text


def test_bytes_that_changed_since_the_crawl_are_an_error(tmp_path: Path) -> None:
    """A page whose bytes are not those that were fetched is never read."""
    folder = crawl(tmp_path / "site", {"a.html": b"<p>A", "b.html": b"<p>B"})
    (folder / "files" / "b.html").write_bytes(b"<p>C")
    with pytest.raises(InputError) as caught:
        read(folder)
    assert caught.value.problems[0].startswith("b.html: ")
    assert "does not have the bytes" in caught.value.problems[0]


def test_a_pipe_in_a_crawl_folder_is_an_error(tmp_path: Path) -> None:
    """What is no file is refused and not waited for."""
    folder = crawl(tmp_path / "site", {"a.html": b"<p>A"})
    (folder / "files" / "a.html").unlink()
    os.mkfifo(folder / "files" / "a.html")
    with pytest.raises(InputError, match="no file"):
        read(folder)


def test_what_is_left_out_is_printed_by_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of addresses of other sites are one line; a page that cannot be read stands by itself; diff says it."""
    monkeypatch.chdir(tmp_path)
    left = tuple(
        NotTaken(url=f"http://other.example/{n}", reason="outside", detail="x", status=None) for n in range(30)
    )
    folder = crawl(tmp_path / "site", {"a.html": b"<p>A", "b.html": b"<p>\0"}, left_out=left)
    out = CliRunner().invoke(command, ["build", str(folder)]).output
    assert "left out  31 of 32\n  outside: 30\n  unreadable: 1\n" in out
    assert f"  {START}b.html: unreadable: character 3 is NUL" in out
    assert "http://other.example" not in out
    assert "all are listed in corpus.json" in out
    out = CliRunner().invoke(command, ["diff", str(folder), str(folder)]).output
    assert "crawled pages that cannot be read, left out: 1 before, 1 now" in out


def test_a_damaged_list_and_an_unfinished_crawl_are_errors(tmp_path: Path) -> None:
    """Neither is taken for a folder of documentation."""
    folder = crawl(tmp_path / "site", {"a.html": b"<p>A"})
    (folder / "pages.jsonl").unlink()
    with pytest.raises(InputError, match=r"pages\.jsonl is missing"):
        read(folder)
    unfinished = tmp_path / "site.crawling"
    (unfinished / "files").mkdir(parents=True)
    with pytest.raises(InputError, match="not finished"):
        read(unfinished)


def test_limits_hold_for_a_crawl(tmp_path: Path) -> None:
    """A page, the sum of pages and the number of addresses have the limits that a folder has."""
    folder = crawl(tmp_path / "site", {"a.html": b"<p>A", "b.html": b"<p>B"})
    with pytest.raises(InputError) as caught:
        read(folder, limits=Limits(page_bytes=3))
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["a.html", "b.html"]
    with pytest.raises(InputError, match="more than the 7 bytes"):
        read(folder, limits=Limits(total_bytes=7))
    with pytest.raises(InputError, match="more than the 1 addresses"):
        read(folder, limits=Limits(entries=1))


def test_documentation_with_a_file_of_that_name_stays_a_folder(tmp_path: Path) -> None:
    """Only the form inside makes a crawl folder, not the name of a file."""
    (tmp_path / "crawl.json").write_text('{"about": "spiders"}')
    (tmp_path / "a.md").write_text("# A")
    assert not is_one(tmp_path)
    assert [one.id for one in read(tmp_path).pages] == ["a.md"]


def test_a_site_that_was_not_crawled_says_what_to_do(tmp_path: Path) -> None:
    """The folder of a crawl that is not there is an error that names the verb."""
    folder = crawl_folder("HTTP://docs.example:80", tmp_path / ".ragassay")
    assert folder == crawl_folder(START, tmp_path / ".ragassay")
    with pytest.raises(InputError, match=r"not crawled yet; run `ragassay corpus crawl board\.toml`"):
        read(folder)
