"""The crawl folder: what was fetched, what was not and why, and the bytes of every page under its id.

`crawl.json` says what was asked for and what came of it, with the digests of the two lists; `pages.jsonl` has one
line a page, `left-out.jsonl` one for every other address that was seen; `files/<id>` are the bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Literal, TypeVar

import msgspec

from ragassay import canon
from ragassay.corpus.crawl import disk
from ragassay.errors import InputError
from ragassay.records import JSON, Record, to_json

FORMAT = "ragassay-crawl/1"
CRAWL, PAGES, LEFT_OUT, FILES = "crawl.json", "pages.jsonl", "left-out.jsonl", "files"
LIST_MAX = 512 * 1024 * 1024
"""Bytes of one list that are read at most."""
_AGAIN = "crawl the site again with `ragassay corpus crawl --restart`"

Reason = Literal[
    "outside",
    "excluded",
    "robots",
    "nofollow",
    "too deep",
    "trap",
    "page cap",
    "byte cap",
    "content type",
    "too large",
    "not found",
    "refused",
    "redirect",
    "moved",
    "private address",
    "noindex",
    "canonical",
    "same bytes",
    "empty",
    "failed",
]
"""Why an address that was seen is no page; each is explained on the verb's page."""


class CrawledPage(Record, frozen=True):
    """One page: `url` is where its bytes came from in the end, `asked` the address that was asked for first."""

    id: str
    url: str
    asked: str
    canonical: str | None
    fetched_at: int
    status: int
    content_type: str | None
    charset: str | None
    etag: str | None
    last_modified: str | None
    bytes: int
    sha256: str
    extractor: str
    not_modified: bool


class NotTaken(Record, frozen=True):
    """One address that was seen and is no page, and why; `status` is the server's last word where it had one."""

    url: str
    reason: Reason
    detail: str | None
    status: int | None


class CrawlHeader(Record, frozen=True):
    """What `crawl.json` holds; times are seconds since 1970, `counts` has at least seen, pages and leftOut.

    `discovery` says where the addresses came from: how, below which prefix, and what could not be read there.
    """

    format: str
    start: str
    settings: JSON
    agent: str
    began: int
    ended: int
    counts: dict[str, int]
    files: dict[str, str]
    discovery: JSON = msgspec.field(default_factory=dict)


class Crawled(Record, frozen=True):
    """A crawl folder whose digests hold: pages by id, left out by address."""

    folder: Path
    header: CrawlHeader
    pages: tuple[CrawledPage, ...]
    left_out: tuple[NotTaken, ...]

    def file(self, page: CrawledPage) -> Path:
        """Return where the bytes of a page lie."""
        return self.folder / FILES / page.id

    def data(self, page: CrawledPage) -> bytes:
        """Return the bytes of a page; raises `InputError` where they are not the ones that were fetched."""
        path = self.file(page)
        try:
            if not path.is_file():  # a pipe would never end
                raise InputError(f"{path} is not there, or no file; {_AGAIN}")
            with path.open("rb") as file:
                data = file.read(page.bytes + 1)
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror or error}); {_AGAIN}") from error
        if len(data) != page.bytes or canon.sha256(data) != page.sha256:
            raise InputError(f"{path} does not have the bytes that {PAGES} names; {_AGAIN}")
        return data


_Row = TypeVar("_Row", CrawledPage, NotTaken)


def folder_name(start: str) -> str:
    """Return the name of the crawl folder of a start address: its host and path, and what tells it from all others."""
    _, _, rest = start.partition("://")
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", rest.partition("?")[0]).strip("-.").lower()[:60].strip("-.")
    return f"{words or 'site'}-{canon.sha256(start.encode('utf-8', 'surrogatepass'))[:8]}"


def is_crawl(folder: Path) -> bool:
    """Return whether `folder` says that it is a crawl folder, whole or damaged."""
    return (folder / CRAWL).is_file()


def load_crawl(folder: Path, *, check_bytes: bool = True) -> Crawled:
    """Read a crawl folder; every list has its digest, every file its own, and the counts add up.

    `check_bytes=False` leaves the pages' bytes to `Crawled.data`. Raises `InputError` that lists all that is wrong.
    """
    try:
        raw = canon.load_strict(_read(folder, CRAWL), max_bytes=LIST_MAX)
        header = msgspec.convert(raw, CrawlHeader)
    except (msgspec.MsgspecError, canon.NotCanonical) as error:
        raise InputError(f"{folder / CRAWL} is damaged: {error}; {_AGAIN}") from error
    if header.format != FORMAT:
        raise InputError(f"{folder / CRAWL} is not in the form {FORMAT}; {_AGAIN}")
    pages, left_out = _rows(folder, PAGES, header, CrawledPage), _rows(folder, LEFT_OUT, header, NotTaken)
    crawled = Crawled(folder=folder, header=header, pages=pages, left_out=left_out)
    problems = list(_problems(crawled))
    if not problems and check_bytes:
        problems = list(_damaged(crawled))
    if problems:
        raise InputError(f"{folder} does not hold what its lists say; {_AGAIN}", problems)
    return crawled


def write_lists(
    folder: Path, header: CrawlHeader, pages: Iterable[CrawledPage], left_out: Iterable[NotTaken]
) -> CrawlHeader:
    """Write the three lists of a crawl folder, `crawl.json` last, and return the header with the lists' digests."""
    by_id = {page.id: page for page in pages}
    by_url = {left.url: left for left in left_out}
    rows = {
        PAGES: _lines(by_id[id_] for id_ in sorted(by_id)),
        LEFT_OUT: _lines(by_url[url] for url in sorted(by_url)),
    }
    finished = msgspec.structs.replace(header, files={name: canon.sha256(data) for name, data in rows.items()})
    with disk.writing(folder):
        for name, data in rows.items():
            disk.write_whole(folder / name, data)
        disk.write_whole(folder / CRAWL, canon.canonical(to_json(finished)) + b"\n")
        disk.sync(folder)
    return finished


def _lines(rows: Iterable[Record]) -> bytes:
    return b"".join(canon.canonical(to_json(row)) + b"\n" for row in rows)


def _read(folder: Path, name: str) -> bytes:
    try:
        if (folder / name).exists() and not (folder / name).is_file():
            raise InputError(f"{folder / name} is no file; {_AGAIN}")
        with (folder / name).open("rb") as file:
            data = file.read(LIST_MAX + 1)
    except FileNotFoundError:
        raise InputError(
            f"{folder} holds no finished crawl ({name} is missing); make one with `ragassay corpus crawl`"
        ) from None
    except OSError as error:
        raise InputError(f"{folder / name} cannot be read ({error.strerror or error})") from error
    if len(data) > LIST_MAX:
        raise InputError(f"{folder / name} has more than {LIST_MAX:,} bytes: it is no list of a crawl")
    return data


def _rows(folder: Path, name: str, header: CrawlHeader, kind: type[_Row]) -> tuple[_Row, ...]:
    data = _read(folder, name)
    if canon.sha256(data) != header.files.get(name):
        raise InputError(f"{folder / name} does not have the digest that {CRAWL} names; {_AGAIN}")
    decoder = msgspec.json.Decoder(kind)
    try:
        return tuple(decoder.decode(line) for line in data.split(b"\n")[:-1])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{folder / name} is damaged: {error}; {_AGAIN}") from error


def _problems(crawled: Crawled) -> Iterable[str]:
    counts = {"pages": len(crawled.pages), "leftOut": len(crawled.left_out)}
    counts["seen"] = counts["pages"] + counts["leftOut"]
    for name, number in counts.items():
        if crawled.header.counts.get(name) != number:
            yield f"counts.{name} is {crawled.header.counts.get(name)}, the lists have {number}"
    for word, values in (
        ("id", [page.id for page in crawled.pages]),
        ("address", [page.asked for page in crawled.pages] + [left.url for left in crawled.left_out]),
    ):
        yield from (f"the {word} {value!r} stands {n} times" for value, n in Counter(values).items() if n > 1)
    for page in crawled.pages:
        if not _safe(page.id):
            yield f"the id {page.id!r} is no path below {FILES}/"


def _safe(id_: str) -> bool:
    path = PurePosixPath(id_)
    return bool(id_) and str(path) == id_ and not path.is_absolute() and ".." not in path.parts and "\0" not in id_


def _damaged(crawled: Crawled) -> Iterable[str]:
    for page in crawled.pages:
        try:
            crawled.data(page)
        except InputError as error:
            yield error.message
