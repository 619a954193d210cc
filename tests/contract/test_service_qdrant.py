"""The stack `qdrant` keeps a server stack's promises, by REST and gRPC, against the stand-in behind a gate."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

pytest.importorskip("qdrant_client", reason="pip install 'ragassay[qdrant]'")

from ragassay.records import JSON
from ragassay.testing.qdrant_server import QdrantServer
from ragassay.testing.service_contract import KEY, ServiceContract
from ragassay.testing.service_gate import Gate


class Gated(Gate):
    """The stand-in behind a gate."""

    def __init__(self, server: QdrantServer) -> None:
        self.behind = server
        super().__init__(int(server.url.rpartition(":")[2]))


class TestQdrantService(ServiceContract):
    """Collections that stay on the server."""

    kind = "qdrant"
    name_param = "collection"
    params: ClassVar[dict[str, Any]] = {"timeout_s": 2}

    @contextmanager
    def server(self) -> Iterator[Gated]:
        """Start a server and open the gate to it."""
        with QdrantServer() as server:
            gate = Gated(server)
            try:
                yield gate
            finally:
                gate.close()

    def connection(self, server: Gated) -> JSON:
        """Name the gate."""
        return {"url": server.url}

    def make_foreign(self, server: Gated, name: str) -> bool:
        """Make a collection of somebody else's."""
        body = b'{"vectors": {"size": 4, "distance": "Cosine"}}'
        address = f"{server.behind.url}/collections/{name}"
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method="PUT")
        with urllib.request.urlopen(request, timeout=10) as reply:
            return bool(reply.status == 200)

    def drop(self, server: Gated, name: str) -> bool:
        """Take the collection away."""
        server.behind.service.collections.pop(name).close()
        return True


class GrpcGated(Gate):
    """The stand-in behind a gate of gRPC; it refuses the key itself, in the words of its protocol."""

    def __init__(self, server: QdrantServer) -> None:
        self.behind = server
        # A message is followed by its trailers: half of all is cut off, so that the message itself is.
        super().__init__(server.grpc_port, cut_tenths=5)

    def refuse(self, on: bool) -> None:
        """Take another key from now on, or this one again."""
        self.behind._api_key = "another-key" if on else KEY


class TestQdrantServiceGrpc(TestQdrantService):
    """Over gRPC."""

    @contextmanager
    def server(self) -> Iterator[Any]:
        """Start a server and open the gate to its gRPC."""
        with QdrantServer() as server:
            gate = GrpcGated(server)
            try:
                yield gate
            finally:
                gate.close()

    def connection(self, server: Any) -> JSON:
        """Name the gate; REST is not asked."""
        return {"url": server.behind.url, "grpc_port": server.port, "transport": "grpc"}
