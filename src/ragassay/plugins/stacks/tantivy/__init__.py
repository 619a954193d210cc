"""Tantivy, embedded in this process: BM25 over an index on disk, for corpora that bm25s would hold in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.tantivy.folder import kept_index
from ragassay.plugins.stacks.tantivy.search import TantivyIndex
from ragassay.plugins.stacks.tantivy.settings import read_settings
from ragassay.plugins.stacks.tantivy.writing import opened, write_index
from ragassay.plugins.stacks.vector_index import raised_as_stack_error
from ragassay.records import JSON, Chunk
from ragassay.seams import Progress


class Tantivy:
    """Takes `tokenizer`, `stopwords`, `stemmer`, `ascii_folding`, `longest_word`; k1 and b are tantivy's own."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    deterministic: ClassVar[bool] = True
    needs_cache: ClassVar[bool] = True
    """The index stays in the workspace's cache."""
    removal: ClassVar[str] = "rm -r .ragassay/cache/indexes/tantivy/{name}"
    """What a person types to remove one, in a workspace that lies where it lies by default."""

    def __init__(self, **params: Any) -> None:
        read = Parameters("tantivy", params)
        self._settings = read_settings(read)
        read.finish()

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> TantivyIndex:
        """Index all chunks, or find their index in the cache; raises `StackError`.

        The chunks are kept by the index: the text of a hit is what its score is computed from.
        """
        if not chunks:
            return TantivyIndex(chunks, self._settings, None)
        cache = parts.get("cache")
        if cache is not None:
            kept = kept_index(Path(cache), chunks, self._settings, progress)
            return TantivyIndex(chunks, self._settings, opened(kept.path, len(chunks)), stored=kept.stored)
        folder = tempfile.TemporaryDirectory(prefix="ragassay-tantivy-")
        try:
            with raised_as_stack_error("tantivy", "write its index"):
                write_index(Path(folder.name), chunks, self._settings, progress)
            index = opened(Path(folder.name), len(chunks))
        except BaseException:
            folder.cleanup()
            raise
        return TantivyIndex(chunks, self._settings, index, release=folder.cleanup)
