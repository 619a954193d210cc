"""A real site, served and crawled, gives the corpus that its archive gives."""

from __future__ import annotations

import asyncio
import json
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ragassay.corpus import read_corpus
from ragassay.corpus.crawl.crawl import crawl
from ragassay.corpus.crawl.settings import CrawlSettings, Manner, checked
from ragassay.plugins.chunkers.heading import HeadingChunker
from site_server import Answer, Site

SITEMAP = "/sitemap.xml"


@pytest.fixture
def site(shared_data: Path) -> Iterator[str]:
    """The pages of the archive on a free port of 127.0.0.1, and a sitemap of them."""
    files: dict[str, bytes] = {}
    with tarfile.open(shared_data / "postgresql-docs" / "html.tar.xz") as tar:
        for member in tar:
            if member.name.endswith(".html") and (stream := tar.extractfile(member)) is not None:
                files["/" + member.name.rpartition("/")[2]] = stream.read()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found = files.get(self.path)
            body = found or b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/xml" if self.path == SITEMAP else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_said: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    start = f"http://127.0.0.1:{server.server_port}"
    files[SITEMAP] = b"<urlset>%s</urlset>" % b"".join(
        b"<url><loc>%s%s</loc></url>" % (start.encode(), name.encode()) for name in files
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"{start}/"
    server.shutdown()
    server.server_close()


def test_a_crawled_site_of_markdown_has_the_digest_of_its_folder(shared_data: Path, tmp_path: Path) -> None:
    """Served and crawled, the 81 pages are the corpus that their folder is, `index.md` included."""
    folder = shared_data / "uv-docs" / "corpus"
    pages = {f"/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in folder.rglob("*.md")}
    manner = Manner(rate_per_s=0)
    with Site() as site:
        for path, data in pages.items():
            site.handlers[path] = Answer(data, media="text/markdown; charset=utf-8")
        site.sitemap("/sitemap.xml", pages)
        settings = checked(CrawlSettings(start=f"{site.url}/", allow_private=True), manner)
        asyncio.run(crawl(settings, manner, tmp_path / "site"))
    assert len(pages) == 81
    chunker = HeadingChunker()
    assert read_corpus(tmp_path / "site", chunker).digest() == read_corpus(folder, chunker).digest()


def test_the_crawled_site_is_the_archive(site: str, shared_data: Path, tmp_path: Path) -> None:
    """All 1,169 pages have the text of the archive's, and all 30 evidence strings are found in them."""
    manner = Manner(rate_per_s=0, concurrency=8)
    asyncio.run(crawl(checked(CrawlSettings(start=site, allow_private=True), manner), manner, tmp_path / "site"))
    crawled = read_corpus(tmp_path / "site", HeadingChunker())
    archive = read_corpus(shared_data / "postgresql-docs" / "html.tar.xz", HeadingChunker())
    texts = {page.id: page.text for page in crawled.pages}
    texts["index.html"] = texts.pop("index.html~.html")  # index.html is the id of the folder itself
    assert texts == {page.id: page.text for page in archive.pages}
    assert len(texts) == 1169 == crawled.source["seen"]
    assert len(crawled.chunks) == len(archive.chunks)
    samples = json.loads((shared_data / "postgresql-docs" / "questions.json").read_bytes())["samples"]
    words = {id_: " ".join(text.split()) for id_, text in texts.items()}
    assert [one["id"] for one in samples if " ".join(one["evidence"].split()) in words[one["page"]]] == [
        one["id"] for one in samples
    ]
    assert len(samples) == 30
