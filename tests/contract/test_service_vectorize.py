"""`vectorize` fails as a stack over a server must: its stand-in killed, slow, refusing, cut, and with other indexes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from ragassay.records import JSON
from ragassay.testing.service_contract import KEY, ServiceContract
from ragassay.testing.service_gate import Gate
from ragassay.testing.vectorize_search import Config
from ragassay.testing.vectorize_server import ACCOUNT, PREFIX, CreateIndex, Held, VectorizeServer


class Served(Gate):
    """A gate before a stand-in server."""

    def __init__(self, behind: VectorizeServer) -> None:
        super().__init__(behind.port)
        self.behind = behind


class TestVectorize(ServiceContract):
    """Over a local server with the documented shapes."""

    kind = "vectorize"
    params: ClassVar[Mapping[str, Any]] = {"timeout_s": 1, "wait_s": 2}
    name_param = "index"

    @contextmanager
    def server(self) -> Iterator[Served]:
        """Give a gate before a server of its own."""
        with VectorizeServer(token=KEY) as behind:
            gate = Served(behind)
            try:
                yield gate
            finally:
                gate.close()

    def connection(self, server: Any) -> JSON:
        """Return address and account."""
        return {"url": server.url + PREFIX, "account_id": ACCOUNT}

    def make_foreign(self, server: Any, name: str) -> bool:
        """Make an index without ragassay's mark."""
        config = Config(dimensions=64, metric="cosine")
        server.behind.indexes[name] = Held(CreateIndex(config=config, name=name, description="mine"))
        return True

    def drop(self, server: Any, name: str) -> bool:
        """Remove the index from the server."""
        del server.behind.indexes[name]
        return True
