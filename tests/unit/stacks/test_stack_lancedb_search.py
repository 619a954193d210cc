"""LanceDB: what each metric, each index, the full-text search and the fusion return, and what is recorded of them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("lancedb", reason="pip install 'ragassay[lancedb]'")

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.lancedb import LanceDB
from ragassay.plugins.stacks.lancedb.search import best
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import JSON, Chunk
from ragassay.testing.stack_contract import corpus, ignore_progress

INDEXES = ("ivf_flat", "ivf_pq", "ivf_hnsw_flat", "ivf_hnsw_sq", "ivf_hnsw_pq")


class Rows:
    """Gives each text the row that its number names; "q3" is the third question."""

    def __init__(self, rows: NDArray[np.float32], questions: NDArray[np.float32]) -> None:
        self._tables = {"d": rows.astype(np.float32), "q": questions.astype(np.float32)}

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return the rows."""
        return np.stack([self._tables[text[0]][int(text[1:])] for text in texts])

    def describe(self) -> JSON:
        """Return what the rows are."""
        return {"kind": "rows"}


def random(*shape: int, seed: int = 7) -> NDArray[np.float32]:
    """Return vectors that are not of unit length."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def numbered(count: int) -> list[Chunk]:
    """Return chunks whose texts are d0, d1 and so on."""
    return corpus([f"d{at}" for at in range(count)])


def built(rows: NDArray[np.float32], questions: NDArray[np.float32], **params: Any) -> VectorIndex:
    """Return the stack over `rows`."""
    return LanceDB(**params).build(numbered(len(rows)), {"embedder": Rows(rows, questions)}, ignore_progress)


def words(texts: Sequence[str], **params: Any) -> VectorIndex:
    """Return the stack over texts, without an embedder."""
    return LanceDB(search="text", **params).build(corpus(texts), {}, ignore_progress)


def true_scores(metric: str, rows: NDArray[np.float32], question: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the score of every row as the page defines it, worked out here."""
    scores = rows @ question
    if metric == "l2":
        scores = -np.linalg.norm(rows - question, axis=1)
    elif metric == "cosine":
        scores = scores / np.linalg.norm(rows, axis=1) / np.linalg.norm(question)
    return np.asarray(scores, np.float32)


def test_flat_cosine_finds_what_dense_finds() -> None:
    """Over 3,000 vectors the best ten are the same for every question, and so are the scores to six digits."""
    rows, questions = random(3000, 32), random(20, 32, seed=8)
    index = built(rows, questions)
    dense = Dense().build(numbered(3000), {"embedder": Rows(rows, questions)}, ignore_progress)
    for at in range(len(questions)):
        mine, wanted = index.search(f"q{at}", 10), dense.search(f"q{at}", 10)
        assert [hit.chunk for hit in mine] == [hit.chunk for hit in wanted]
        assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in wanted], abs=1e-6)
    index.close()


@pytest.mark.parametrize("index", ["flat", *INDEXES])
@pytest.mark.parametrize("metric", ["cosine", "l2", "dot"])
def test_each_metric_scores_as_it_says_in_every_index(metric: str, index: str) -> None:
    """With refinement a score is the true one; a higher score is better."""
    rows, questions = random(300, 16), random(3, 16, seed=9)
    stack = built(rows, questions, metric=metric, index=index)
    for at, question in enumerate(questions):
        true = true_scores(metric, rows, question)
        hits = stack.search(f"q{at}", 10)
        places = [int(hit.chunk.removeprefix("page-").removesuffix(".md#0")) for hit in hits]
        assert [hit.score for hit in hits] == pytest.approx([float(true[place]) for place in places], abs=1e-4)
        assert len(set(places) & set(np.argsort(-true)[:10].tolist())) >= 8
    stack.close()


def test_without_refinement_a_cosine_is_still_near_the_cosine() -> None:
    """LanceDB returns twice the distance for the codes of a cosine index; half of it is close to the true one."""
    rows, questions = random(300, 16), random(3, 16, seed=9)
    stack = built(rows, questions, index="ivf_hnsw_sq", refine_factor=0)
    for at, question in enumerate(questions):
        true = true_scores("cosine", rows, question)
        for hit in stack.search(f"q{at}", 10):
            place = int(hit.chunk.removeprefix("page-").removesuffix(".md#0"))
            assert hit.score == pytest.approx(float(true[place]), abs=0.02)
    stack.close()


def test_an_index_is_asked_for_depth_candidates_and_gives_no_more() -> None:
    """A smaller k begins a larger one up to that number, and a k beyond it is an error."""
    index = built(random(600, 16), random(5, 16, seed=8), index="ivf_pq", depth=20)
    for at in range(5):
        found = index.search(f"q{at}", 20)
        assert all(index.search(f"q{at}", k) == found[:k] for k in (1, 5, 19))
    with pytest.raises(StackError, match="at most 20 hits, and 21 were asked for"):
        index.search("q0", 21)
    index.close()


@pytest.mark.parametrize("index", INDEXES)
def test_an_index_over_three_chunks_finds_three(index: str) -> None:
    """No corpus is too small for an index."""
    stack = built(random(3, 16), random(1, 16), index=index)
    assert len(stack.search("q0", 10)) == 3
    stack.close()


def test_a_build_that_fails_leaves_nothing_behind() -> None:
    """Codes of 5 parts cannot be made of 16 numbers: the engine's own words are passed on, and the folder is gone."""
    before = set(Path(tempfile.gettempdir()).glob("ragassay-lancedb-*"))
    with pytest.raises(StackError, match="lancedb could not finish the index") as raised:
        built(random(300, 16), random(1, 16), index="ivf_pq", sub_vectors=5)
    assert not raised.value.retryable
    assert set(Path(tempfile.gettempdir()).glob("ragassay-lancedb-*")) <= before


def test_text_search_needs_no_embedder_and_ranks_by_shared_words() -> None:
    """A rare word weighs more than a frequent one, a stem counts, and a chunk that shares none is no hit."""
    index = words(["the cache of the tool", "cached wheels are kept", "nothing of the kind", "the tool the tool"])
    hits = index.search("caching wheels", 4)
    assert [hit.chunk for hit in hits] == ["page-1.md#0", "page-0.md#0"]
    assert hits[0].score > hits[1].score > 0
    assert index.search("the of", 4) == []
    assert index.describe().keys() == {"kind", "search", "text", "lancedb"}
    index.close()


def test_without_stemming_and_stop_words_words_are_taken_as_they_are() -> None:
    """The settings of the full-text index reach the engine."""
    plain = words(["caches", "the cache", "Café"], stem=False, stop_words=False, ascii_folding=False)
    assert [hit.chunk for hit in plain.search("the", 3)] == ["page-1.md#0"]
    assert [hit.chunk for hit in plain.search("cache", 3)] == ["page-1.md#0"]
    assert plain.search("cafe", 3) == []
    plain.close()
    folded = words(["caches", "the cache", "Café"])
    assert [hit.chunk for hit in folded.search("cafe", 3)] == ["page-2.md#0"]
    folded.close()


def test_a_question_is_words_and_never_a_query_language() -> None:
    """Quotes, operators and brackets are searched for as text, and break nothing."""
    index = words(["alpha beta", "gamma"])
    for question in ('"alpha beta', "alpha AND (", "alpha^2 -beta", "text:alpha", "+alpha*"):
        assert index.search(question, 2)[0].chunk == "page-0.md#0"
    index.close()


def test_the_fusion_is_reciprocal_rank_fusion_of_both_lists() -> None:
    """Scores are the sums of 1/(k + rank) in the two lists, worked out here."""
    rows, questions = random(30, 8), random(1, 8, seed=9)
    chunks = corpus([f"d{at} {'apple ' * (at % 4)}" for at in range(30)])
    known = {chunk.text: row for chunk, row in zip(chunks, rows, strict=True)}

    class Known(Rows):
        def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
            return np.stack([known.get(text, questions[0]) for text in texts])

    parts = {"embedder": Known(rows, questions)}
    ranks = []
    for search in ("vector", "text"):
        leg = LanceDB(search=search).build(chunks, parts, ignore_progress)
        ranks.append({hit.chunk: rank for rank, hit in enumerate(leg.search("apple", 10), 1)})
        leg.close()
    fused = LanceDB(search="hybrid", depth=10, rrf_k=7).build(chunks, parts, ignore_progress)
    wanted = {
        chunk: sum(1 / (7 + places[chunk]) for places in ranks if chunk in places) for chunk in {*ranks[0], *ranks[1]}
    }
    hits = fused.search("apple", 30)
    assert {hit.chunk: hit.score for hit in hits} == pytest.approx(wanted, abs=1e-6)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert fused.describe()["fusion"] == {"method": "rrf", "k": 7}
    fused.close()


def test_equal_scores_at_the_end_of_a_list_are_not_cut() -> None:
    """Whatever of them the engine gives first, those that stand first in the corpus are kept."""
    scores = {at: 1.0 if at < 2 else 0.5 for at in range(100)}
    asked = []

    def ask(limit: int) -> list[tuple[int, float]]:
        asked.append(limit)
        return sorted(scores.items(), key=lambda one: (-one[1], -one[0]))[:limit]

    assert best(ask, 4, more=True) == [(0, 1.0), (1, 1.0), (2, 0.5), (3, 0.5)]
    assert asked[-1] > 100


def test_all_wrong_parameters_are_named_at_once() -> None:
    """Each with what it may be."""
    with pytest.raises(InputError) as raised:
        LanceDB(search="words", metric="ip", index="hnsw", bits=9, depth=0, language="Latin", typo=1)
    said = "\n".join(raised.value.problems)
    for name in ("search", "metric", "index", "bits", "depth", "language", "unknown parameter 'typo'"):
        assert name in said


def test_parameters_that_do_not_go_together_are_named() -> None:
    """A table needs a folder, a graph at least as many candidates as hits, and a code 4 or 8 bits."""
    with pytest.raises(InputError) as raised:
        LanceDB(table="../x", index="ivf_hnsw_sq", ef=10, bits=5)
    assert [problem.split(" ")[0] for problem in raised.value.problems] == ["table", "table", "bits", "ef"]


def test_what_is_recorded_is_what_has_an_effect() -> None:
    """A flat row has no number of a graph, and a folder is not recorded."""
    flat = built(random(4, 8), random(1, 8))
    assert flat.describe()["index"] == {"kind": "flat"}
    assert "depth" not in flat.describe()
    flat.close()
    graph = built(random(300, 8), random(1, 8), index="ivf_hnsw_pq", sub_vectors=4)
    assert set(graph.describe()["index"]) == {
        *("kind", "partitions", "sub_vectors", "bits", "m", "ef_construction", "nprobes", "refine_factor", "ef")
    }
    graph.close()
