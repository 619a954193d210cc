"""Milvus: its engine in this process (Milvus Lite), or with `url` a server; every vector compared, or an index."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from ragassay.errors import PluginError
from ragassay.plugins.stacks.milvus.client import Connection
from ragassay.plugins.stacks.milvus.collection import Collection
from ragassay.plugins.stacks.milvus.search import Search
from ragassay.plugins.stacks.milvus.settings import Address, read_address, read_settings
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.stored_index import PREFIX, bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk, Secret
from ragassay.seams import Progress

_EMBEDDED = "ragassay.plugins.stacks.milvus.embedded"
"""Imported by name, where there is no `url`: with a server no engine is needed, and none is named as needed."""
_BLOCK = 1_000


class Milvus:
    """Takes `metric`, `index` and its parameters, the part `embedder`, and `path` or for a server `url`.

    `key` comes from the runner: the secret in the variable that `key_env` names.
    """

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}
    needs_folder: ClassVar[bool] = True
    """`path` is relative to the board."""

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        read = Parameters("milvus", params)
        self._settings = read_settings(read)
        self._address = read_address(read, key)
        read.note(*self._settings.problems(embedded=not read.gives("url")))
        read.finish()
        if not self._address.url and find_spec("milvus_lite") is None:
            raise PluginError("'milvus' needs its engine where there is no url: pip install 'ragassay[milvus]'")

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and index them, in a temporary folder, in `path` or on the server; raises `StackError`."""
        embedder = embedder_of("milvus", parts)
        matrix = embed_chunks(embedder, chunks, progress)
        digest = digest_of(chunks, embedder, self._settings.shape())
        name = self._address.collection or PREFIX + digest
        connection, release = _opened(self._address, Path(parts.get("folder", ".")))
        engine = stored = None
        with ExitStack() as unless_built:
            unless_built.callback(release)
            unless_built.callback(connection.close)
            if chunks:
                collection = Collection(connection, name, self._settings, digest=digest, size=len(chunks))
                reused = bring_up("milvus", name, collection, matrix, digest, progress, block=_BLOCK)
                if self._address.stays:
                    stored = Stored(name=name, reused=reused, others=connection.others(name))
                engine = Search(collection, self._settings, matrix, release)
            if engine is not None:
                unless_built.pop_all()
        return VectorIndex(
            "milvus",
            [chunk.id for chunk in chunks],
            embedder,
            engine,
            dimension=matrix.shape[1],
            zero_is_far=self._settings.metric != "l2",
            about=described(
                "milvus",
                embedder,
                truncated(embedder, chunks),
                **self._settings.described(),
                **_versions(self._address, connection.version),
            ),
            stored=stored,
        )


def _opened(address: Address, folder: Path) -> tuple[Connection, Callable[[], None]]:
    """Return a connection, and what lets go of the engine behind it and of a folder that is temporary."""
    if address.url:
        return Connection(address, address.url), lambda: None
    engines = importlib.import_module(_EMBEDDED).ENGINES
    passing = tempfile.TemporaryDirectory(prefix="ragassay-milvus-") if address.path is None else None
    kept = Path(passing.name) if passing is not None else folder / Path(address.path or "").expanduser()

    def release() -> None:
        engines.close(kept)
        if passing is not None:
            passing.cleanup()

    try:
        engine = engines.open(kept)
    except BaseException:
        if passing is not None:
            passing.cleanup()
        raise
    try:
        return Connection(address, engine.uri), release
    except BaseException:
        release()
        raise


def _versions(address: Address, server: str) -> JSON:
    if address.url:
        return {"consistency": address.consistency, "server": server, "pymilvus": version("pymilvus")}
    return {name: version(name.replace("_", "-")) for name in ("milvus_lite", "faiss_cpu", "numpy", "pymilvus")}
