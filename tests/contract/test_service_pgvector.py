"""The stack `pgvector` keeps the promises of a stack over a server, against a real PostgreSQL behind a gate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

from postgres_server import NEEDS, PostgresServer
from ragassay.records import JSON
from ragassay.testing.service_contract import NAME, ServiceContract
from ragassay.testing.service_gate import Gate

pytest.importorskip("psycopg", reason=NEEDS)

_FIELDS = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user\0\0"
REFUSAL = b"E" + (len(_FIELDS) + 4).to_bytes(4, "big") + _FIELDS
"""PostgreSQL's own words for a wrong password."""


class TestPgvectorService(ServiceContract):
    """Tables that stay in the database; each test begins without one."""

    kind = "pgvector"
    name_param = "table"
    params: ClassVar[dict[str, Any]] = {"timeout_s": 2}

    @pytest.fixture(autouse=True)
    def _postgres(self, postgres: PostgresServer) -> None:
        self.postgres = postgres

    @contextmanager
    def server(self) -> Iterator[Gate]:
        """Open a gate to the database."""
        gate = Gate(self.postgres.port, refusal=REFUSAL)
        try:
            yield gate
        finally:
            gate.close()
            self.postgres.run(f"DROP TABLE IF EXISTS {NAME}")

    def connection(self, server: Gate) -> JSON:
        """Name the database by the gate's port."""
        return {"url": self.postgres.url(port=server.port)}

    def make_foreign(self, server: Gate, name: str) -> bool:
        """Make a table of somebody else's."""
        self.postgres.run(f"CREATE TABLE {name} (id int, secret text)")
        return True

    def drop(self, server: Gate, name: str) -> bool:
        """Drop the table."""
        self.postgres.run(f"DROP TABLE {name}")
        return True
