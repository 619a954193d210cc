"""Writes a crawl folder as a crawl of these files would have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.corpus.crawl.folder import CrawledPage, CrawlHeader, NotTaken, write_lists

START = "http://docs.example/"


def page(id_: str, data: bytes, *, charset: str | None = None, fetched_at: int = 1_800_000_000) -> CrawledPage:
    """Return the line of a page that was fetched."""
    return CrawledPage(
        id=id_,
        url=START + id_,
        asked=START + id_,
        canonical=None,
        fetched_at=fetched_at,
        status=200,
        content_type="text/html",
        charset=charset,
        etag=None,
        last_modified=None,
        bytes=len(data),
        sha256=canon.sha256(data),
        extractor="blocks/2",
        not_modified=False,
    )


def crawl(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    left_out: tuple[NotTaken, ...] = (),
    charsets: Mapping[str, str] | None = None,
    fetched_at: int = 1_800_000_000,
    settings: Mapping[str, bool] | None = None,
) -> Path:
    """Write a crawl folder of these files."""
    for id_, data in files.items():
        path = folder / "files" / id_
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    counts = {"seen": len(files) + len(left_out), "pages": len(files), "leftOut": len(left_out)}
    raw = {
        "format": "ragassay-crawl/1",
        "start": START,
        "settings": dict(settings or {}),
        "agent": "ragassay",
        "began": fetched_at,
        "ended": fetched_at,
        "counts": counts,
        "files": {},
    }
    header = msgspec.convert(raw, CrawlHeader)
    said = charsets or {}
    pages = [page(id_, data, charset=said.get(id_), fetched_at=fetched_at) for id_, data in files.items()]
    write_lists(folder, header, pages, left_out)
    return folder
