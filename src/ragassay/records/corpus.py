"""Documentation: pages, chunks, the corpus."""

from __future__ import annotations

from typing import Literal

from ragassay import canon
from ragassay.records.values import JSON, Record


class Page(Record, frozen=True):
    """One document: `text` is what is chunked and searched, `sha256` the digest of its UTF-8 bytes."""

    id: str
    title: str
    text: str
    format: Literal["markdown", "html", "rst", "text", "pdf"]
    sha256: str
    source_sha256: str


class Chunk(Record, frozen=True):
    """One retrieved unit: `text == page.text[start:end]`, `sha256` the digest of its UTF-8 bytes."""

    id: str
    page: str
    start: int
    end: int
    text: str
    sha256: str


class Corpus(Record, frozen=True):
    """Pages and chunks with what made them; `source` says where they came from and does not enter the digest."""

    pages: tuple[Page, ...]
    chunks: tuple[Chunk, ...]
    chunker: JSON
    extractor: str
    source: JSON

    def digest(self) -> str:
        """Return the SHA-256 over page and chunk digests, spans, chunker and extractor: the same on every machine."""
        return canon.digest(
            {
                "chunker": self.chunker,
                "chunks": [[c.id, c.page, c.start, c.end, c.sha256] for c in self.chunks],
                "extractor": self.extractor,
                "pages": [[p.id, p.sha256] for p in self.pages],
            }
        )
