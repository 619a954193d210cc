"""`elasticsearch` fails as a stack over a server must: its stand-in killed, slow, refusing or cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

pytest.importorskip("elasticsearch", reason="pip install 'ragassay[elasticsearch]'")

from ragassay.testing.elastic_index import StandInIndex
from ragassay.testing.elasticsearch_server import ElasticsearchServer
from ragassay.testing.service_contract import KEY, ServiceContract
from ragassay.testing.service_gate import Gate


class Served(Gate):
    """A gate before a stand-in server."""

    def __init__(self, behind: ElasticsearchServer) -> None:
        super().__init__(behind.port)
        self.behind = behind


class TestElasticsearchService(ServiceContract):
    """Over a local server with the documented shapes."""

    kind = "elasticsearch"
    params: ClassVar[Mapping[str, Any]] = {"timeout_s": 2}
    name_param = "index"

    @contextmanager
    def server(self) -> Iterator[Served]:
        """Give a gate before a server of its own."""
        with ElasticsearchServer(key=KEY) as behind:
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


@pytest.mark.slow
class TestElasticsearchHybridService(TestElasticsearchService):
    """Vectors of a graph and words, fused: two searches per question."""

    params: ClassVar[Mapping[str, Any]] = {"timeout_s": 2, "search": "hybrid", "exact": False}
