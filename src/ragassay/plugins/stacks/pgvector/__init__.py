"""PostgreSQL with pgvector: exact, HNSW or IVFFlat search in a table of one's own server, full-text search besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np
import psycopg
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.pgvector.config import read_config
from ragassay.plugins.stacks.pgvector.search import PostgresEngine
from ragassay.plugins.stacks.pgvector.session import Pool
from ragassay.plugins.stacks.pgvector.table import Table
from ragassay.plugins.stacks.stored_index import PREFIX, bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk, Secret
from ragassay.seams import Embedder, Progress

MOST_INDEXED = 2000
"""The numbers per vector that an index over the type `vector` takes."""


class Pgvector:
    """Takes `url`, `key_env`, `schema`, `table`, `metric`, `index` with its settings, `text` with its own, time limits.

    `key` comes from the runner: the password in the variable that `key_env` names.
    """

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}
    removal: ClassVar[str] = "psql '{url}' -c 'DROP TABLE {name};'"
    """What a person types to remove an index of that name."""

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        self._config = read_config(params)
        self._key = key

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and bring them into the table; raises `StackError` for whatever the server refuses."""
        embedder = embedder_of("pgvector", parts)
        pool = Pool(self._config.url, self._key, self._config.timeout_s, self._config.settings)
        with ExitStack() as unless_built:
            unless_built.callback(pool.close)
            server = pool.known()
            self._config.check(server)
            matrix = embed_chunks(embedder, chunks, progress)
            engine, stored = self._brought_up(pool, chunks, matrix, embedder, progress) if chunks else (None, None)
            if engine is not None:
                unless_built.pop_all()
        return VectorIndex(
            "pgvector",
            [chunk.id for chunk in chunks],
            embedder,
            engine,
            dimension=matrix.shape[1],
            zero_is_far=self._config.metric != "l2" and self._config.fusion is None,
            about=described(
                "pgvector",
                embedder,
                truncated(embedder, chunks),
                **self._config.about(server),
                psycopg=version("psycopg"),
                libpq=str(psycopg.pq.version()),
                pgvector_python=version("pgvector"),
            ),
            stored=stored,
        )

    def _brought_up(
        self, pool: Pool, chunks: Sequence[Chunk], matrix: NDArray[np.float32], embedder: Embedder, progress: Progress
    ) -> tuple[PostgresEngine, Stored]:
        config = self._config
        if not config.exact and matrix.shape[1] > MOST_INDEXED:
            raise StackError(
                f"pgvector: {config.method} takes up to {MOST_INDEXED} numbers per vector and the embedder gives "
                f'{matrix.shape[1]}; use index = "exact", or an embedder of fewer'
            )
        digest = digest_of(chunks, embedder, config.shape())
        layout = config.layout(config.table or PREFIX + digest)
        texts = [chunk.text for chunk in chunks] if config.fusion else None
        with pool.alone("index", config.build_timeout_s) as session:
            table = Table(session, layout, texts, partial(pool.guard, timeout_s=config.build_timeout_s))
            table.lock()
            whole = bring_up("pgvector", layout.table, table, matrix, digest, progress)
            others = table.others()
        engine = PostgresEngine(pool, layout, config.metric, rows=len(chunks), most=config.most, fusion=config.fusion)
        engine.check_plan(matrix.shape[1])
        return engine, Stored(name=f"{layout.schema}.{layout.table}", reused=whole and not table.built, others=others)
