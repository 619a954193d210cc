"""A stack over the stand-in for Vertex AI Vector Search, for tests of what goes wrong."""

from __future__ import annotations

from typing import Any

from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.plugins.stacks.vertex import Vertex
from ragassay.records import Secret
from ragassay.seams import Progress
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import TEXTS, corpus, ignore_progress
from ragassay.testing.vertex_server import VertexServer

PARENT = "projects/a-project/locations/us-central1"
CHUNKS = corpus(TEXTS)


def stack_of(server: VertexServer, *, key: Secret | None = None, **params: Any) -> Vertex:
    """Return the stack over a server, with short time limits."""
    place = {"project": "a-project", "timeout_s": 2, "wait_s": 1}
    address = server.rest if params.get("transport") == "rest" else server.grpc
    return Vertex(key=key, **{**place, "api_endpoint": address, **params})


def built(
    server: VertexServer,
    *,
    key: Secret | None = None,
    progress: Progress = ignore_progress,
    dimension: int = 64,
    **params: Any,
) -> VectorIndex:
    """Return the stack built over the suite's corpus."""
    by_vector = params.get("mode", "vector") in ("vector", "combined") and "vector" in params.get("combine", "vector")
    parts = {"embedder": WordEmbedder(dimension=dimension)} if by_vector else {}
    return stack_of(server, key=key, **params).build(CHUNKS, parts, progress)
