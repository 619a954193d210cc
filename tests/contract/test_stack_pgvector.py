"""PostgreSQL with pgvector keeps the promises of the shipped contract suite, in a real server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from postgres_server import NEEDS, PostgresServer
from ragassay.seams import Stack
from ragassay.testing.stack_contract import StackContract

pytest.importorskip("psycopg", reason=NEEDS)

from ragassay.plugins.stacks.pgvector import Pgvector


class PostgresContract(StackContract):
    """The suite over a database of the test session's server."""

    stack = Pgvector

    @pytest.fixture(autouse=True)
    def _server(self, postgres: PostgresServer) -> None:
        self.url = postgres.url()

    def make_stack(self) -> Stack:
        """Return the stack over that database."""
        return Pgvector(url=self.url, **self.params)


class TestPgvectorCosine(PostgresContract):
    """Every vector compared, cosine."""


class TestPgvectorL2(PostgresContract):
    """Every vector compared, distance negated."""

    params: ClassVar[Mapping[str, Any]] = {"metric": "l2"}


class TestPgvectorInnerProduct(PostgresContract):
    """Every vector compared, inner product of vectors that are not normalised."""

    params: ClassVar[Mapping[str, Any]] = {"metric": "ip"}


class TestPgvectorHnsw(PostgresContract):
    """An HNSW graph."""

    params: ClassVar[Mapping[str, Any]] = {"index": "hnsw", "m": 8, "ef_construction": 32, "ef_search": 20}


class TestPgvectorIvfflat(PostgresContract):
    """Inverted lists, one of two searched."""

    params: ClassVar[Mapping[str, Any]] = {"index": "ivfflat", "lists": 2, "probes": 1, "metric": "l2"}


class TestPgvectorText(PostgresContract):
    """Cosine fused with full-text search."""

    params: ClassVar[Mapping[str, Any]] = {"text": True, "depth": 6}


class TestPgvectorHnswText(PostgresContract):
    """An HNSW graph fused with full-text search, words unstemmed, all of them wanted."""

    params: ClassVar[Mapping[str, Any]] = {
        "index": "hnsw",
        "text": True,
        "text_config": "simple",
        "text_query": "all",
        "text_rank": "ts_rank_cd",
    }
