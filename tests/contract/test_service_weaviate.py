"""`weaviate` fails as a stack over a server must: its stand-in killed, slow, refusing, cut, or another's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

pytest.importorskip("weaviate", reason="pip install 'ragassay[weaviate]'")

from ragassay.records import JSON
from ragassay.testing.service_contract import KEY, ServiceContract
from ragassay.testing.service_gate import Gate
from ragassay.testing.weaviate_search import Collection
from ragassay.testing.weaviate_server import WeaviateServer


class Gates:
    """A gate before each of the stand-in's two ports; the stand-in refuses the key itself, in its protocols' words."""

    def __init__(self, behind: WeaviateServer) -> None:
        self.behind = behind
        self.http, self.grpc = Gate(behind.port), Gate(behind.grpc_port, cut_tenths=5)

    def stop(self) -> None:
        """Break all connections and refuse new ones."""
        for gate in (self.http, self.grpc):
            gate.stop()

    def start(self) -> None:
        """Listen again."""
        for gate in (self.http, self.grpc):
            gate.start()

    def slow(self, seconds: float) -> None:
        """Hold every request back."""
        for gate in (self.http, self.grpc):
            gate.slow(seconds)

    def cut(self, on: bool) -> None:
        """Break off every reply before its end."""
        for gate in (self.http, self.grpc):
            gate.cut(on)

    def refuse(self, on: bool) -> None:
        """Take another key from now on, or this one again."""
        self.behind.key = "another-key" if on else KEY

    def close(self) -> None:
        """Stop for good."""
        for gate in (self.http, self.grpc):
            gate.close()


class WeaviateService(ServiceContract):
    """The client, over a local server made from the client's messages."""

    kind = "weaviate"
    name_param = "collection"
    index_name = "Ragassay_contract"
    params: ClassVar[Mapping[str, Any]] = {"timeout_s": 2, "wait_s": 2}

    @contextmanager
    def server(self) -> Iterator[Gates]:
        """Give the gates before a server of their own."""
        with WeaviateServer(key=KEY) as behind:
            gates = Gates(behind)
            try:
                yield gates
            finally:
                gates.close()

    def connection(self, server: Gates) -> JSON:
        """Name the gates."""
        return {"url": server.http.url, "grpc_port": server.grpc.port}

    def make_foreign(self, server: Gates, name: str) -> bool:
        """Make a collection of somebody else's."""
        server.behind.collections[name] = Collection({"class": name, "description": "articles", "vectorConfig": {}})
        return True

    def drop(self, server: Gates, name: str) -> bool:
        """Remove the collection from the server."""
        del server.behind.collections[name]
        return True


class TestWeaviate(WeaviateService):
    """Vectors."""


@pytest.mark.slow
class TestWeaviateHybrid(WeaviateService):
    """Vectors and words."""

    params: ClassVar[Mapping[str, Any]] = {**WeaviateService.params, "search": "hybrid"}
