"""A collection of Vertex AI Vector Search is filled whole, continued where it was not, and never mixed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("google.cloud.vectorsearch_v1beta", reason="pip install 'ragassay[vertex]'")

from vertex_stand_in import CHUNKS, PARENT, built

from ragassay.errors import StackError
from ragassay.plugins.stacks.vertex.client import api
from ragassay.records import Secret
from ragassay.testing.vertex_server import VertexServer, serving

QUESTION = "What is the default of retries?"


@pytest.fixture(params=["grpc", "rest"])
def transport(request: pytest.FixtureRequest) -> str:
    """Give each way to speak to the server."""
    return str(request.param)


@pytest.fixture
def server() -> Iterator[VertexServer]:
    """Give a server with small pages."""
    with serving() as server:
        server.methods.page = 5
        yield server


def called(server: VertexServer, method: str) -> list[Any]:
    """Return the requests of a method."""
    return [request for name, request in server.calls if name == method]


def test_an_interrupted_fill_is_continued(server: VertexServer, transport: str) -> None:
    """What was written is written over, what is missing is made, and the result is that of an undisturbed fill."""

    def stop(done: int, total: int) -> None:
        if called(server, "BatchCreateDataObjects"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        built(server, transport=transport, batch=5, progress=stop)
    index = built(server, transport=transport, batch=4)
    assert index.count() == len(CHUNKS)
    assert [len(request.requests) for request in called(server, "BatchUpdateDataObjects")] == [4, 1]
    again = built(server, transport=transport)
    assert [one.stored is not None and one.stored.reused for one in (index, again)] == [False, True]
    assert again.search(QUESTION, 5) == index.search(QUESTION, 5)
    assert again.describe() == index.describe()
    for one in (index, again):
        one.close()


def test_objects_that_another_fill_makes_meanwhile_are_written_over(server: VertexServer, transport: str) -> None:
    """A conflict is answered by looking again at what is there."""

    def made_by_another(reply: Any) -> Any:
        server.faults.clear()
        name = next(iter(server.memory.objects))
        request = called(server, "QueryDataObjects")[-1]
        one = api.DataObject(
            name=f"{name}/dataObjects/c3", data={"text": "early"}, vectors={"vector": {"dense": {"values": [0.0] * 64}}}
        )
        server.memory.objects[name]["c3"] = one
        assert request.parent == name
        return reply

    server.faults["QueryDataObjects"] = made_by_another
    index = built(server, transport=transport)
    assert len(called(server, "BatchCreateDataObjects")) == 2
    assert [len(request.requests) for request in called(server, "BatchUpdateDataObjects")] == [1]
    assert index.count() == len(CHUNKS)
    index.close()


def test_a_quota_that_is_used_up_is_waited_for(server: VertexServer) -> None:
    """The block is written again a second later; where the time is over, the error says so and may be retried."""
    server.faults["BatchCreateDataObjects"] = "RESOURCE_EXHAUSTED"

    with pytest.raises(StackError, match="quota") as raised:
        built(server, wait_s=2)
    assert raised.value.retryable
    assert len(called(server, "BatchCreateDataObjects")) == 2


def test_what_is_not_counted_afterwards_is_missed(server: VertexServer) -> None:
    """A service that accepts and loses data objects is no index."""

    def lose(reply: Any) -> Any:
        next(iter(server.memory.objects.values())).popitem()
        return reply

    server.faults["BatchCreateDataObjects"] = lose
    with pytest.raises(StackError, match="holds 11 of 12 chunks after indexing"):
        built(server)


def test_an_operation_that_takes_too_long_goes_on_at_the_service(server: VertexServer, transport: str) -> None:
    """The error says that it goes on; the next build finds it."""
    server.methods.polls = 1000
    with pytest.raises(StackError, match="took more than wait_s = 1 s; it goes on") as raised:
        built(server, transport=transport)
    assert raised.value.retryable


def test_an_operation_that_fails_is_an_error(server: VertexServer, transport: str) -> None:
    """With the service's words."""

    def fail(reply: Any) -> Any:
        reply.done = True
        reply.error.code, reply.error.message = 9, "the project may have no more collections"
        return reply

    server.faults["GetOperation"] = fail
    with pytest.raises(StackError, match=r"no more collections \(code 9\)"):
        built(server, transport=transport)


def test_a_collection_of_somebody_elses_is_refused(server: VertexServer) -> None:
    """It is neither searched nor written to."""
    path = f"{PARENT}/collections/theirs"
    server.memory.collections[path] = api.Collection(name=path, labels={"team": "search"})
    server.memory.objects[path] = {}
    with pytest.raises(StackError, match="holds no index of ragassay's"):
        built(server, collection="theirs")
    assert server.memory.objects[path] == {}


def test_a_collection_of_another_dimension_is_refused(server: VertexServer) -> None:
    """The digest tells them apart before anything is written."""
    built(server, collection="mine").close()
    with pytest.raises(StackError, match="another corpus, embedder or setting"):
        built(server, collection="mine", dimension=32)


def test_the_other_collections_are_named(server: VertexServer, transport: str) -> None:
    """Those of this library, under whatever name, over several pages; not somebody else's."""
    server.methods.page = 1
    foreign = f"{PARENT}/collections/theirs"
    server.memory.collections[foreign] = api.Collection(name=foreign)
    built(server, collection="by-hand", mode="text").close()
    built(server, mode="text").close()
    index = built(server, transport=transport)
    assert index.stored is not None
    assert [name.partition("-")[0] for name in index.stored.others] == ["by", "ragassay"]
    assert index.stored.name.startswith("ragassay-")
    index.close()


def test_modes_with_the_same_contents_share_a_collection(server: VertexServer) -> None:
    """How a question is asked makes no second copy; what is held does."""
    one, two = built(server, mode="vector"), built(server, mode="combined", combine="vector+text")
    three = built(server, mode="semantic", dimensions=64)
    names = [index.stored and index.stored.name for index in (one, two, three)]
    assert names[0] == names[1] != names[2]
    for index in (one, two, three):
        index.close()


def test_the_service_embeds_what_the_board_says(server: VertexServer) -> None:
    """Model, dimensions and both task types go to the service and into the record."""
    tasks: dict[str, Any] = {"document_task": "SEMANTIC_SIMILARITY", "query_task": "QUESTION_ANSWERING"}
    index = built(server, mode="semantic", model="text-embedding-005", dimensions=64, **tasks)
    index.search(QUESTION, 1)
    schema = called(server, "CreateCollection")[0].collection.vector_schema["semantic"].dense_vector
    config = schema.vertex_embedding_config
    assert (config.model_id, config.task_type.name, schema.dimensions, config.text_template) == (
        "text-embedding-005",
        "SEMANTIC_SIMILARITY",
        64,
        "{text}",
    )
    assert called(server, "SearchDataObjects")[-1].semantic_search.task_type.name == "QUESTION_ANSWERING"
    assert index.describe()["semantic"] == {"model": "text-embedding-005", "dimensions": 64, **tasks}
    index.close()


def test_an_index_is_built_once_and_held_to_its_metric(server: VertexServer) -> None:
    """A second row uses it; one that wants another metric under that name is refused."""
    for _ in range(2):
        built(server, index="by-scann").close()
    assert len(called(server, "CreateIndex")) == 1
    with pytest.raises(StackError, match="name another index"):
        built(server, index="by-scann", metric="dot")


def test_a_wrong_token_is_refused_and_stands_in_no_error(transport: str) -> None:
    """Although the server repeats it."""
    with serving(token="right") as server:
        with pytest.raises(StackError, match="check the access token") as raised:
            built(server, transport=transport, key=Secret("ya29.wrong-token"))
        assert "wrong-token" not in str(raised.value)
        assert raised.value.retryable is False
        with pytest.raises(StackError, match="access token"):
            built(server, transport=transport)
        built(server, transport=transport, key=Secret("right")).close()


def test_a_slow_service_is_an_error_in_time(server: VertexServer, transport: str) -> None:
    """After `timeout_s`."""
    server.delay_s = 30
    with pytest.raises(StackError, match="could not read the collection") as raised:
        built(server, transport=transport, timeout_s=1)
    assert raised.value.retryable
    server.delay_s = 0
