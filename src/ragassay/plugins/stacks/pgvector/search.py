"""Asking the table: by vector, exactly or through the index, and by text besides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from pgvector import Vector
from psycopg import sql

from ragassay.errors import StackError
from ragassay.plugins.stacks.pgvector.session import MARK, Pool
from ragassay.plugins.stacks.pgvector.table import Layout, count_of, storable

FAR = {"cosine": "embedding <=> %(vector)s", "l2": "embedding <-> %(vector)s", "ip": "embedding <#> %(vector)s"}
"""What the engine sorts by, the nearest first."""

SCORE = {"cosine": "1 - coalesce(nullif(far, 'NaN'), 1)", "l2": "-far", "ip": "-far"}
"""A zero vector has no direction: its cosine with anything is 0."""

OPERATORS = {"cosine": "vector_cosine_ops", "l2": "vector_l2_ops", "ip": "vector_ip_ops"}

QUERIES = {
    "any": "(SELECT string_agg('''' || replace(replace(lexeme, E'\\\\', E'\\\\\\\\'), '''', '''''') || '''', ' | ')"
    "::tsquery FROM unnest(to_tsvector(%(config)s::regconfig, %(text)s)))",
    "all": "plainto_tsquery(%(config)s::regconfig, %(text)s)",
    "websearch": "websearch_to_tsquery(%(config)s::regconfig, %(text)s)",
}
"""How a question becomes a text query: any of its words, all of them, or as a web search box reads it."""

_EXACT = """
SELECT position, ({score})::real AS score, current_setting({mark}, true)
FROM (SELECT position, {far} AS far FROM {table}) AS every
ORDER BY score DESC, position LIMIT %(limit)s
"""
_INDEX = """
SELECT position, ({score})::real AS score, current_setting({mark}, true)
FROM (SELECT position, {far} AS far FROM {table} ORDER BY {far} LIMIT %(limit)s) AS nearest
ORDER BY score DESC, position
"""
_TEXT = """
SELECT position FROM {table}, (SELECT {query} AS query) AS asked
WHERE lexemes @@ query
ORDER BY {rank}(lexemes, query, %(normalization)s) DESC, position LIMIT %(limit)s
"""


class Fusion(msgspec.Struct, frozen=True, kw_only=True):
    """How the text is searched, and how the two lists become one."""

    config: str
    query: str
    rank: str
    normalization: int
    depth: int
    rrf_k: int


class PostgresEngine:
    """A filled table, asked over a pool of sessions."""

    def __init__(self, pool: Pool, layout: Layout, metric: str, *, rows: int, most: int, fusion: Fusion | None) -> None:
        self.most = 1_000_000_000 if fusion else most
        self._least = 0 if layout.method else rows
        """How many it finds of a limit that is no smaller: an index may find fewer, comparing all may not."""
        self._pool = pool
        self._layout = layout
        self._fusion = fusion
        template = _INDEX if layout.method else _EXACT
        self._by_vector = sql.SQL(template).format(
            score=sql.SQL(SCORE[metric]),
            far=sql.SQL(FAR[metric]),
            table=layout.name,
            mark=sql.Literal(MARK),
        )
        self._needs_direction = metric != "l2"

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return the nearest positions and their scores, or those of both lists fused."""
        with self._pool.session("search") as session:
            if self._fusion is None:
                return self._near(session, vector, limit)
            fusion = self._fusion
            far = self._needs_direction and not any(vector)
            near = [] if far else [at for at, _ in self._near(session, vector, fusion.depth)]
            said = session.execute(self._by_text(fusion), _given(fusion, text)).fetchall()
        return fused([near, [at for (at,) in said]], fusion.rrf_k)[:limit]

    def count(self) -> int:
        """Return how many vectors the table holds."""
        with self._pool.session("count its vectors") as session:
            return count_of(session, self._layout)

    def close(self) -> None:
        """Close the connections; the table stays."""
        self._pool.close()

    def check_plan(self, dimension: int) -> None:
        """Raise `StackError` unless the server would search with our index alone; with none where it has none."""
        with self._pool.session("ask how it would search") as session:
            given = {"vector": Vector([1.0] * dimension), "limit": 10}
            ask = sql.SQL("EXPLAIN (FORMAT JSON) {}").format(self._by_vector)
            (plan,) = session.execute(ask, given).fetchone()
        used, wanted = sorted(set(_indexes(plan))), [self._layout.index] if self._layout.index else []
        if used != wanted:
            raise StackError(
                f"pgvector would search {self._layout.table!r} with {', '.join(used) or 'no index'} instead of "
                f"{', '.join(filter(None, wanted)) or 'comparing every vector'}; remove other indexes from that table"
            )

    def _near(self, session: Any, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        given = {"vector": Vector(list(vector)), "limit": limit}
        rows = session.execute(self._by_vector, given, binary=True).fetchall()
        if any(mark != self._pool.mark for _, _, mark in rows):
            raise StackError(
                "pgvector: the settings of this session were lost on the way, so the search may be another one; a "
                "pooler in transaction mode is in between: name the server itself, or a pooler in session mode"
            )
        if len(rows) < min(limit, self._least):
            raise StackError(f"pgvector: {self._layout.table!r} lost rows in between: start the row anew")
        return [(at, score) for at, score, _ in rows]

    def _by_text(self, fusion: Fusion) -> sql.Composed:
        return sql.SQL(_TEXT).format(
            table=self._layout.name, query=sql.SQL(QUERIES[fusion.query]), rank=sql.SQL(fusion.rank)
        )


def fused(lists: Sequence[Sequence[int]], rrf_k: int) -> list[tuple[int, float]]:
    """Return every position of the lists with Σ 1 / (rrf_k + rank), ranks from 1; best first, ties by position."""
    shares: dict[int, list[float]] = {}
    for ranked in lists:
        for rank, at in enumerate(ranked, 1):
            shares.setdefault(at, []).append(1 / (rrf_k + rank))
    return sorted(((at, math.fsum(parts)) for at, parts in shares.items()), key=lambda one: (-one[1], one[0]))


def _given(fusion: Fusion, text: str) -> dict[str, Any]:
    return {
        "config": fusion.config,
        "text": storable(text),
        "normalization": fusion.normalization,
        "limit": fusion.depth,
    }


def _indexes(plan: Any) -> Iterator[str]:
    """Yield the name of every index in a plan."""
    for value in plan if isinstance(plan, list) else plan.values():
        if isinstance(value, list | dict):
            yield from _indexes(value)
    if isinstance(plan, dict) and "Index Name" in plan:
        yield str(plan["Index Name"])
