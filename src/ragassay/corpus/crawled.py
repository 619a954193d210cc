"""A crawl folder becomes entries in page order: every address that was seen is a page, or is left out and listed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ragassay.corpus import names
from ragassay.corpus.crawl.address import normal
from ragassay.corpus.crawl.folder import CRAWL, FILES, Crawled, CrawledPage, NotTaken, folder_name, is_crawl, load_crawl
from ragassay.corpus.crawl.place import BUILDING, before_of, is_complete
from ragassay.corpus.found import Entry, Found, LeftOut, Limits, too_large
from ragassay.errors import InputError

FOLDER = "crawl"
"""The folder of a workspace that holds its crawl folders."""
_FORM = b'"ragassay-crawl/'
_LOOKED_AT = 1024 * 1024


def is_one(folder: Path) -> bool:
    """Return whether a folder is a crawl folder, or one that is being made; documentation is neither."""
    if folder.name.endswith(BUILDING) and (folder / FILES).is_dir():
        return True
    try:
        with (folder / CRAWL).open("rb") as file:
            return _FORM in file.read(_LOOKED_AT)
    except (FileNotFoundError, IsADirectoryError):
        return False


def crawl_folder(start: str, workspace: Path) -> Path:
    """Return where the crawl of a start address lies in a workspace; raises `InputError` where it is no address."""
    return workspace / FOLDER / folder_name(normal(start))


def advice(source: Path) -> str | None:
    """Return what to do about a crawl folder that is not there, None where `source` is none."""
    building = source.with_name(f"{source.name}{BUILDING}")
    if is_complete(building) or is_crawl(before_of(source)):
        return "a crawl was cut short while it was put in place; the same `ragassay corpus crawl` ends that"
    if building.is_dir():
        return "its crawl is not finished; go on with the same `ragassay corpus crawl`"
    if source.parent.name != FOLDER:
        return None
    return "its site was not crawled yet; run `ragassay corpus crawl board.toml`"


def find(folder: Path, limits: Limits, *, pdf: bool = False) -> Found:
    """Return the pages of a crawl with the charsets that their servers named; PDF files too where it was to keep them.

    Raises `InputError` where the crawl is not finished, a list is damaged, or it is larger than the limits allow.
    """
    if folder.name.endswith(BUILDING):
        raise InputError(f"{folder} is a crawl that is not finished; go on with the same `ragassay corpus crawl`")
    crawled = load_crawl(folder, check_bytes=False)
    seen = len(crawled.pages) + len(crawled.left_out)
    if seen > limits.entries:
        raise InputError(f"{folder} lists more than the {limits.entries:,} addresses allowed")
    if sum(page.bytes for page in crawled.pages) > limits.total_bytes:
        raise InputError(f"{folder} holds more than the {limits.total_bytes:,} bytes allowed in total")
    pdf = pdf or crawled.header.settings.get("pdf") is True
    unread = {page.id: reason for page in crawled.pages if (reason := names.reason_unread(page.id, pdf=pdf))}
    taken = sorted((page for page in crawled.pages if page.id not in unread), key=lambda page: page.id)
    left = [LeftOut(names.shown(left.url), _reason(left)) for left in crawled.left_out]
    left += [LeftOut(names.shown(page.url), unread[page.id]) for page in crawled.pages if page.id in unread]
    return Found(
        origin={"kind": "crawl", "name": folder.resolve().name, "start": crawled.header.start},
        entries=[Entry(page.id, partial(_bytes, crawled, page, limits.page_bytes), page.charset) for page in taken],
        left_out=tuple(sorted(left, key=lambda one: one.path)),
        seen=seen,
        names={page.id: page.url for page in taken},
        problems=tuple(
            f"{names.shown(page.id)}: {problem}" for page in taken if (problem := names.name_problem(page.id))
        ),
    )


def _bytes(crawled: Crawled, page: CrawledPage, cap: int) -> bytes:
    """Return the bytes of a page; raises `InputError` above `cap`, or where they are not those that were fetched."""
    if page.bytes > cap:
        raise InputError(f"{too_large(page.bytes, cap)}, by `--exclude` or `--max-page-bytes` of the crawl")
    return crawled.data(page)


def _reason(left: NotTaken) -> str:
    status = None if left.status is None or left.status == 200 else f"status {left.status}"
    return ": ".join(filter(None, (left.reason, names.shown(left.detail) if left.detail else status)))
