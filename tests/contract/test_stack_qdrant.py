"""Qdrant in each of its modes keeps the promises of the contract suite: embedded, and on a stand-in of its server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from ragassay.plugins.stacks.qdrant import Qdrant
from ragassay.testing.stack_contract import StackContract

pytest.importorskip("qdrant_client", reason="pip install 'ragassay[qdrant]'")

from ragassay.testing.qdrant_server import QdrantServer

GRAPH = {"exact": False, "full_scan_threshold_kb": 10}


class TestQdrantGraph(StackContract):
    """The embedded engine, HNSW."""

    stack = Qdrant
    params: ClassVar[Mapping[str, Any]] = GRAPH


class TestQdrantFused(StackContract):
    """The embedded engine, vectors and token weights fused."""

    stack = Qdrant
    params: ClassVar[Mapping[str, Any]] = {"fusion": "rrf", "depth": 5}


class TestQdrantQuantized(StackContract):
    """The embedded engine, binary codes first and whole vectors then."""

    stack = Qdrant
    params: ClassVar[Mapping[str, Any]] = {**GRAPH, "quantization": "binary"}


class OnServer(StackContract):
    """A stack on a server that lives as long as one test."""

    stack = Qdrant

    @pytest.fixture(autouse=True)
    def server(self) -> Iterator[None]:
        """Start a server, and name it in the parameters."""
        with QdrantServer() as server:
            self._address: dict[str, Any] = {"url": server.url, "grpc_port": server.grpc_port}
            yield

    def make_stack(self) -> Qdrant:
        """Return a new stack on the server."""
        return Qdrant(**self.params, **self._address)


class TestServerCosine(OnServer):
    """REST, exact cosine."""


class TestServerDotGrpc(OnServer):
    """gRPC, dot product."""

    params: ClassVar[Mapping[str, Any]] = {"metric": "dot", "transport": "grpc"}


class TestServerEuclid(OnServer):
    """REST, distance negated."""

    params: ClassVar[Mapping[str, Any]] = {"metric": "euclid"}


class TestServerFused(OnServer):
    """REST, vectors and token weights fused."""

    params: ClassVar[Mapping[str, Any]] = {"fusion": "rrf", "depth": 5}


class TestServerGraphGrpc(OnServer):
    """gRPC, HNSW over int8 codes, fused."""

    params: ClassVar[Mapping[str, Any]] = {**GRAPH, "transport": "grpc", "quantization": "int8", "fusion": "rrf"}
