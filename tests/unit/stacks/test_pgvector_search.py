"""What a search in PostgreSQL returns: the cosines of `dense`, the other metrics, and two lists fused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from postgres_server import NEEDS, PostgresServer
from ragassay.errors import StackError
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Chunk
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import QUESTIONS, corpus, ignore_progress

pytest.importorskip("psycopg", reason=NEEDS)

from ragassay.plugins.stacks.pgvector import Pgvector
from ragassay.plugins.stacks.pgvector.search import fused

CHUNKS = corpus()


def built(postgres: PostgresServer, chunks: Sequence[Chunk] = CHUNKS, **params: Any) -> VectorIndex:
    """Return the stack built over chunks."""
    return Pgvector(url=postgres.url(), **params).build(chunks, {"embedder": WordEmbedder()}, ignore_progress)


def pages(retriever: VectorIndex, question: str, k: int = 12) -> list[int]:
    """Return the numbers of the pages that were found, best first."""
    return [int(hit.chunk.removeprefix("page-").removesuffix(".md#0")) for hit in retriever.search(question, k)]


def test_exact_cosine_is_what_dense_returns(postgres: PostgresServer) -> None:
    """Order and scores, ties and zero vectors included."""
    dense = Dense().build(CHUNKS, {"embedder": WordEmbedder()}, ignore_progress)
    retriever = built(postgres)
    for question in QUESTIONS:
        want, got = dense.search(question, 12), retriever.search(question, 12)
        assert [hit.chunk for hit in got] == [hit.chunk for hit in want]
        assert np.allclose([hit.score for hit in got], [hit.score for hit in want], atol=1e-6)
    retriever.close()


@pytest.mark.parametrize("metric", ["l2", "ip"])
def test_the_other_metrics_are_computed_by_hand(postgres: PostgresServer, metric: str) -> None:
    """A distance is negated; a higher score is better."""
    rows = WordEmbedder().embed([chunk.text for chunk in CHUNKS], "document").astype(np.float64)
    query = WordEmbedder().embed(["fox fox river"], "query")[0].astype(np.float64)
    want = -np.linalg.norm(rows - query, axis=1) if metric == "l2" else rows @ query
    retriever = built(postgres, metric=metric)
    hits = retriever.search("fox fox river", 12)
    assert [hit.score for hit in hits] == pytest.approx(sorted(want, reverse=True), rel=1e-6)
    assert pages(retriever, "fox fox river") == [int(at) for at in np.argsort(-want.astype(np.float32), kind="stable")]
    retriever.close()


def test_a_zero_vector_is_not_in_an_index_of_cosines(postgres: PostgresServer) -> None:
    """The blank page is found by comparing all, and not through the graph."""
    exact, graph = built(postgres), built(postgres, index="hnsw")
    assert set(pages(exact, "fox")) - set(pages(graph, "fox")) == {7}
    exact.close()
    graph.close()


def test_two_lists_are_fused_by_rank() -> None:
    """1 / (60 + rank) from each list, ties by position."""
    assert fused([[5, 2], [2, 9]], 60) == [(2, 1 / 62 + 1 / 61), (5, 1 / 61), (9, 1 / 62)]
    assert fused([[4], [1]], 0) == [(1, 1.0), (4, 1.0)]
    assert fused([[], []], 60) == []


TEXTS = (
    "The server retries three times.",
    "Caches are cleared with the command clear.",
    "A cached file is retried never.",
    "It's a path: C:\\temp\\x and o'clock.",
    "nothing \x00 here",
)


@pytest.mark.parametrize(
    ("params", "question", "found"),
    [
        ({}, "cache retry", [2, 1, 0]),
        ({"text_rank": "ts_rank_cd"}, "cache retry", [2, 1, 0]),
        ({"text_query": "all"}, "cache retry", [2]),
        ({"text_query": "all"}, "cache command retry", []),
        ({"text_query": "websearch"}, '"command clear" or path', [1, 3]),
        ({"text_query": "websearch"}, "cache -command", [2]),
        ({"text_config": "simple"}, "cache retry", []),
        ({"text_config": "simple"}, "Cached RETRIES", [0, 2]),
        ({}, "C:\\temp o'clock' | & ! ( :* '", [3]),
        ({}, "the of and", []),
        ({}, "here\x00", []),
    ],
)
def test_text_is_searched_as_its_parameters_say(
    postgres: PostgresServer, params: dict[str, Any], question: str, found: list[int]
) -> None:
    """With a question that is far from everything by vector, the text list stands alone."""

    class Nowhere(WordEmbedder):
        def embed(self, texts: Sequence[str], kind: Any) -> Any:
            return super().embed(texts, kind) * (kind == "document")

    parts = {"embedder": Nowhere()}
    retriever = Pgvector(url=postgres.url(), text=True, **params).build(corpus(TEXTS), parts, ignore_progress)
    assert sorted(pages(retriever, question)) == sorted(found)
    assert pages(retriever, question)[:1] == found[:1] or params.get("text_config") == "simple"
    retriever.close()


def test_the_fused_list_does_not_depend_on_k(postgres: PostgresServer) -> None:
    """Both lists are `depth` long, whatever k is, and a chunk in both comes first."""
    retriever = built(postgres, corpus(TEXTS), text=True, depth=2)
    everything = retriever.search("cached file", 12)
    assert everything[0].score == pytest.approx(2 / 61)
    assert [retriever.search("cached file", k) for k in (1, 2, 3)] == [everything[:k] for k in (1, 2, 3)]
    assert len(everything) <= 4
    retriever.close()


def test_a_text_configuration_that_the_server_lacks_is_an_error(postgres: PostgresServer) -> None:
    """Named by the server."""
    with pytest.raises(StackError, match="klingon"):
        built(postgres, text=True, text_config="klingon")


def test_what_can_change_a_result_is_recorded(postgres: PostgresServer) -> None:
    """Versions of both sides, the index with its parameters, the text search; no address, nothing that is not used."""
    retriever = built(postgres, index="hnsw", m=8, text=True, depth=10)
    found = retriever.describe()
    ask = "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'"
    ((server, extension),) = postgres.run(ask)
    assert found["index"] == {
        "method": "hnsw",
        "m": 8,
        "ef_construction": 64,
        "ef_search": 40,
        "iterative_scan": False,
    }
    assert found["text"] == {
        "config": "english",
        "query": "any",
        "rank": "ts_rank",
        "normalization": 0,
        "ctype": "C.UTF-8",
    }
    assert found["fusion"] == {"method": "reciprocal rank fusion", "depth": 10, "rrf_k": 60}
    assert (found["postgresql"], found["vector_extension"]) == (server, extension)
    assert {"psycopg", "libpq", "pgvector_python", "metric"} <= set(found)
    retriever.close()
    plain = built(postgres)
    assert plain.describe()["index"] == {"method": "exact"}
    assert not {"text", "fusion"} & set(plain.describe())
    assert "127.0.0.1" not in repr(plain.describe())
    plain.close()
