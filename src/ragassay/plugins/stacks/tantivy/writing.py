"""Writing an index of tantivy into a folder, and opening one that is there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tantivy

from ragassay.errors import StackError
from ragassay.plugins.stacks.tantivy.settings import Settings
from ragassay.plugins.stacks.vector_index import raised_as_stack_error
from ragassay.records import Chunk
from ragassay.seams import Progress

TEXT, POSITION = "text", "position"
"""The fields of a document: the words of a chunk, and its place in the corpus."""
HEAP = 112_000_000
"""Bytes of postings that are held until a segment of them is written, over all threads."""
THREADS = min(2, os.cpu_count() or 1)
STEP = 10_000
"""Chunks between two reports of progress."""

_ANALYZER = "ragassay"
_RELOADED = "manual"
"""Otherwise a thread of tantivy's watches the folder, and may write a lock into it while it is removed."""


def release_of_tantivy() -> str:
    """Return the version of the package that is installed."""
    return version("tantivy")


def write_index(
    folder: Path,
    chunks: Sequence[Chunk],
    settings: Settings,
    progress: Progress,
    *,
    heap: int = HEAP,
    threads: int = THREADS,
) -> None:
    """Fill a new folder with the index of all chunks.

    How many threads wrote how many segments changes no score and no order: statistics are those of all segments, and
    a chunk is known by its place in the corpus.
    """
    index = tantivy.Index(_schema(), path=str(folder))
    index.config_reader(_RELOADED)
    index.register_tokenizer(_ANALYZER, settings.analyzer())
    writer = index.writer(heap_size=heap, num_threads=threads)
    document, total = tantivy.Document, len(chunks)
    for at, chunk in enumerate(chunks):
        held = document()
        held.add_unsigned(POSITION, at)
        held.add_text(TEXT, plain(chunk.text))
        writer.add_document(held)
        if (at + 1) % STEP == 0:
            progress(at + 1, total)
    writer.commit()
    writer.wait_merging_threads()
    progress(total, total)


def opened(folder: Path, count: int) -> Any:
    """Return tantivy's index in a folder; raises `StackError` where it cannot be opened or lacks a document."""
    with raised_as_stack_error("tantivy", f"open its index {str(folder)!r}"):
        index = tantivy.Index.open(str(folder))
        index.config_reader(_RELOADED)
        held = index.searcher().num_docs
    if held != count:
        raise StackError(f"tantivy holds {held} of {count} chunks after indexing")
    return index


def plain(text: str) -> str:
    """Return a text as UTF-8 can hold it: a lone surrogate, which no word holds, becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _schema() -> Any:
    fields = tantivy.SchemaBuilder()
    fields.add_unsigned_field(POSITION, fast=True)
    fields.add_text_field(TEXT, tokenizer_name=_ANALYZER, index_option="freq")
    return fields.build()
