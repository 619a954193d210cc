"""Milvus as a server: filled on after a kill, what it must hold checked, its errors told apart, its key kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

pytest.importorskip("milvus_lite", reason="pip install 'ragassay[milvus]'")
pytest.importorskip("pymilvus", reason="pip install 'ragassay[milvus]'")

from milvus_server import LiteService, running_lite
from ragassay.errors import StackError
from ragassay.plugins.stacks.milvus import Milvus
from ragassay.plugins.stacks.milvus.client import pymilvus
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Chunk, Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress

KEY = "key-of-the-tests-0123456789"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiteService]:
    """One server over an empty folder."""
    service = LiteService(tmp_path / "data")
    yield service
    service.close()


def many(count: int) -> list[Chunk]:
    """Return as many chunks, all different."""
    return corpus([f"word{at} river fox number{at % 7}" for at in range(count)])


def build(url: str, chunks: list[Chunk], progress: Any = ignore_progress, **params: Any) -> VectorIndex:
    """Return the stack over the server."""
    return Milvus(url=url, **params).build(chunks, {"embedder": WordEmbedder()}, progress)


@pytest.mark.slow
def test_a_server_killed_while_it_is_filled_is_filled_on(tmp_path: Path) -> None:
    """The build fails, the next one after the restart writes what is missing, and finds what a whole one finds."""
    chunks = many(2_500)
    with running_lite(tmp_path / "data") as child:
        calls: list[Any] = []

        def kill(*at: int) -> None:
            calls.append(at)
            if len(calls) == 11:  # ten blocks are embedded, and one is stored
                child.kill()

        with pytest.raises(StackError, match="cannot be reached to write to the collection") as raised:
            build(child.url, chunks, kill, timeout_s=2)
        assert raised.value.retryable
        child.start()
        index = build(child.url, chunks)
        assert index.stored is not None
        assert not index.stored.reused
        assert index.count() == 2_500
        whole = Milvus().build(chunks, {"embedder": WordEmbedder()}, ignore_progress)
        for text in ("word7 river", "number3", "word2499"):
            assert index.search(text, 10) == whole.search(text, 10)
        whole.close()
        index.close()


def test_an_index_that_the_server_does_not_build_is_refused(server: LiteService) -> None:
    """Where Milvus Lite answers at the address, with those that it builds; nothing is left there."""
    with pytest.raises(StackError, match=r"'scann' is not built by Milvus Lite, which builds flat.*milvus_lite-"):
        build(server.url, many(3), index="scann")
    client = pymilvus.MilvusClient(server.url, dedicated=True)
    assert client.list_collections() == []
    client.close()


def test_a_flat_index_that_is_not_exact_is_refused(server: LiteService, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that approximates what it has not sealed returns a full list of other vectors."""
    from milvus_lite.index.brute_force import BruteForceIndex

    exact = BruteForceIndex.search

    def approximate(self: Any, queries: Any, top_k: int, *more: Any, **named: Any) -> Any:
        ids, far = exact(self, queries, top_k + 3, *more, **named)
        return ids[:, 3:], far[:, 3:]

    monkeypatch.setattr(BruteForceIndex, "search", approximate)
    with pytest.raises(StackError, match=r"differs by 0\.\d+ from the exact one"):
        build(server.url, many(200))


def test_fewer_hits_of_an_exact_search_are_an_error(server: LiteService) -> None:
    """Somebody deleted vectors while the row is asked."""
    index = build(server.url, many(20), collection="docs")
    client = pymilvus.MilvusClient(server.url, dedicated=True)
    client.delete("docs", filter="position < 15")
    client.close()
    with pytest.raises(StackError, match="milvus returned 5 of 18 vectors of an exact search"):
        index.search("river", 5)
    index.close()


def test_vectors_that_somebody_else_added_are_an_error(server: LiteService) -> None:
    """Positions that no chunk has, and a count that is too high when the collection is found again."""
    index = build(server.url, many(20), collection="docs")
    client = pymilvus.MilvusClient(server.url, dedicated=True)
    vector = WordEmbedder().embed(["river"], "document")[0]
    client.insert("docs", [{"position": 99, "vector": vector}])
    client.close()
    with pytest.raises(StackError, match="returned position 99, and the corpus has 20 chunks"):
        index.search("river", 1)
    with pytest.raises(StackError, match="'docs' holds 21 of 20 chunks after indexing"):
        build(server.url, many(20), collection="docs")
    index.close()


def test_a_collection_that_was_released_is_loaded_again(server: LiteService) -> None:
    """As after a restart of the server."""
    index = build(server.url, many(20), collection="docs")
    before = index.search("word3", 3)
    client = pymilvus.MilvusClient(server.url, dedicated=True)
    client.release_collection("docs")
    client.close()
    assert index.search("word3", 3) == before
    index.close()


def test_the_key_is_sent_and_stands_nowhere(server: LiteService) -> None:
    """As a Milvus server reads it; a wrong one is refused for good."""
    server.guard.key = KEY
    index = Milvus(url=server.url, key=Secret(KEY)).build(many(3), {"embedder": WordEmbedder()}, ignore_progress)
    assert KEY not in f"{index.describe()} {index.stored}"
    index.close()
    with pytest.raises(StackError, match="refused to connect; check the key in the variable") as raised:
        Milvus(url=server.url, key=Secret("other-key")).build(many(3), {"embedder": WordEmbedder()}, ignore_progress)
    assert not raised.value.retryable
    assert "other-key" not in str(raised.value)


def test_an_unknown_database_is_an_error(server: LiteService) -> None:
    """In the server's words."""
    with pytest.raises(StackError, match=r"milvus at 127\.0\.0\.1:.*'nowhere' does not exist"):
        build(server.url, many(3), db="nowhere")


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (pymilvus.MilvusException(8, "rate limit exceeded"), True),
        (pymilvus.MilvusException(1, "no such metric"), False),
        (pymilvus.MilvusException(1, "moving", retriable=True), True),
        (pymilvus.MilvusException(101, "collection not loaded"), True),
        (pymilvus.MilvusException(grpc.StatusCode.UNKNOWN, f"with {KEY}"), False),
    ],
)
def test_failures_that_pass_are_told_from_those_that_do_not(
    server: LiteService, monkeypatch: pytest.MonkeyPatch, error: Exception, retryable: bool
) -> None:
    """By the numbers of Milvus, or what it says itself."""
    index = Milvus(url=server.url, key=Secret(KEY)).build(many(3), {"embedder": WordEmbedder()}, ignore_progress)

    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(pymilvus.MilvusClient, "search", fail)
    with pytest.raises(StackError, match=r"milvus at 127\.0\.0\.1:.* could not search") as raised:
        index.search("river", 1)
    assert raised.value.retryable is retryable
    assert KEY not in str(raised.value)
    index.close()
