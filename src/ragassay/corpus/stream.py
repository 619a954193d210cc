"""A stored corpus read page by page, with every digest checked by the time its last page has been given."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ragassay import canon
from ragassay.corpus.build import checked
from ragassay.corpus.store import FORMAT
from ragassay.errors import InputError, PluginError
from ragassay.records import JSON, Chunk, Page, Record

SUMMARY, PAGES, CHUNKS = "corpus.json", "pages.jsonl", "chunks.jsonl"
_SUMMARY_MAX = 256 * 1024 * 1024
_AGAIN = "build it again with `ragassay corpus build`"
_Row = TypeVar("_Row", bound=Record)


class StoredCorpus:
    """A corpus on disk of which one page is in memory at a time."""

    def __init__(self, folder: Path) -> None:
        """Read what the corpus says of itself; raises `InputError` where that is none."""
        self.folder = folder
        self.described = _described(folder)
        self.digest: str = self.described["digest"]

    def pages(self) -> Iterator[tuple[Page, tuple[Chunk, ...]]]:
        """Yield each page with its chunks, in their order.

        Raises `InputError` where the files are not those that the corpus describes; of a wrong digest that is known
        only after the last page, so what was made of the pages before is worth nothing then.
        """
        chunks, pages = _Lines(self.folder / CHUNKS, Chunk), _Lines(self.folder / PAGES, Page)
        digest = _Digest(self.described)
        waiting = next(chunks.rows(), None)
        try:
            for page in pages.rows():
                own: list[Chunk] = []
                while waiting is not None and waiting.page == page.id:
                    own.append(waiting)
                    digest.chunk(waiting)
                    waiting = next(chunks.rows(), None)
                if canon.sha256(page.text.encode("utf-8")) != page.sha256:
                    raise PluginError(f"the text of {page.id} does not have its digest")
                checked(page, own)
                yield page, tuple(own)
        except (msgspec.MsgspecError, PluginError, canon.NotCanonical) as error:
            raise InputError(f"{self.folder} is damaged: {error}; {_AGAIN}") from error
        if waiting is not None:
            raise InputError(f"{self.folder} is damaged: {waiting.id} is no chunk of the pages in order; {_AGAIN}")
        found = {"pages": pages.described(), "chunks": chunks.described()}
        found_digest = digest.over(_Lines(self.folder / PAGES, Page).rows())
        if {name: self.described[name] for name in found} != found or found_digest != self.digest:
            raise InputError(f"{self.folder} does not hold what its {SUMMARY} says; {_AGAIN}")


class _Lines:
    """The lines of a file as records, counted and hashed as they are read."""

    def __init__(self, path: Path, kind: type[Any]) -> None:
        self._hash, self._count = hashlib.sha256(), 0
        self._rows = self._read(path, kind)

    def rows(self) -> Iterator[Any]:
        """Return the one reader of the file."""
        return self._rows

    def _read(self, path: Path, kind: type[_Row]) -> Iterator[_Row]:
        decoder = msgspec.json.Decoder(kind)
        try:
            with path.open("rb") as file:
                for line in file:
                    self._hash.update(line)
                    self._count += 1
                    yield decoder.decode(line)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}; {_AGAIN}") from error

    def described(self) -> JSON:
        """Return what the corpus says of a file that was read to its end."""
        return {"count": self._count, "sha256": self._hash.hexdigest()}


class _Digest:
    """`Corpus.digest` of what passes by: the same canonical bytes, one chunk after the other."""

    def __init__(self, described: JSON) -> None:
        self._described = described
        self._hash = hashlib.sha256(b'{"chunker":' + canon.canonical(described["chunker"]) + b',"chunks":[')
        self._comma = b""

    def chunk(self, chunk: Chunk) -> None:
        """Add the next chunk."""
        self._add([chunk.id, chunk.page, chunk.start, chunk.end, chunk.sha256])

    def over(self, pages: Iterator[Page]) -> str:
        """Return the digest of the chunks that were added, and of pages."""
        self._hash.update(b'],"extractor":' + canon.canonical(self._described["extractor"]) + b',"pages":[')
        self._comma = b""
        for page in pages:
            self._add([page.id, page.sha256])
        self._hash.update(b"]}")
        return self._hash.hexdigest()

    def _add(self, value: list[str | int]) -> None:
        self._hash.update(self._comma + canon.canonical(value))
        self._comma = b","


def _described(folder: Path) -> JSON:
    path = folder / SUMMARY
    try:
        described = canon.load_strict(path.read_bytes(), max_bytes=_SUMMARY_MAX)
    except FileNotFoundError as error:
        raise InputError(f"{folder} holds no stored corpus ({SUMMARY} is missing); {_AGAIN}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except canon.NotCanonical as error:
        raise InputError(f"{path} is damaged: {error}; {_AGAIN}") from error
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise InputError(f"{path} is not in the form {FORMAT}; {_AGAIN}")
    if {"digest", "pages", "chunks", "chunker", "extractor", "source"} - described.keys():
        raise InputError(f"{path} is damaged: it does not say all that a corpus says of itself; {_AGAIN}")
    return described
