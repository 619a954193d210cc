"""What the lexical stack finds, on small corpora whose right answer is known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from ragassay.plugins.stacks.bm25 import BM25
from ragassay.records import Hit
from ragassay.testing.stack_contract import corpus, ignore_progress


def ids(hits: Sequence[Hit]) -> list[int]:
    """Return the numbers of the pages that were hit."""
    return [int(hit.chunk.removeprefix("page-").partition(".")[0]) for hit in hits]


def test_bm25_scores_are_those_of_the_formula() -> None:
    """Lucene's form: Σ ln(1 + (N - df + ½)/(df + ½)) · tf/(tf + k1·(1 - b + b·len/avg))."""
    chunks = corpus(["red red blue", "blue green", "green green green grey"])
    hits = BM25(stopwords="none", k1="1.2", b="0.5").build(chunks, {}, ignore_progress).search("red green", 5)
    average = 3.0

    def term(tf: int, df: int, length: int) -> float:
        return math.log(1 + (3 - df + 0.5) / (df + 0.5)) * tf / (tf + 1.2 * (0.5 + 0.5 * length / average))

    wanted = {0: term(2, 1, 3), 1: term(1, 2, 2), 2: term(3, 2, 4)}
    assert ids(hits) == sorted(wanted, key=lambda at: -wanted[at])
    assert {at: pytest.approx(wanted[at], rel=1e-5) for at in wanted} == dict(
        zip(ids(hits), [hit.score for hit in hits], strict=True)
    )


@pytest.mark.parametrize("method", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
def test_bm25_a_chunk_without_a_word_of_the_question_is_no_hit(method: str) -> None:
    """Neither with methods that give absent words a score."""
    chunks = corpus(["apple pear", "plum", "cherry", "fig", "grape"])
    assert ids(BM25(method=method).build(chunks, {}, ignore_progress).search("Apple?", 5)) == [0]


@pytest.mark.parametrize("question", ["", "   ", "?!", "the of and", "unheard"])
def test_bm25_a_question_without_a_known_word_finds_nothing(question: str) -> None:
    """That is an empty retrieval, not an error."""
    assert BM25().build(corpus(["the apple of one", "pear"]), {}, ignore_progress).search(question, 5) == []


def test_bm25_equal_chunks_keep_the_corpus_order() -> None:
    """Ties are decided by position, whatever k is."""
    index = BM25().build(corpus(["same words"] * 9), {}, ignore_progress)
    assert [ids(index.search("words", k)) for k in (1, 4, 9)] == [[0], [0, 1, 2, 3], list(range(9))]


def test_bm25_stopwords_are_dropped_on_both_sides() -> None:
    """English by default; a list of one's own, or none."""
    chunks = corpus(["the cat", "a dog"])
    assert ids(BM25().build(chunks, {}, ignore_progress).search("the", 5)) == []
    assert ids(BM25(stopwords="none").build(chunks, {}, ignore_progress).search("the", 5)) == [0]
    own = BM25(stopwords=["dog", "DOG"]).build(chunks, {}, ignore_progress)
    assert ids(own.search("The dog", 5)) == [0]
    assert own.describe()["stopwords"] == ["DOG", "dog"]
