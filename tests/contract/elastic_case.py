"""The stand-in for Elasticsearch or OpenSearch behind a gate, as the suite for stacks over a server wants it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from ragassay.testing.elastic_index import StandInIndex
from ragassay.testing.elastic_server import ElasticServer
from ragassay.testing.service_contract import ServiceContract
from ragassay.testing.service_gate import Gate


class Served(Gate):
    """A gate before a stand-in server."""

    def __init__(self, behind: ElasticServer) -> None:
        super().__init__(behind.port)
        self.behind = behind


class ElasticCase(ServiceContract):
    """Over a local server with the documented shapes."""

    params: ClassVar[Mapping[str, Any]] = {"timeout_s": 2}
    name_param = "index"

    def stand_in(self) -> ElasticServer:
        """Return the server, not yet started, which asks for the suite's key."""
        raise NotImplementedError

    @contextmanager
    def server(self) -> Iterator[Served]:
        """Give a gate before a server of its own."""
        with self.stand_in() as behind:
            gate = Served(behind)
            try:
                yield gate
            finally:
                gate.close()

    def make_foreign(self, server: Any, name: str) -> bool:
        """Make an index without ragassay's mark."""
        server.behind.indexes[name] = StandInIndex(name, {}, {"properties": {}}, None, None)
        return True

    def drop(self, server: Any, name: str) -> bool:
        """Remove the index from the server."""
        del server.behind.indexes[name]
        return True
