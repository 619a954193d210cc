"""Vertex AI Vector Search keeps the promises of a stack, in each mode, over gRPC and over REST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest

pytest.importorskip("google.cloud.vectorsearch_v1beta", reason="pip install 'ragassay[vertex]'")

from ragassay.plugins.stacks.vertex import Vertex
from ragassay.records import Chunk
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import StackContract
from ragassay.testing.vertex_server import serving


class OverVertex(StackContract):
    """Each test over a server of its own, in pages of five."""

    stack = Vertex
    transport: ClassVar[str] = "grpc"
    address: str

    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with serving() as server:
            server.methods.page = 5
            self.address = getattr(server, self.transport)
            yield

    def make_stack(self) -> Vertex:
        """Return the stack over this test's server."""
        place: dict[str, Any] = {
            "project": "a-project",
            "api_endpoint": self.address,
            "transport": self.transport,
            "timeout_s": 10,
        }
        return Vertex(**place, **self.params)

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Give an embedder to the modes that ask by it."""
        return {"embedder": WordEmbedder()} if "vector" in str(self.params) else {}


class TestVertexVector(OverVertex):
    """Our vectors, exact cosine."""

    params: ClassVar[Mapping[str, Any]] = {"mode": "vector"}


@pytest.mark.slow
class TestVertexVectorRest(OverVertex):
    """The same over REST, by dot product."""

    transport = "rest"
    params: ClassVar[Mapping[str, Any]] = {"mode": "vector", "metric": "dot"}


class TestVertexIndex(OverVertex):
    """Our vectors, by an index."""

    params: ClassVar[Mapping[str, Any]] = {"mode": "vector", "index": "by-scann", "target_recall": "0.9"}


class TestVertexSemantic(OverVertex):
    """The service's vectors."""

    params: ClassVar[Mapping[str, Any]] = {"mode": "semantic", "dimensions": 64}


class TestVertexText(OverVertex):
    """Words, over REST."""

    transport = "rest"
    params: ClassVar[Mapping[str, Any]] = {"mode": "text"}


class TestVertexCombined(OverVertex):
    """Vectors and words, fused."""

    params: ClassVar[Mapping[str, Any]] = {"mode": "combined", "combine": "vector+text", "vector_weight": "2"}


@pytest.mark.slow
class TestVertexRanker(OverVertex):
    """The service's vectors and words, ordered by its ranker."""

    params: ClassVar[Mapping[str, Any]] = {
        "mode": "combined",
        "combine": "semantic+text",
        "ranker": "vertex",
        "dimensions": 64,
    }
