"""What goes wrong between the stack `qdrant` and a server is an error that says what to do, over REST and gRPC."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("qdrant_client", reason="pip install 'ragassay[qdrant]'")

from qdrant_client.http import models

from ragassay.errors import InputError, PluginError, StackError
from ragassay.plugins.stacks.qdrant import Qdrant
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.qdrant_server import Fault, QdrantServer
from ragassay.testing.stack_contract import corpus, ignore_progress

KEY = "sk-0123456789abcdef"
BOTH = pytest.mark.parametrize("transport", ["rest", "grpc"])
MANY = corpus([f"text number {at} of many" for at in range(300)])


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    """Serve until the test ends."""
    with QdrantServer() as server:
        yield server


def build(server: QdrantServer, chunks: Any = None, dimension: int = 64, **params: Any) -> VectorIndex:
    """Return the stack built on the server."""
    stack = Qdrant(url=server.url, grpc_port=server.grpc_port, **params)
    parts = {"embedder": WordEmbedder(dimension=dimension)}
    return stack.build(corpus() if chunks is None else chunks, parts, ignore_progress)


@BOTH
def test_a_server_that_is_not_there(server: QdrantServer, transport: str) -> None:
    """Is retryable, and says what to start or to check."""
    server.stop()
    with pytest.raises(
        StackError, match=r"qdrant at 127\.0\.0\.1:\d+ could not say its version: .*start the server"
    ) as e:
        build(server, transport=transport)
    assert e.value.retryable


@BOTH
def test_a_server_that_goes_away_and_comes_back(server: QdrantServer, transport: str) -> None:
    """A search fails while it is away, never with an empty list, and works afterwards."""
    retriever = build(server, transport=transport)
    found = retriever.search("quick fox", 3)
    server.stop()
    with pytest.raises(StackError, match="could not search") as caught:
        retriever.search("quick fox", 3)
    assert caught.value.retryable
    server.start()
    deadline = time.monotonic() + 10  # gRPC waits a little before it connects again
    while time.monotonic() < deadline:
        try:
            assert retriever.search("quick fox", 3) == found
            break
        except StackError:
            time.sleep(0.2)
    else:
        pytest.fail("not reached again")
    retriever.close()


@BOTH
def test_a_wrong_key(transport: str) -> None:
    """Is refused, names `key_env`, is not retried, and stands in no message although the server repeats it."""
    with QdrantServer(api_key="another") as server:
        with pytest.raises(StackError, match="`key_env` names") as caught:
            build(server, transport=transport, key=Secret(KEY), key_env="QDRANT_KEY")
        assert not caught.value.retryable
        assert KEY not in str(caught.value)
        assert caught.value.__context__ is None


@BOTH
def test_a_right_key(transport: str) -> None:
    """Reaches the server over http without a warning, and is not recorded."""
    with QdrantServer(api_key=KEY) as server:
        retriever = build(server, transport=transport, key=Secret(KEY), key_env="QDRANT_KEY")
        assert retriever.search("quick fox", 1)
        assert KEY not in str(retriever.describe())
        retriever.close()


@BOTH
def test_a_slow_server(server: QdrantServer, transport: str) -> None:
    """Is given up after `timeout_s`, and may be asked again."""
    retriever = build(server, transport=transport, timeout_s=1)
    server.faults["query"] = Fault(delay_s=30)
    started = time.monotonic()
    with pytest.raises(StackError, match="raise timeout_s") as caught:
        retriever.search("quick fox", 3)
    assert caught.value.retryable
    assert time.monotonic() - started < 15
    retriever.close()


@pytest.mark.parametrize("kind", ["root", "query", "count", "upsert"])
def test_a_reply_that_is_cut(server: QdrantServer, kind: str) -> None:
    """Is an error wherever it happens."""
    server.faults[kind] = Fault(cut=True)
    with pytest.raises(StackError, match=r"qdrant at .* could not") as caught:
        build(server).search("quick fox", 3)
    assert caught.value.retryable


@pytest.mark.parametrize(("status", "again"), [(400, False), (403, False), (429, True), (500, True), (503, True)])
@BOTH
def test_errors_of_the_server(server: QdrantServer, transport: str, status: int, again: bool) -> None:
    """Are told with its words; asking again is advised only where it may help."""
    retriever = build(server, transport=transport)
    server.faults["query"] = Fault(status=status, said="the words of the server")
    with pytest.raises(StackError, match="the words of the server") as caught:
        retriever.search("quick fox", 3)
    assert caught.value.retryable is again
    retriever.close()


def test_a_partial_answer(server: QdrantServer) -> None:
    """Fewer points than asked for, of an exact search, are an error and not fewer hits."""
    retriever = build(server)
    server.service.lost = 1
    with pytest.raises(StackError, match="returned 11 of 12 points: a part of the index did not answer") as caught:
        retriever.search("quick fox", 12)
    assert caught.value.retryable
    retriever.close()


@BOTH
@pytest.mark.parametrize("strange", [999, "5c56c793-69f3-4fbf-87e6-c4bf54c28c26"])
def test_a_point_that_is_none_of_ours(server: QdrantServer, transport: str, strange: int | str) -> None:
    """Is an error, whether its id is a number or not."""
    retriever = build(server, transport=transport)
    server.service.strange_id = strange
    with pytest.raises(StackError, match=r"position 999|none of this index's"):
        retriever.search("quick fox", 3)
    retriever.close()


@BOTH
def test_a_collection_that_was_removed(server: QdrantServer, transport: str) -> None:
    """Is an error that says to build it again."""
    retriever = build(server, transport=transport)
    server.service.collections.popitem()[1].close()
    with pytest.raises(StackError, match="build the index again"):
        retriever.search("quick fox", 3)
    retriever.close()


def test_a_collection_of_another_dimension(server: QdrantServer) -> None:
    """Whose stamp was copied is refused: what it holds was read back."""
    build(server, collection="shared").close()
    held = server.service.collections["shared"]
    other = build(server, dimension=8)
    assert other.stored
    held._request.metadata = server.service.collections[other.stored.name].config().metadata
    other.close()
    with pytest.raises(StackError, match="'shared' was altered"):
        build(server, dimension=8, collection="shared")


@BOTH
def test_somebody_elses_collection(server: QdrantServer, transport: str) -> None:
    """Is never written to."""
    vectors = {"dense": models.VectorParams(size=64, distance=models.Distance.COSINE)}
    server.service.create("theirs", models.CreateCollection(vectors=vectors))
    with pytest.raises(StackError, match="'theirs' holds no index of ragassay's"):
        build(server, transport=transport, collection="theirs")
    build(server, transport=transport, collection="ours").close()
    with pytest.raises(StackError, match="'ours' holds another corpus, embedder or setting"):
        build(server, MANY, transport=transport, collection="ours")
    assert server.service.count("theirs").count == 0
    assert server.service.count("ours").count == 12


@BOTH
def test_an_index_is_used_again(server: QdrantServer, transport: str) -> None:
    """And what else of ragassay's is on the server is told; what only searches differently shares it."""
    first = build(server, exact=False, transport=transport)
    other = build(server, MANY, transport=transport)
    again = build(server, exact=False, ef=64, transport=transport)
    assert first.stored
    assert other.stored
    assert again.stored
    assert (first.stored.reused, other.stored.reused, again.stored.reused) == (False, False, True)
    assert again.stored.name == first.stored.name
    assert again.stored.others == (other.stored.name,)
    assert again.count() == 12
    for one in (first, other, again):
        one.close()


@BOTH
def test_an_interrupted_build_is_continued(server: QdrantServer, transport: str) -> None:
    """Written again from the start, under the same name, and whole afterwards."""
    server.faults["upsert"] = Fault(after=1, status=503)
    with pytest.raises(StackError, match="write points"):
        build(server, MANY, transport=transport)
    (name,) = server.service.collections
    assert server.service.count(name).count == 128
    server.faults.clear()
    retriever = build(server, MANY, transport=transport)
    assert retriever.stored
    assert (retriever.stored.name, retriever.stored.reused, retriever.count()) == (name, False, 300)
    retriever.close()


def test_writing_that_is_not_finished(server: QdrantServer) -> None:
    """A server that stops waiting for its own write has not written."""
    server.service.written = models.UpdateStatus.WAIT_TIMEOUT
    with pytest.raises(StackError, match="did not finish writing points: it says 'wait_timeout'") as caught:
        build(server)
    assert caught.value.retryable


@BOTH
def test_indexing_is_waited_for(server: QdrantServer, transport: str) -> None:
    """HNSW is searched when all is indexed; an exact search does not wait for it, but for hidden points."""
    server.service.status = models.CollectionStatus.YELLOW
    build(server, transport=transport).close()
    with pytest.raises(StackError, match="is yellow; ask again, or raise index_timeout_s") as caught:
        build(server, transport=transport, exact=False, index_timeout_s=1)
    assert caught.value.retryable
    server.service.deferred = 3
    with pytest.raises(StackError, match="after 1 s"):
        build(server, transport=transport, index_timeout_s=1)
    server.service.status = models.CollectionStatus.RED
    with pytest.raises(StackError, match=r"could not index the collection .*out of disk"):
        build(server, transport=transport)


@BOTH
def test_an_old_server_and_another_one(server: QdrantServer, transport: str) -> None:
    """One before 1.16 keeps no stamp; one that calls itself otherwise is none."""
    server.service.version = "1.15.5"
    with pytest.raises(StackError, match=r"version '1\.15\.5'.* use a newer server"):
        build(server, transport=transport)
    server.service.title = "milvus"
    with pytest.raises(StackError, match="is no Qdrant server: it calls itself 'milvus'"):
        build(server, transport=transport)


@BOTH
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"metric": "euclid"},
        {"fusion": "rrf", "depth": 20},
        {"fusion": "engine-rrf", "depth": 20},
        {"fusion": "engine-rrf", "rrf_k": 60, "depth": 20},
        {"exact": False, "quantization": "product", "oversampling": 100},
    ],
)
def test_server_and_embedded_engine_find_the_same(server: QdrantServer, transport: str, params: dict[str, Any]) -> None:
    """In every mode, over either protocol, where nothing ties."""
    drawn = random.Random(7)
    chunks = corpus([" ".join(drawn.choices([f"word{at}" for at in range(60)], k=5 + at)) for at in range(40)])
    here = Qdrant(**params).build(chunks, {"embedder": WordEmbedder()}, ignore_progress)
    there = build(server, chunks, transport=transport, **params)
    question = "word1 word2 word3 word3 elsewhere"
    expected = [hit.score for hit in here.search(question, 10)]
    assert [hit.score for hit in there.search(question, 10)] == pytest.approx(expected)
    assert [hit.chunk for hit in there.search(question, 3)] == [hit.chunk for hit in here.search(question, 3)]
    here.close()
    there.close()


def test_what_is_recorded(server: QdrantServer) -> None:
    """Versions of client and server and how they talk, no address."""
    retriever = build(server, transport="grpc")
    about = retriever.describe()
    assert about["server"] == {"version": "1.20.0", "transport": "grpc"}
    assert about["qdrant_client"]
    assert "127.0.0.1" not in str(about)
    retriever.close()


def test_parameters_of_a_server() -> None:
    """All problems at once; a value that may be a key is not repeated."""
    with pytest.raises(InputError) as caught:
        Qdrant(
            url=f"http://user:{KEY}@host", key_env=KEY, transport="http", grpc_port=0, timeout_s=56, collection="a/b"
        )
    assert len(caught.value.problems) == 6
    assert KEY not in str(caught.value.problems)
    for url in ("", 3, "localhost:6333", "http://h ost", "http://[", "http://host:0"):
        with pytest.raises(InputError, match="url must be the http or https address"):
            Qdrant(url=url)
    with pytest.raises(InputError, match="full_scan_threshold_kb must be at least 10 on a server"):
        Qdrant(url="http://127.0.0.1:6333", full_scan_threshold_kb=9)
    with pytest.raises(InputError, match="collection must be left out without url"):
        Qdrant(collection="docs")
    with pytest.raises(InputError, match='quantization must be "none" with exact = true'):
        Qdrant(quantization="int8")


def test_without_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded engine works; a server needs an extra, which is named."""
    monkeypatch.setattr("ragassay.plugins.stacks.qdrant.find_spec", lambda name: None)
    Qdrant()
    with pytest.raises(PluginError, match=r"pip install 'ragassay\[qdrant\]'"):
        Qdrant(url="http://127.0.0.1:6333")
