"""A source and a chunker become a corpus: every page read or every problem listed, every chunk checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay import canon
from ragassay.corpus import names
from ragassay.corpus.extract import ExtractedPage, extract, extractor_of
from ragassay.corpus.found import UNREADABLE, Found, LeftOut, Limits, by_kind
from ragassay.corpus.read import find
from ragassay.errors import InputError, PluginError
from ragassay.records import JSON, Chunk, Corpus, Page
from ragassay.seams import Chunker, Progress

NO_LIMITS_GIVEN = Limits()


def read_corpus(
    source: Path,
    chunker: Chunker,
    *,
    progress: Progress | None = None,
    limits: Limits = NO_LIMITS_GIVEN,
    pdf: bool = False,
) -> Corpus:
    """Read a folder, a page, a tar archive or a crawl folder, extract every page and split it.

    PDF files are read only with `pdf`. Pages stand in the order of their ids. `progress` gets (pages done, pages).
    Raises `InputError` with every problem of every file, or when there is no page; `PluginError` when the chunker
    breaks its promise, or a package that reads a format is not installed.
    """
    found = find(source, limits, pdf=pdf)
    extracted, unreadable, problems = _extracted(found, limits, progress)
    if problems:
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        raise InputError(f"the corpus {source} cannot be read: {count}", problems)
    if not extracted:
        raise _nothing(source, found, unreadable)
    pages = tuple(one.page for one in extracted)
    chunks = tuple(chunk for page in pages for chunk in checked(page, chunker.split(page)))
    return Corpus(
        pages=pages,
        chunks=chunks,
        chunker=_described(chunker),
        extractor=extractor_of(page.format for page in pages),
        source=_source(found, extracted, unreadable, chunks),
    )


def _extracted(
    found: Found, limits: Limits, progress: Progress | None
) -> tuple[list[ExtractedPage], list[LeftOut], list[str]]:
    """Return the pages, the crawled pages that cannot be read, and everything that is wrong with the source itself."""
    extracted: list[ExtractedPage] = []
    unreadable: list[LeftOut] = []
    problems = list(found.problems)
    total = len(found.entries)
    waiting = found.entries[::-1]
    while waiting:
        entry = waiting.pop()
        try:
            data = entry.read()
        except InputError as error:
            problems.append(f"{names.shown(entry.id)}: {error.message}")
        else:
            try:
                extracted.append(extract(entry.id, data, charset=entry.charset, limits=limits))
            except InputError as error:
                if found.names is None:
                    problems.append(f"{names.shown(entry.id)}: {error.message}")
                else:
                    unreadable.append(LeftOut(names.shown(found.names[entry.id]), f"{UNREADABLE}: {error.message}"))
        if progress is not None:
            progress(total - len(waiting), total)
    return extracted, unreadable, problems


def _nothing(source: Path, found: Found, unreadable: list[LeftOut]) -> InputError:
    """Return the error for a source without a page, with what was left out: of a crawl, how much for which reason."""
    left = [*found.left_out, *unreadable]
    if found.names is not None:
        said = [f"{kind}: {count:,}" for kind, count in by_kind(one.reason for one in left).items()]
        return InputError(f"{source} holds no page that can be read; left out: {len(left):,}", said)
    said = [f"{one.path}: {one.reason}" for one in left]
    suffixes = ", ".join(names.FORMATS)
    return InputError(f"{source} holds no page; pages end in {suffixes}; left out: {len(left) or 'nothing'}", said)


def _described(chunker: Chunker) -> JSON:
    description = chunker.describe()
    try:
        canon.canonical(description)
    except canon.NotCanonical as error:
        raise PluginError(f"the chunker's describe() {error}") from error
    return description


def checked(page: Page, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """Return `chunks` when they cover the page's text in order without a gap; raises `PluginError` otherwise."""
    at = 0
    for chunk in chunks:
        wrong = (
            chunk.page != page.id
            or not (0 <= chunk.start <= at and chunk.end <= len(page.text))
            or chunk.end <= at
            or chunk.text != page.text[chunk.start : chunk.end]
            or chunk.sha256 != canon.sha256(chunk.text.encode("utf-8"))
        )
        if wrong:
            raise PluginError(
                f"the chunker broke its promise on {page.id}: {chunk.id} leaves a gap or is no span of it"
            )
        at = chunk.end
    if at != len(page.text) and (chunks or page.text.strip()):
        raise PluginError(
            f"the chunker broke its promise on {page.id}: {len(page.text) - at} characters are in no chunk"
        )
    if len({chunk.id for chunk in chunks}) != len(chunks):
        raise PluginError(f"the chunker broke its promise on {page.id}: two chunks have the same id")
    return chunks


def _source(
    found: Found, extracted: Sequence[ExtractedPage], unreadable: list[LeftOut], chunks: Sequence[Chunk]
) -> JSON:
    """Return where the corpus came from and what was done on the way; no absolute path, no time."""
    with_chunks = {chunk.page for chunk in chunks}
    left = sorted((*found.left_out, *unreadable), key=lambda one: one.path)
    addresses = (
        {} if found.names is None else {"addresses": {one.page.id: found.names[one.page.id] for one in extracted}}
    )
    return {
        **found.origin,
        **addresses,
        "seen": found.seen,
        "pages": len(extracted),
        "emptyPages": [one.page.id for one in extracted if one.page.id not in with_chunks],
        "leftOut": [{"path": one.path, "reason": one.reason} for one in left],
        "frontMatterDropped": [one.page.id for one in extracted if one.front_matter],
        "lineEndsNormalised": [one.page.id for one in extracted if one.line_ends],
        "byteOrderMarkDropped": [one.page.id for one in extracted if one.mark],
        "otherCharsets": {one.page.id: one.charset for one in extracted if one.charset != "utf-8"},
    }
