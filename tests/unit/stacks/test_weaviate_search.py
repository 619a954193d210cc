"""`weaviate` searches its stand-in: what a score means, what is asked, and what an answer must not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("weaviate", reason="pip install 'ragassay[weaviate]'")

from weaviate_stand_in import KEY, NAME, QUESTION, built, changed, failed, searches, stack

from ragassay.errors import StackError
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.weaviate.store import id_of, position_of
from ragassay.testing.fake_embedder import TableEmbedder, WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress
from ragassay.testing.weaviate_server import WeaviateServer


@pytest.fixture
def server() -> Iterator[WeaviateServer]:
    """Give a stand-in of its own."""
    with WeaviateServer(key=KEY) as running:
        yield running


def _rename(reply: Any, id: UUID) -> None:
    reply.results[0].metadata.id_as_bytes = id.bytes


def _turned(reply: Any) -> None:
    ordered = list(reply.results)
    reply.ClearField("results")
    reply.results.extend(reversed(ordered))


def _unscored(reply: Any) -> None:
    reply.results[2].metadata.distance_present = False


def test_the_ids_of_objects_say_the_position() -> None:
    """Each is a UUID of version 8, and nobody else's id is taken for a position."""
    assert str(id_of(10)) == "72616761-7373-8179-8000-00000000000a"
    assert id_of(2**40).version == 8
    assert position_of(id_of(12345)) == 12345
    assert position_of(UUID("a6c3f3ba-0e2c-4ad6-8f6f-6f1b8ff5a0c1")) is None


@pytest.mark.parametrize(("metric", "expected"), [("cosine", 0.6), ("dot", 1.2), ("l2-squared", -2.6)])
def test_a_score_is_the_distance_undone(server: WeaviateServer, metric: str, expected: float) -> None:
    """1 minus the cosine distance, minus the negative product, minus the squared distance: higher is better."""
    table = TableEmbedder({"a page": [1.2, 1.6], "a question": [1.0, 0.0]})
    with built(server, ["a page"], table, metric=metric) as retriever:
        assert retriever.search("a question", 1)[0].score == pytest.approx(expected)


def test_a_flat_cosine_agrees_with_dense(server: WeaviateServer) -> None:
    """The same chunks in the same order, and scores equal to six digits."""
    dense = Dense().build(corpus(), {"embedder": WordEmbedder()}, ignore_progress)
    with built(server) as retriever:
        for question in (QUESTION, "alpha beta gamma", "retries"):
            mine, theirs = retriever.search(question, 5), dense.search(question, 5)
            assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in theirs], abs=1e-6)
            assert mine[0].chunk == theirs[0].chunk
    dense.close()


def test_words_alone_need_no_embedder(server: WeaviateServer) -> None:
    """BM25 finds what `bm25` finds, asks for no vector and records no embedder."""
    own = BM25().build(corpus(), {}, ignore_progress)
    retriever = stack(server, search="text").build(corpus(), {}, ignore_progress)
    assert retriever.search("the quick fox", 1)[0].chunk == own.search("the quick fox", 1)[0].chunk
    assert "embedder" not in retriever.describe()
    assert not server.collections[NAME].vectors
    assert retriever.search("?! 🦊", 3) == []
    assert retriever.search("the and of", 3) == []
    assert server.calls["Search"] == 2  # a question without a letter is not asked
    retriever.close()


def test_a_fusion_asks_for_the_same_depth_whatever_k_is(server: WeaviateServer) -> None:
    """For the server scales scores over what it was asked for; more hits than that are not promised."""
    asked = searches(server)
    with built(server, search="hybrid", depth=7) as retriever:
        assert len(retriever.search(QUESTION, 1)) == 1
        assert len(retriever.search(QUESTION, 7)) == 7
        with pytest.raises(StackError, match="at most 7 hits, and 8 were asked for"):
            retriever.search(QUESTION, 8)
    assert {one.limit for one in asked} == {7}


def test_a_half_without_anything_to_ask_has_no_weight(server: WeaviateServer) -> None:
    """A question without a word is searched by vector alone, one without a vector by words alone."""
    asked = searches(server)
    table = TableEmbedder({"a fox": [1, 0], "the fox": [0, 1], "fox?": [0, 0], "?!": [0, 2], " ": [0, 0]})
    with built(server, ["a fox"], table, search="hybrid", alpha="0.25") as retriever:
        for question in ("the fox", "fox?", "?!"):
            assert retriever.search(question, 1)
        assert retriever.search(" ", 1) == []
    sent = [one.hybrid_search for one in asked]
    assert [(one.alpha_param, one.query) for one in sent] == [(0.25, "the fox"), (0.0, "fox?"), (1.0, "")]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda reply: reply.results.pop(), "returned 11 objects, and there are 12"),
        (lambda reply: reply.results.append(reply.results[0]), "same object twice"),
        (lambda reply: _rename(reply, UUID(int=7)), "did not put into the collection"),
        (lambda reply: _rename(reply, id_of(99)), "did not put into the collection"),
        (_unscored, "without its score"),
        (_turned, "lists a worse object first"),
    ],
)
def test_an_answer_that_cannot_be_right(server: WeaviateServer, edit: Callable[[Any], None], said: str) -> None:
    """Is an error, never fewer or other hits."""
    with built(server) as retriever:
        server.grpc_faults["Search"] = changed(edit)
        assert said in str(failed(retriever))


def test_an_empty_answer_of_a_graph_is_an_error(server: WeaviateServer) -> None:
    """A graph may leave objects out, but not all of them."""
    with built(server, index="hnsw") as retriever:
        server.grpc_faults["Search"] = changed(lambda reply: reply.ClearField("results"))
        assert failed(retriever).retryable
