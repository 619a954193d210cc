"""A corpus on disk: `<folder>/<digest>/` with its three files, written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import msgspec

from ragassay import canon
from ragassay.corpus.build import checked
from ragassay.errors import InputError, PluginError
from ragassay.records import JSON, Chunk, Corpus, Page, Record

FORMAT = "ragassay-corpus/1"
_SUMMARY_MAX = 256 * 1024 * 1024
_AGAIN = "build it again with `ragassay corpus build`"
_Row = TypeVar("_Row", Page, Chunk)


def summary(corpus: Corpus) -> JSON:
    """Return what `corpus.json` holds: digest, counts, file digests, chunker, extractor, source."""
    return _summary(corpus, _lines(corpus.pages), _lines(corpus.chunks))


def _summary(corpus: Corpus, pages: bytes, chunks: bytes) -> JSON:
    return {
        "format": FORMAT,
        "digest": corpus.digest(),
        "pages": {"count": len(corpus.pages), "sha256": canon.sha256(pages)},
        "chunks": {"count": len(corpus.chunks), "sha256": canon.sha256(chunks)},
        "chunker": corpus.chunker,
        "extractor": corpus.extractor,
        "source": corpus.source,
    }


def _lines(rows: Iterable[Record]) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def store_corpus(corpus: Corpus, folder: Path) -> Path:
    """Write `<folder>/<digest>/` and return it; a corpus that is there already with the same bytes is left alone.

    Raises `InputError` when the folder cannot be written.
    """
    pages, chunks = _lines(corpus.pages), _lines(corpus.chunks)
    described = _summary(corpus, pages, chunks)
    files = {"pages.jsonl": pages, "chunks.jsonl": chunks, "corpus.json": canon.canonical(described) + b"\n"}
    target = folder / corpus.digest()
    try:
        if not _holds(target, files):
            _place(target, files)
    except OSError as error:
        raise InputError(f"the corpus cannot be written to {target}: {error.strerror or error}") from error
    return target


def _holds(target: Path, files: dict[str, bytes]) -> bool:
    try:
        return all((target / name).read_bytes() == data for name, data in files.items())
    except FileNotFoundError:
        return False


def _place(target: Path, files: dict[str, bytes]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".writing-", dir=target.parent))
    try:
        for name, data in files.items():
            with (made / name).open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        made.chmod(0o755)
        if target.exists():
            target.rename(made.with_name(made.name + "-old"))
        made.rename(target)
    finally:
        shutil.rmtree(made, ignore_errors=True)
        shutil.rmtree(made.with_name(made.name + "-old"), ignore_errors=True)


def load_corpus(folder: Path) -> Corpus:
    """Read a stored corpus and check every digest; raises `InputError` naming the file that does not hold."""
    try:
        described = canon.load_strict((folder / "corpus.json").read_bytes(), max_bytes=_SUMMARY_MAX)
        pages, chunks = (folder / "pages.jsonl").read_bytes(), (folder / "chunks.jsonl").read_bytes()
    except FileNotFoundError as error:
        raise InputError(
            f"{folder} holds no stored corpus ({Path(error.filename).name} is missing); {_AGAIN}"
        ) from error
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror or error}") from error
    except canon.NotCanonical as error:
        raise InputError(f"{folder / 'corpus.json'} is damaged: {error}; {_AGAIN}") from error
    return _checked(folder, described, pages, chunks)


def _checked(folder: Path, described: object, pages: bytes, chunks: bytes) -> Corpus:
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise InputError(f"{folder / 'corpus.json'} is not in the form {FORMAT}; {_AGAIN}")
    try:
        corpus = Corpus(
            pages=_rows(pages, Page),
            chunks=_rows(chunks, Chunk),
            chunker=described["chunker"],
            extractor=described["extractor"],
            source=described["source"],
        )
        if described != _summary(corpus, pages, chunks):
            raise InputError(f"{folder} does not hold what its corpus.json says; {_AGAIN}")
        _check_spans(corpus)
    except (msgspec.MsgspecError, KeyError, TypeError, PluginError, canon.NotCanonical) as error:
        raise InputError(f"{folder} is damaged: {error}; {_AGAIN}") from error
    return corpus


def _rows(data: bytes, kind: type[_Row]) -> tuple[_Row, ...]:
    decoder = msgspec.json.Decoder(kind)
    return tuple(decoder.decode(line) for line in data.splitlines())


def _check_spans(corpus: Corpus) -> None:
    by_page: dict[str, list[Chunk]] = {page.id: [] for page in corpus.pages}
    for chunk in corpus.chunks:
        by_page[chunk.page].append(chunk)
    for page in corpus.pages:
        if canon.sha256(page.text.encode("utf-8")) != page.sha256:
            raise PluginError(f"the text of {page.id} does not have its digest")
        checked(page, by_page[page.id])
