"""Token weights beside vectors, and their fusion, in the embedded engine: what is computed, and what a tie does."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.qdrant import Qdrant
from ragassay.plugins.stacks.qdrant.tokens import TokenWeights
from ragassay.records import Chunk, Hit
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress

DRAWN = random.Random(7)
WORDS = [f"word{at}" for at in range(60)]
DISTINCT = [" ".join(DRAWN.choices(WORDS, k=5 + at)) for at in range(40)]
MANY = [" ".join(DRAWN.choices(WORDS, k=9)) for _ in range(400)]
"""More than the 256 codes that product quantisation has for one part of a vector."""

QUESTION = "word1 word2 word3 word3 elsewhere"


def searched(question: str, k: int, chunks: list[Chunk], **params: Any) -> list[Hit]:
    """Return what one built stack finds."""
    retriever = Qdrant(**params).build(chunks, {"embedder": WordEmbedder()}, ignore_progress)
    try:
        return retriever.search(question, k)
    finally:
        retriever.close()


def test_the_weight_of_a_token_is_that_of_bm25() -> None:
    """For one token of one text, computed by hand; a text without tokens has no weights."""
    weights = TokenWeights(["a a b", "b", " "], k1=1.5, b=0.75)
    saturation = 1.5 * (1 - 0.75 + 0.75 * 3 / (4 / 3))
    assert weights.rows[0] == ([0, 1], [2 / (2 + saturation), 1 / (1 + saturation)])
    assert weights.rows[2] is None
    assert weights.question("B b unknown") == ([1], [2.0])
    assert weights.question("unknown") is None


def test_the_engine_ranks_tokens_as_the_stack_bm25() -> None:
    """Where vectors say nothing, the fused list is BM25's: the engine's IDF times our weights is its formula."""
    chunks = corpus(DISTINCT)
    bm25 = BM25(stopwords="none").build(chunks, {}, ignore_progress).search(QUESTION, 40)

    class Mute(WordEmbedder):
        """Gives a zero vector for every question."""

        def embed(self, texts: Any, kind: Any) -> Any:
            return super().embed(texts, kind) * (0 if kind == "query" else 1)

    for fusion in ("rrf", "engine-rrf"):
        built = Qdrant(fusion=fusion).build(chunks, {"embedder": Mute()}, ignore_progress)
        found = built.search(QUESTION, 40)
        built.close()
        assert [hit.chunk for hit in found] == [hit.chunk for hit in bm25]
        assert found[0].score == pytest.approx(1 / 2)
        assert found[3].score == pytest.approx(1 / 5)


@pytest.mark.parametrize("rrf_k", [2, 60])
def test_both_fusions_agree_where_nothing_ties(rrf_k: int) -> None:
    """Fusing the two lists here gives the engine's own scores."""
    chunks = corpus(DISTINCT)
    ours, theirs = (
        {hit.chunk: hit.score for hit in searched(QUESTION, 20, chunks, fusion=fusion, rrf_k=rrf_k, depth=10)}
        for fusion in ("rrf", "engine-rrf")
    )
    assert ours == pytest.approx(theirs)


def test_the_score_is_the_sum_over_both_lists() -> None:
    """1 / (rrf_k + place) for each of the two lists, the place counted from 0."""
    chunks = corpus(DISTINCT)
    parts = {"embedder": WordEmbedder()}
    dense = [hit.chunk for hit in Dense().build(chunks, parts, ignore_progress).search(QUESTION, 5)]
    tokens = [hit.chunk for hit in BM25(stopwords="none").build(chunks, {}, ignore_progress).search(QUESTION, 5)]
    for hit in searched(QUESTION, 10, chunks, fusion="rrf", depth=5):
        shares = [1 / (2 + ranked.index(hit.chunk)) for ranked in (dense, tokens) if hit.chunk in ranked]
        assert math.isclose(hit.score, sum(shares), rel_tol=1e-6)


def test_equal_chunks_keep_their_order_in_every_build() -> None:
    """The engine puts equal scores in another order in each build; fused here, they stand in chunk order."""
    chunks = corpus(["alpha beta"] * 6 + ["gamma"] * 6)
    built = [searched("alpha gamma", 12, chunks, fusion="rrf", depth=4) for _ in range(4)]
    assert all(one == built[0] for one in built)
    assert [hit.chunk for hit in built[0][:2]] == ["page-6.md#0", "page-7.md#0"]


def test_an_approximate_search_is_a_prefix() -> None:
    """Codes that are compared again give the same best three for k = 3 and k = 8."""
    chunks = corpus(MANY)
    built = Qdrant(exact=False, full_scan_threshold_kb=1, quantization="binary", oversampling=1).build(
        chunks, {"embedder": WordEmbedder()}, ignore_progress
    )
    assert built.search(QUESTION, 3) == built.search(QUESTION, 8)[:3]
    built.close()


@pytest.mark.parametrize("quantization", ["int8", "binary", "product"])
def test_codes_alone_are_another_score(quantization: str) -> None:
    """Without comparing again, the score is that of the codes; with it, that of the vectors.

    All chunks are compared: the best few alone may be centroids of their codes, which the engine draws anew each time.
    """
    chunks = corpus(MANY)
    exact = searched(QUESTION, len(MANY), chunks)
    shared = {"exact": False, "full_scan_threshold_kb": 1, "quantization": quantization, "compression": "x64"}
    again = searched(QUESTION, 3, chunks, oversampling=100, **shared)
    assert [hit.score for hit in again] == pytest.approx([hit.score for hit in exact[:3]])
    codes = searched(QUESTION, len(MANY), chunks, rescore=False, **shared)
    assert [hit.score for hit in codes] != pytest.approx([hit.score for hit in exact])


def test_what_has_no_effect_is_not_recorded() -> None:
    """And what has one is."""
    plain = Qdrant().build([], {"embedder": WordEmbedder()}, ignore_progress).describe()
    assert not {"hnsw", "quantization", "fusion", "tokens", "depth", "server"} & set(plain)
    full = Qdrant(exact=False, quantization="product", fusion="rrf", rrf_k=60, depth=30)
    about = full.build([], {"embedder": WordEmbedder()}, ignore_progress).describe()
    assert about["hnsw"] == {"m": 16, "ef_construct": 100, "full_scan_threshold_kb": 10_000, "ef": 128}
    assert about["quantization"] == {"kind": "product", "compression": "x16", "rescore": True, "oversampling": "2"}
    assert about["fusion"] == {"kind": "rrf", "rrf_k": 60}
    assert (about["depth"], about["tokens"]["k1"], about["tokens"]["modifier"]) == (30, "1.5", "idf")
