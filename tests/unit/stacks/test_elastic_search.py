"""What `elasticsearch` and `opensearch` find: the metric itself as score, BM25, and both fused; their parameters."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("elasticsearch", reason="pip install 'ragassay[elasticsearch]'")
pytest.importorskip("opensearchpy", reason="pip install 'ragassay[opensearch]'")

from elastic_stand_in import GRAPH, KINDS, MANY, built, kind_of, serving

from ragassay import plugins
from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.fusing import fused
from ragassay.records import JSON, Secret
from ragassay.testing.elastic_server import ElasticServer
from ragassay.testing.fake_embedder import TableEmbedder, WordEmbedder
from ragassay.testing.stack_contract import LONG_QUESTION, corpus, ignore_progress

WORDS = [f"word{at}" for at in range(60)]


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[ElasticServer]:
    """Give a server of each kind."""
    with serving(request.param) as server:
        yield server


def drawn(count: int = 40) -> Any:
    """Return chunks of drawn words."""
    draw = random.Random(7)
    return corpus([" ".join(draw.choices(WORDS, k=5 + at)) for at in range(count)])


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("metric", ["cosine", "dot", "l2"])
def test_a_score_is_the_metric_itself(server: ElasticServer, metric: str, exact: bool) -> None:
    """The services' transforms are undone, for vectors that point away and for far ones too."""
    rows = {"a": [3.0, 0.0], "b": [-2.0, 1.0], "c": [0.0, 0.25], "d": [40.0, -30.0], "q": [1.0, 2.0]}
    retriever = built(server, corpus(["a", "b", "c", "d"]), embedder=TableEmbedder(rows), metric=metric, exact=exact)
    found = {hit.chunk.removeprefix("page-")[0]: hit.score for hit in retriever.search("q", 4)}
    query = np.array(rows["q"])
    for at, name in enumerate("abcd"):
        row = np.array(rows[name])
        expected = {
            "cosine": row @ query / np.linalg.norm(row) / np.linalg.norm(query),
            "dot": row @ query,
            "l2": -np.linalg.norm(row - query),
        }[metric]
        assert found[str(at)] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    retriever.close()


def test_exact_cosines_are_those_of_dense(server: ElasticServer) -> None:
    """The same chunks in the same order as the stack in memory, scores within the rounding of 32 bits."""
    chunks, embedder = drawn(), WordEmbedder()
    here = Dense().build(chunks, {"embedder": embedder}, ignore_progress)
    there = built(server, chunks)
    for question in ("word1 word2 word3", "word9 word40 elsewhere", "word7"):
        ours, theirs = here.search(question, 10), there.search(question, 10)
        assert [hit.chunk for hit in theirs] == [hit.chunk for hit in ours]
        assert [hit.score for hit in theirs] == pytest.approx([hit.score for hit in ours], abs=1e-6)
    there.close()


def test_words_are_scored_by_bm25(server: ElasticServer) -> None:
    """With k1 and b as the row sets them; the server is asked without a vector."""
    chunks = drawn()
    here = BM25(k1="1.6", b="0.4", stopwords="none").build(chunks, {}, ignore_progress)
    there = built(server, chunks, search="text", k1="1.6", b="0.4")
    ours, theirs = here.search("word1 word2 word2", 10), there.search("word1 word2 word2", 10)
    assert [hit.chunk for hit in theirs] == [hit.chunk for hit in ours]
    assert [hit.score for hit in theirs] == pytest.approx([hit.score for hit in ours], rel=1e-5)
    assert "embedder" not in there.describe()
    assert there.search("elsewhere", 3) == []
    there.close()


def test_a_long_question_scores_as_a_short_one_would(server: ElasticServer) -> None:
    """Every word is sent once, with its count: a query takes 1,024 clauses; more different words are an error."""
    retriever = built(server, search="text")
    long, short = retriever.search(LONG_QUESTION, 5), retriever.search(LONG_QUESTION[:900], 5)
    assert [hit.chunk for hit in long] == [hit.chunk for hit in short]
    assert server.count("analyze") == 1
    ratio = long[0].score / short[0].score
    assert [hit.score for hit in long] == pytest.approx([ratio * hit.score for hit in short], rel=1e-2)
    assert retriever.search(" " * 2000, 3) == []
    with pytest.raises(StackError, match="holds 1025 different words, and a query takes 1024"):
        retriever.search(" ".join(f"word{at}" for at in range(1025)), 3)
    retriever.close()


@pytest.mark.parametrize("exact", [True, False])
def test_both_lists_are_fused_by_their_ranks(server: ElasticServer, exact: bool) -> None:
    """The best `depth` of either list, whatever k is; the same as fused by hand."""
    chunks = drawn()
    params: JSON = {"exact": exact, "metric": "dot"}
    near, words = built(server, chunks, **params), built(server, chunks, search="text")
    both = built(server, chunks, search="hybrid", depth=6, rrf_k=20, **params)
    question = "word1 word2 word3"
    expected = fused([near.search(question, 6), words.search(question, 6)], depth=6, rrf_k=20)
    found = both.search(question, 20)
    assert {hit.chunk: hit.score for hit in found} == pytest.approx({hit.chunk: hit.score for hit in expected})
    assert both.search(question, 3) == found[:3]
    assert [hit.chunk for hit in both.search("elsewhere", 3)] == [hit.chunk for hit in near.search("elsewhere", 3)]
    for one in (near, words, both):
        one.close()


def test_a_graph_is_always_asked_for_as_many_candidates(server: ElasticServer) -> None:
    """So that fewer hits begin more; what it cannot return is an error and not fewer."""
    candidates = GRAPH[kind_of(server)]
    params: JSON = {"exact": False, candidates: 40}
    retriever = built(server, MANY, **params)
    few, more = retriever.search("number of many", 3), retriever.search("number of many", 16)
    assert few == more[:3]
    asked = [request.raw for operation, request in server.asked if operation == "search"]
    assert all(b'"k":40' in raw for raw in asked)
    with pytest.raises(StackError, match="returns at most 40 hits, and 41 were asked for"):
        retriever.search("number", 41)
    assert retriever.describe()["hnsw"][candidates] == 40
    retriever.close()


def test_rows_that_search_differently_share_one_index(server: ElasticServer) -> None:
    """What shapes the index makes it another; what only searches does not."""
    names = []
    searches: tuple[JSON, ...] = ({}, {GRAPH[kind_of(server)]: 50}, {"m": 8})
    for params in searches:
        retriever = built(server, exact=False, **params)
        names.append(retriever.stored.name)
        retriever.close()
    assert names[0] == names[1] != names[2]


def test_vectors_of_zeros(server: ElasticServer) -> None:
    """Have no cosine, and are left out of such an index; a question of zeros finds nothing there."""
    chunks = corpus(["fox", "   ", "dog"])
    cosine, far = built(server, chunks), built(server, chunks, metric="l2")
    assert len(cosine.search("fox", 3)) == 2
    assert cosine.search("   ", 3) == []
    assert cosine.count() == 3
    assert far.search("   ", 3)[0].chunk == chunks[1].id
    assert "zero_vectors_left_out" not in far.describe()
    assert (cosine.left_out, far.left_out) == ({chunks[1].id}, frozenset())
    cosine.close()
    far.close()


def test_a_vector_that_is_too_long(server: ElasticServer) -> None:
    """Is refused before anything is made on the server."""
    with pytest.raises(
        InputError, match=r"holds vectors of at most (4096|16000) numbers, and the embedder gives 16001"
    ):
        built(server, embedder=WordEmbedder(dimension=16_001))
    assert server.asked == []


def test_an_unknown_analyzer(server: ElasticServer) -> None:
    """Is the server's to refuse, by name."""
    with pytest.raises(StackError, match=r"analyzer \[klingon\] has not been configured"):
        built(server, search="text", analyzer="klingon")


@pytest.mark.parametrize("kind", KINDS)
def test_parameters(kind: str) -> None:
    """All problems at once; a value that may be a key is not repeated."""
    stack, secret = plugins.load("stacks", kind), "hunter2-hunter2"
    with pytest.raises(InputError) as caught:
        stack(url=f"http://user:{secret}@host", key_env=f"{secret}!", user=f"{secret}:x", index="A/b", timeout_s=56)
    assert len(caught.value.problems) == 5
    assert secret not in str(caught.value)
    with pytest.raises(InputError, match=r"url must be an http or https address such as https://search\.example:9200"):
        stack()
    with pytest.raises(InputError, match="ca_certs needs a url that begins with https"):
        stack(url="http://host", ca_certs="ca.pem")
    with pytest.raises(InputError, match="user needs key_env"):
        stack(url="http://host", user="reader")
    with pytest.raises(InputError, match=f"{GRAPH[kind]} = 20 must be at least depth = 50"):
        stack(url="http://host", search="hybrid", exact=False, **{GRAPH[kind]: 20})
    others: dict[str, JSON] = {"elasticsearch": {"engine": "faiss"}, "opensearch": {"num_candidates": 5}}
    with pytest.raises(InputError, match="unknown parameter"):
        stack(url="http://host", **others[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_that_are_not_there(kind: str, tmp_path: Path) -> None:
    """`ca_certs` is a path beside the board."""
    stack = plugins.load("stacks", kind)(url="https://127.0.0.1:1", ca_certs="ca.pem", key=Secret("k"))
    with pytest.raises(InputError, match=r"ca_certs names no file: ca\.pem"):
        stack.build(corpus(), {"embedder": WordEmbedder(), "folder": tmp_path}, ignore_progress)
    (tmp_path / "ca.pem").write_text("no certificate")
    with pytest.raises(StackError, match="could not say its version"):
        stack.build(corpus(), {"embedder": WordEmbedder(), "folder": tmp_path}, ignore_progress)
