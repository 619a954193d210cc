"""Vertex AI Vector Search keeps the promises of a stack over a server: killed, slow, cut short, refused, another's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

pytest.importorskip("google.cloud.vectorsearch_v1beta", reason="pip install 'ragassay[vertex]'")

from ragassay.plugins.stacks.vertex.client import api
from ragassay.testing.service_board import WORDS
from ragassay.testing.service_contract import KEY, ServiceContract
from ragassay.testing.service_gate import Gate
from ragassay.testing.vertex_server import VertexServer, serving

PARENT = "projects/a-project/locations/us-central1"


class GatedServer(Gate):
    """The stand-in behind a gate; it refuses the key itself, in the words of its protocol."""

    def __init__(self, server: VertexServer, transport: str) -> None:
        self.behind = server
        # Over gRPC the message is followed by its trailers: half of all is cut, so that the message itself is.
        super().__init__(int(getattr(server, transport).rpartition(":")[2]), cut_tenths=5 if transport == "grpc" else 1)

    def refuse(self, on: bool) -> None:
        """Take another token from now on, or this one again."""
        self.behind.token = "another-token" if on else KEY


class VertexService(ServiceContract):
    """The stand-in, which knows the suite's key."""

    kind = "vertex"
    name_param = "collection"
    index_name = "ragassay-contract"
    transport: ClassVar[str]
    params: ClassVar[Mapping[str, Any]] = {"project": "a-project", "timeout_s": 1, "wait_s": 2}

    @contextmanager
    def server(self) -> Iterator[GatedServer]:
        """Start the server and open the gate to it."""
        with serving(token=KEY) as server:
            gate = GatedServer(server, self.transport)
            yield gate
            gate.close()

    def connection(self, server: GatedServer) -> dict[str, Any]:
        """Name the gate and how to speak to it."""
        return {"api_endpoint": f"127.0.0.1:{server.port}", "transport": self.transport, "embedder": WORDS}

    def make_foreign(self, server: GatedServer, name: str) -> bool:
        """Make a collection without a digest."""
        path = f"{PARENT}/collections/{name}"
        server.behind.memory.collections[path] = api.Collection(name=path, labels={"team": "search"})
        server.behind.memory.objects[path] = {}
        return True

    def drop(self, server: GatedServer, name: str) -> bool:
        """Remove the collection."""
        path = f"{PARENT}/collections/{name}"
        del server.behind.memory.collections[path], server.behind.memory.objects[path]
        return True


class TestVertexServiceGrpc(VertexService):
    """Over gRPC."""

    transport = "grpc"


class TestVertexServiceRest(VertexService):
    """Over REST."""

    transport = "rest"


@pytest.mark.slow
class TestVertexServiceCombined(VertexService):
    """The service's vectors and words, over gRPC."""

    transport = "grpc"
    params: ClassVar[Mapping[str, Any]] = {
        **VertexService.params,
        "mode": "combined",
        "combine": "vector+text",
        "ranker": "vertex",
    }
