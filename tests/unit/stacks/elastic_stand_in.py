"""Both stand-in servers under one name, for tests that hold of both stacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragassay import plugins
from ragassay.records import Chunk, Secret
from ragassay.testing.elastic_server import TOKEN, ElasticServer
from ragassay.testing.elasticsearch_server import ElasticsearchServer
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.opensearch_server import OpenSearchServer
from ragassay.testing.stack_contract import corpus, ignore_progress

KINDS = ("elasticsearch", "opensearch")
QUESTION = "Where does the quick fox jump?"
MANY = corpus([f"number {at} of many" for at in range(300)])
GRAPH = {"elasticsearch": "num_candidates", "opensearch": "ef_search"}
"""What the two call the candidates of a graph."""


def serving(kind: str, **more: Any) -> ElasticServer:
    """Return a server of a kind, not started."""
    return {"elasticsearch": ElasticsearchServer, "opensearch": OpenSearchServer}[kind](**{"key": TOKEN, **more})


def kind_of(server: ElasticServer) -> str:
    """Return the stack that asks a server."""
    return "elasticsearch" if isinstance(server, ElasticsearchServer) else "opensearch"


def built(
    server: ElasticServer,
    chunks: Sequence[Chunk] | None = None,
    *,
    key: str = TOKEN,
    embedder: Any = None,
    **params: Any,
) -> Any:
    """Return the retriever of the server's stack, over the suite's chunks by default."""
    stack = plugins.load("stacks", kind_of(server))(**{"url": server.url, "key": Secret(key), **params})
    parts = {"embedder": embedder or WordEmbedder()}
    return stack.build(corpus() if chunks is None else chunks, parts, ignore_progress)
