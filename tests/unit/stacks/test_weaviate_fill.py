"""`weaviate` makes, fills and finds collections on its stand-in, and refuses those that are not as they should be."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("weaviate", reason="pip install 'ragassay[weaviate]'")

from weaviate_stand_in import KEY, NAME, QUESTION, built, refused

from ragassay.plugins.stacks.weaviate.store import id_of
from ragassay.testing.rest_server import Answer
from ragassay.testing.weaviate_search import Collection
from ragassay.testing.weaviate_server import GrpcFault, Refused, WeaviateServer


@pytest.fixture
def server() -> Iterator[WeaviateServer]:
    """Give a stand-in of its own."""
    with WeaviateServer(key=KEY) as running:
        yield running


def test_a_collection_says_how_it_is_indexed(server: WeaviateServer) -> None:
    """One shard, no quantisation, the vector and BM25 parameters of the row, and the digest in its description."""
    with built(server, search="hybrid", index="hnsw", ef=-1, max_connections=8, k1="0.9", b="0.4") as retriever:
        made = server.collections[NAME].definition
        index = made["vectorConfig"]["chunk"]["vectorIndexConfig"]
        about = retriever.describe()
    assert made["description"].startswith("ragassay_digest=")
    assert made["shardingConfig"]["desiredCount"] == 1
    assert made["vectorConfig"]["chunk"]["vectorizer"] == {"none": {}}
    assert (index["ef"], index["maxConnections"], index["efConstruction"]) == (-1, 8, 128)
    assert index["skipDefaultQuantization"] is True
    assert made["invertedIndexConfig"]["bm25"] == {"b": 0.4, "k1": 0.9}
    assert about["index"] == {
        "kind": "hnsw",
        "ef_construction": 128,
        "max_connections": 8,
        "ef": {"dynamic": {"min": 100, "max": 500, "factor": 8}},
    }
    assert about["fusion"] == {"method": "relativeScore", "alpha": "0.5"}
    assert about["server"] == server.version


def test_a_server_that_quantises_all_the_same_is_refused(server: WeaviateServer) -> None:
    """A default of the server never changes a result in silence."""
    server.default_quantizer = "rq"
    create = server._created

    def forgetful(given: Any) -> Answer:
        del given["vectorConfig"]["chunk"]["vectorIndexConfig"]["skipDefaultQuantization"]
        return create(given)

    server._created = forgetful  # type: ignore[method-assign]
    assert "quantises the vectors" in str(refused(server))


def test_consistency_is_sent_with_every_call_and_recorded_where_it_matters(server: WeaviateServer) -> None:
    """With one replica there is nothing to agree on."""
    seen: set[str] = set()
    for name in ("_search", "_batch"):
        real = getattr(server, name)

        def noted(request: Any, real: Callable[[Any], Any] = real) -> Any:
            field = request.DESCRIPTOR.fields_by_name["consistency_level"]
            seen.add(field.enum_type.values_by_number[request.consistency_level].name)
            return real(request)

        setattr(server, name, noted)
    with built(server, consistency="ALL", replicas=3) as retriever:
        retriever.search(QUESTION, 1)
        assert (retriever.describe()["consistency"], retriever.describe()["replicas"]) == ("ALL", 3)
    assert seen == {"CONSISTENCY_LEVEL_ALL"}


def test_refused_objects_of_a_batch_are_an_error(server: WeaviateServer, caplog: pytest.LogCaptureFixture) -> None:
    """Some or all of them; the client does not write the passages into its log first."""

    def some(reply: Any) -> Any:
        reply.errors.add(index=3, error="the disk is full")
        return reply

    server.grpc_faults["BatchObjects"] = GrpcFault(changed=some)
    with caplog.at_level(logging.DEBUG):
        error = refused(server, search="hybrid")
    assert "refused 1 objects of a batch, the first: the disk is full" in str(error)
    assert "quick brown fox" not in caplog.text


def test_vectors_of_another_dimension_are_refused_by_the_server(server: WeaviateServer) -> None:
    """And said as the server says it, where a collection by hand held none of ours yet."""
    with built(server):
        server.collections[NAME].vectors = {str(id_of(0)): np.ones(3, np.float32)}
        server.collections[NAME].objects.clear()
    assert "vector lengths don't match: 3 vs 64" in str(refused(server))


def test_an_interrupted_fill_is_continued(server: WeaviateServer) -> None:
    """What was stored is kept, and what a whole collection holds is not written again."""
    real = server._batch

    def breaking(request: Any) -> Any:
        if server.calls["BatchObjects"] > 1:
            raise Refused("extract auth: unauthorized")
        return real(request)

    server._batch = breaking  # type: ignore[method-assign]
    error = refused(server, block=4)
    assert "could not write objects: UNKNOWN: extract auth: unauthorized" in str(error)
    assert len(server.collections[NAME].objects) == 4
    server._batch = real  # type: ignore[method-assign]
    with built(server, block=4) as retriever:
        assert retriever.count() == 12
        assert retriever.stored is not None
        assert not retriever.stored.reused
    before = server.calls["BatchObjects"]
    with built(server, block=4) as retriever:
        assert retriever.stored is not None
        assert retriever.stored.reused
    assert server.calls["BatchObjects"] == before


def test_a_fault_that_passes_does_not_end_a_fill(server: WeaviateServer) -> None:
    """A batch that was refused for load is sent again."""
    server.grpc_faults["BatchObjects"] = GrpcFault(code="RESOURCE_EXHAUSTED", said="too much memory", times=1)
    with built(server, block=12) as retriever:
        assert retriever.count() == 12
    assert server.calls["BatchObjects"] == 2


def test_a_build_waits_until_every_vector_is_indexed(server: WeaviateServer) -> None:
    """Where the server indexes after it has stored; one that never ends is an error to run again after."""
    server.queue = 3
    with built(server) as retriever:
        assert server.count("shards") == 4
        assert retriever.count() == 12
    server.queue = 10_000
    error = refused(server, wait_s=1)
    assert error.retryable
    assert "vectors wait" in str(error)
    server.queue, server.status = 0, "READONLY"
    assert "read-only" in str(refused(server))


def test_objects_that_are_not_counted_are_an_error(server: WeaviateServer) -> None:
    """A collection is whole only when the server counts every chunk."""

    def fewer(reply: Any) -> Any:
        reply.single_result.objects_count = 5
        return reply

    server.grpc_faults["Aggregate"] = GrpcFault(changed=fewer)
    assert "holds 5 of 12 chunks after indexing" in str(refused(server))


def test_an_index_that_somebody_changed_is_refused(server: WeaviateServer) -> None:
    """Its digest may be ours and its metric another."""
    with built(server):
        server.collections[NAME].definition["vectorConfig"]["chunk"]["vectorIndexConfig"]["distance"] = "dot"
    assert "is indexed by flat and dot, and this row asks for flat and cosine" in str(refused(server))


def test_a_collection_made_by_another_build_in_the_meantime_is_used(server: WeaviateServer) -> None:
    """Two builds of one row do not fail each other; one that holds something else still does."""
    real = server.answered

    def late(operation: str, asked: Any) -> Answer:
        if operation == "class" and server.count("class") == 1:
            return Answer(status=404, raw=b"")
        return real(operation, asked)

    with built(server):
        pass
    server.asked.clear()
    server.answered = late  # type: ignore[method-assign]
    with built(server) as retriever:
        assert retriever.count() == 12
    server.asked.clear()
    assert "already exists" in str(refused(server, metric="dot"))


def test_other_collections_are_named(server: WeaviateServer) -> None:
    """Those of ragassay alone, sorted, so that stale ones can be told."""
    with built(server, collection="Ragassay_b"), built(server, ["one"], collection="Ragassay_a"):
        server.collections["Articles"] = Collection({"class": "Articles"})
        with built(server) as retriever:
            assert retriever.stored is not None
            assert retriever.stored.others == ("Ragassay_a", "Ragassay_b")


def test_an_unnamed_collection_is_named_by_what_it_holds(server: WeaviateServer) -> None:
    """Another metric makes another; another alpha or depth does not."""
    names = []
    hybrid: dict[str, Any] = {"search": "hybrid"}
    rows: list[dict[str, Any]] = [{}, {"metric": "dot"}, hybrid, {**hybrid, "alpha": "0.9", "depth": 20}]
    for row in rows:
        with built(server, collection=None, **row) as retriever:
            assert retriever.stored is not None
            names.append(retriever.stored.name)
    assert len(set(names)) == 3
    assert names[2] == names[3]
    assert all(name.startswith("Ragassay_") for name in names)


def test_an_empty_corpus_leaves_nothing_behind(server: WeaviateServer) -> None:
    """No collection is made."""
    with built(server, []) as retriever:
        assert retriever.search(QUESTION, 3) == []
    assert not server.collections
