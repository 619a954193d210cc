"""LanceDB, embedded in this process: vectors compared one by one or by an index, full-text search, or both fused."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import lancedb

from ragassay.plugins.stacks.lancedb.search import HybridSearch, Search, TextSearch, VectorSearch
from ragassay.plugins.stacks.lancedb.settings import Settings, read_settings
from ragassay.plugins.stacks.lancedb.table import Table, table_names
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.stored_index import PREFIX, bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex, raised_as_stack_error
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk
from ragassay.seams import Embedder, Progress


class LanceDB:
    """Takes `search`, `metric`, `index` and its parameters, those of full-text search, `path`, and part `embedder`."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}
    removal: ClassVar[str] = "rm -r {path}/{name}.lance"
    """What a person types to remove a table of that name."""
    needs_folder: ClassVar[bool] = True
    """`path` is relative to the board."""

    @classmethod
    def parts_for(cls, entry: JSON) -> Mapping[str, JSON]:
        """Return no embedder for full-text search, which needs none."""
        return {} if entry.get("search") == "text" else cls.default_parts

    def __init__(self, **params: Any) -> None:
        read = Parameters("lancedb", params)
        self._settings = read_settings(read)
        self._path = read.text("path")
        self._table = read.text("table")
        read.finish()
        self._settings.check(stored=self._path is not None, table=self._table)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and index them, in a temporary folder or in `path`; raises `StackError`."""
        embedder = embedder_of("lancedb", parts) if self._settings.vectors else None
        matrix = embed_chunks(embedder, chunks, progress)
        digest = digest_of(chunks, embedder, self._settings.shape())
        name = self._table or PREFIX + digest
        folder = tempfile.TemporaryDirectory(prefix="ragassay-lancedb-") if self._path is None else None
        engine: Search | None = None
        stored = None
        try:
            if chunks:
                with raised_as_stack_error("lancedb", "open its folder"):
                    kept = Path(parts.get("folder", ".")) / Path(self._path or "").expanduser()
                    database = lancedb.connect(kept if folder is None else Path(folder.name))
                texts = [chunk.text for chunk in chunks]
                table = Table(database, name, texts, self._settings, zero=not matrix.any(), folder=folder)
                reused = bring_up("lancedb", name, table, matrix, digest, progress)
                if folder is None:
                    others = (one for one in table_names(database) if one.startswith(PREFIX) and one != name)
                    stored = Stored(name=name, reused=reused, others=tuple(sorted(others)))
                engine = _SEARCHES[self._settings.search](table, self._settings)
        except BaseException:
            if folder is not None:
                folder.cleanup()
            raise
        if engine is None and folder is not None:
            folder.cleanup()
        return VectorIndex(
            "lancedb",
            [chunk.id for chunk in chunks],
            embedder,
            engine,
            dimension=matrix.shape[1],
            zero_is_far=self._settings.search == "vector" and self._settings.metric != "l2",
            about=_about(self._settings, embedder, chunks),
            stored=stored,
        )


_SEARCHES: Mapping[str, type[Search]] = {"vector": VectorSearch, "text": TextSearch, "hybrid": HybridSearch}


def _about(settings: Settings, embedder: Embedder | None, chunks: Sequence[Chunk]) -> JSON:
    more = {**settings.described(), "lancedb": version("lancedb")}
    return described("lancedb", embedder, truncated(embedder, chunks), **more)
