"""Indexes on services that somebody altered behind the digest that stands beside them: refused, never searched."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("elasticsearch", reason="pip install 'ragassay[elasticsearch]'")
pytest.importorskip("opensearchpy", reason="pip install 'ragassay[opensearch]'")
pytest.importorskip("weaviate", reason="pip install 'ragassay[weaviate]'")
pytest.importorskip("qdrant_client", reason="pip install 'ragassay[qdrant]'")

from qdrant_client import QdrantClient
from qdrant_client.http import models

from ragassay import plugins
from ragassay.errors import StackError
from ragassay.plugins.stacks.qdrant import Qdrant
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.plugins.stacks.weaviate import Weaviate
from ragassay.plugins.stacks.weaviate.store import id_of
from ragassay.testing.elasticsearch_server import ElasticsearchServer
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.opensearch_server import OpenSearchServer
from ragassay.testing.qdrant_server import Fault as QdrantFault
from ragassay.testing.qdrant_server import QdrantServer
from ragassay.testing.rest_server import Answer, Fault
from ragassay.testing.stack_contract import corpus, ignore_progress
from ragassay.testing.weaviate_server import WeaviateServer

CHUNKS = corpus([f"word{at} river fox number{at % 7} plain{at % 3}" for at in range(299)] + ["—"])
"""The last one has no word: its vector is zero."""
NAME = "ragassay_altered"


def build(stack: type[Any], **params: Any) -> VectorIndex:
    """Return the stack over the chunks."""
    found: VectorIndex = stack(**params).build(CHUNKS, {"embedder": WordEmbedder(dimension=64)}, ignore_progress)
    return found


def reused(stack: type[Any], **params: Any) -> bool:
    """Build, close, and tell whether the index was found whole."""
    index = build(stack, **params)
    index.close()
    assert index.stored is not None
    return index.stored.reused


def _points(server: QdrantServer) -> tuple[QdrantClient, Any, Any]:
    client = QdrantClient(url=server.url, check_compatibility=False)
    first, other = client.retrieve(NAME, ids=[0, 280], with_vectors=True)
    return client, first.vector, other.vector


def _vector(server: QdrantServer) -> None:
    client, first, other = _points(server)
    client.upsert(NAME, [models.PointStruct(id=280, vector={**other, "dense": first["dense"]})], wait=True)
    client.close()


def _words(server: QdrantServer) -> None:
    client, first, other = _points(server)
    client.upsert(NAME, [models.PointStruct(id=280, vector={**other, "tokens": first["tokens"]})], wait=True)
    client.close()


@pytest.mark.parametrize("transport", ["rest", "grpc"])
@pytest.mark.parametrize(
    ("params", "alter"),
    [
        ({}, _vector),
        ({"metric": "dot"}, _vector),
        ({"metric": "euclid", "exact": False}, _vector),
        ({"fusion": "rrf"}, _vector),
        ({"fusion": "rrf"}, _words),
    ],
)
def test_an_altered_qdrant_collection_is_refused(transport: str, params: dict[str, Any], alter: Any) -> None:
    """Digest and number of points are as they were, and what is in the points is not."""
    with QdrantServer() as server:
        at = {"url": server.url, "grpc_port": server.grpc_port, "transport": transport, "collection": NAME}
        assert not reused(Qdrant, **at, **params)
        assert reused(Qdrant, **at, **params), "what nobody altered was refused"
        alter(server)
        with pytest.raises(StackError, match="altered") as refused:
            build(Qdrant, **at, **params)
        assert not refused.value.retryable


def _document(**changed: Any) -> Any:
    return lambda written: written["280"].update(changed)


def _gone(written: dict[str, Any]) -> None:
    written["100280"] = written.pop("280")


def _emptied(written: dict[str, Any]) -> None:
    del written["280"]["vector"]


@pytest.mark.parametrize("kind", ["elasticsearch", "opensearch"])
@pytest.mark.parametrize(
    ("params", "alter"),
    [
        ({}, _document(vector=[1.0] * 64)),
        ({}, _gone),
        ({}, _emptied),
        ({"metric": "l2", "exact": False}, _document(vector=[1.0] * 64)),
        ({"search": "hybrid"}, _document(text="word5")),
        ({"search": "text"}, _document(text="word5")),
    ],
)
def test_an_altered_index_is_refused(kind: str, params: dict[str, Any], alter: Any) -> None:
    """Elasticsearch and OpenSearch: the mapping has its digest, and the number of documents is right."""
    server = {"elasticsearch": ElasticsearchServer, "opensearch": OpenSearchServer}[kind]()
    stack = plugins.load("stacks", kind)
    with server:
        at = {"url": server.url, "index": NAME}
        assert not reused(stack, **at, **params)
        assert reused(stack, **at, **params), "what nobody altered was refused"
        alter(server.indexes[NAME].written)
        server.indexes[NAME].refresh()
        with pytest.raises(StackError, match="altered") as refused:
            build(stack, **at, **params)
        assert not refused.value.retryable


def _other_vector(collection: Any) -> None:
    collection.vectors[str(id_of(280))] = collection.vectors[str(id_of(0))]


def _other_text(collection: Any) -> None:
    collection.objects[str(id_of(280))] = "word5"


def _other_object(collection: Any) -> None:
    for held in (collection.vectors, collection.objects):
        if str(id_of(280)) in held:
            held[str(id_of(100_280))] = held.pop(str(id_of(280)))


@pytest.mark.parametrize(
    ("params", "alter"),
    [
        ({}, _other_vector),
        ({}, _other_object),
        ({"metric": "dot"}, _other_vector),
        ({"search": "hybrid"}, _other_text),
        ({"search": "text"}, _other_text),
        ({"search": "text"}, _other_object),
    ],
)
def test_an_altered_weaviate_collection_is_refused(params: dict[str, Any], alter: Any) -> None:
    """The description has its digest, and the number of objects is right."""
    name = NAME.capitalize()
    with WeaviateServer() as server:
        at = {"url": server.url, "grpc_port": server.grpc_port, "collection": name}
        assert not reused(Weaviate, **at, **params)
        assert reused(Weaviate, **at, **params), "what nobody altered was refused"
        alter(server.collections[name])
        with pytest.raises(StackError, match="altered") as refused:
            build(Weaviate, **at, **params)
        assert not refused.value.retryable


def _partial(body: Any) -> Any:
    failure = {"shard": 0, "reason": {"type": "es_rejected_execution_exception", "reason": "queue full"}}
    shards = {"total": 1, "successful": 0, "failed": 1, "failures": [failure]}
    return {**body, "_shards": shards, "hits": {**body["hits"], "hits": []}}


@pytest.mark.parametrize("kind", ["elasticsearch", "opensearch"])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(changed=_partial, times=1), "1 of 1 shards did not answer"),
        (Fault(changed=lambda body: {**body, "timed_out": True}, times=1), "its own time limit"),
        (Fault(answer=Answer(status=503, body={}), times=1), "could not read its documents"),
    ],
)
def test_an_index_that_cannot_be_read_whole_is_not_called_altered(kind: str, fault: Fault, said: str) -> None:
    """A part of a reply, or none, is an error that passes; the next build uses the index."""
    server = {"elasticsearch": ElasticsearchServer, "opensearch": OpenSearchServer}[kind]()
    stack = plugins.load("stacks", kind)
    with server:
        at = {"url": server.url, "index": NAME}
        assert not reused(stack, **at)
        server.fail("search", fault)
        with pytest.raises(StackError, match=said) as raised:
            build(stack, **at)
        assert raised.value.retryable
        assert reused(stack, **at)


@pytest.mark.parametrize("transport", ["rest", "grpc"])
def test_a_qdrant_that_fails_while_it_is_read_is_not_called_altered(transport: str) -> None:
    """An error that passes; the next build uses the collection."""
    with QdrantServer() as server:
        at = {"url": server.url, "grpc_port": server.grpc_port, "transport": transport, "collection": NAME}
        assert not reused(Qdrant, **at)
        server.faults["read"] = QdrantFault(status=503, after=1)
        with pytest.raises(StackError, match="could not read points") as raised:
            build(Qdrant, **at)
        assert raised.value.retryable
        server.faults.clear()
        assert reused(Qdrant, **at)
