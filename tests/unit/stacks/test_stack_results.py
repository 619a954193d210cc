"""What each stack finds, on small corpora whose right answer is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragassay import canon
from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.hybrid import Fusion, Hybrid
from ragassay.plugins.stacks.oracle import Oracle
from ragassay.plugins.stacks.qdrant import Qdrant
from ragassay.plugins.stacks.ranking import best, shortest
from ragassay.records import JSON, Chunk, Hit
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus


def quiet(done: int, total: int) -> None:
    """Take no notice of progress."""


def ids(hits: Sequence[Hit]) -> list[int]:
    """Return the numbers of the pages that were hit."""
    return [int(hit.chunk.removeprefix("page-").partition(".")[0]) for hit in hits]


class Table:
    """An embedder that looks texts up in a table."""

    def __init__(self, **rows: Sequence[float]) -> None:
        self.rows = rows

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return the texts' rows."""
        return np.array([self.rows[text] for text in texts], dtype=np.float32)

    def describe(self) -> JSON:
        """Return the kind."""
        return {"kind": "table"}


# --- bm25 -------------------------------------------------------------------------------------------------------


def test_bm25_scores_are_those_of_the_formula() -> None:
    """Lucene's form: Σ ln(1 + (N - df + ½)/(df + ½)) · tf/(tf + k1·(1 - b + b·len/avg))."""
    chunks = corpus(["red red blue", "blue green", "green green green grey"])
    hits = BM25(stopwords="none", k1="1.2", b="0.5").build(chunks, {}, quiet).search("red green", 5)
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
    assert ids(BM25(method=method).build(chunks, {}, quiet).search("Apple?", 5)) == [0]


@pytest.mark.parametrize("question", ["", "   ", "?!", "the of and", "unheard"])
def test_bm25_a_question_without_a_known_word_finds_nothing(question: str) -> None:
    """That is an empty retrieval, not an error."""
    assert BM25().build(corpus(["the apple of one", "pear"]), {}, quiet).search(question, 5) == []


def test_bm25_equal_chunks_keep_the_corpus_order() -> None:
    """Ties are decided by position, whatever k is."""
    index = BM25().build(corpus(["same words"] * 9), {}, quiet)
    assert [ids(index.search("words", k)) for k in (1, 4, 9)] == [[0], [0, 1, 2, 3], list(range(9))]


def test_bm25_stopwords_are_dropped_on_both_sides() -> None:
    """English by default; a list of one's own, or none."""
    chunks = corpus(["the cat", "a dog"])
    assert ids(BM25().build(chunks, {}, quiet).search("the", 5)) == []
    assert ids(BM25(stopwords="none").build(chunks, {}, quiet).search("the", 5)) == [0]
    own = BM25(stopwords=["dog", "DOG"]).build(chunks, {}, quiet)
    assert ids(own.search("The dog", 5)) == [0]
    assert own.describe()["stopwords"] == ["DOG", "dog"]


# --- dense ------------------------------------------------------------------------------------------------------


def test_dense_scores_are_cosines() -> None:
    """Length does not count, direction does."""
    embedder = Table(a=[10, 0], b=[0, 0.1], c=[3, 3], q=[2, 0])
    hits = Dense().build(corpus(["a", "b", "c"]), {"embedder": embedder}, quiet).search("q", 3)
    assert ids(hits) == [0, 2, 1]
    assert [hit.score for hit in hits] == pytest.approx([1, math.sqrt(0.5), 0], abs=1e-7)


def test_dense_equal_vectors_keep_the_corpus_order_in_any_corpus() -> None:
    """Equal rows have equal scores wherever they stand, so position decides."""
    rng = np.random.default_rng(7)
    rows = {f"t{at}": list(rng.standard_normal(48)) for at in range(301)}
    twins = [3, 64, 130, 257, 300]
    for at in twins:
        rows[f"t{at}"] = rows["t3"]
    embedder = Table(**rows, q=[value + 0.01 for value in rows["t3"]])
    index = Dense().build(corpus([f"t{at}" for at in range(301)]), {"embedder": embedder}, quiet)
    for k in (1, 2, 5, 20):
        assert ids(index.search("q", k))[:5] == twins[:k]


def test_dense_zero_vectors_are_similar_to_nothing() -> None:
    """A chunk without direction scores 0; a question without one finds nothing."""
    embedder = Table(a=[0, 0], b=[-1, 0], q=[1, 0], z=[0, 0])
    index = Dense().build(corpus(["a", "b"]), {"embedder": embedder}, quiet)
    assert [hit.score for hit in index.search("q", 2)] == [0, -1]
    assert index.search("z", 2) == []


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_dense_agrees_with_a_plain_sort(n: int, width: int, seed: int) -> None:
    """Every k gives what sorting all cosines gives."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, size=(n, width)).astype(np.float32)
    rows[~rows.any(axis=1)] = 1
    query = rng.integers(-2, 3, size=width).astype(np.float32)
    query[0] = 1
    embedder = Table(**{f"t{at}": row.tolist() for at, row in enumerate(rows)}, q=query.tolist())
    index = Dense().build(corpus([f"t{at}" for at in range(n)]), {"embedder": embedder}, quiet)
    exact = [float(row @ query) / float(np.linalg.norm(row) * np.linalg.norm(query)) for row in rows.astype(float)]
    for k in (1, n // 2 + 1, n):
        hits = index.search("q", k)
        assert len(hits) == k
        assert [hit.score for hit in hits] == pytest.approx(sorted(exact, reverse=True)[:k], abs=1e-6)
        assert all(exact[at] == pytest.approx(hit.score, abs=1e-6) for at, hit in zip(ids(hits), hits, strict=True))


# --- qdrant -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "order", "scores"),
    [
        ("cosine", [0, 2, 1], [1, math.sqrt(0.5), 0]),
        ("dot", [0, 2, 1], [20, 6, 0]),
        ("euclid", [1, 2, 0], [-math.sqrt(4.01), -math.sqrt(10), -8]),
    ],
)
def test_qdrant_a_higher_score_is_better_for_every_metric(metric: str, order: list[int], scores: list[float]) -> None:
    """Distances are negated."""
    embedder = Table(a=[10, 0], b=[0, 0.1], c=[3, 3], q=[2, 0])
    index = Qdrant(metric=metric).build(corpus(["a", "b", "c"]), {"embedder": embedder}, quiet)
    hits = index.search("q", 3)
    index.close()
    assert ids(hits) == order
    assert [hit.score for hit in hits] == pytest.approx(scores, abs=1e-5)


def test_qdrant_never_cuts_through_a_tie_by_chance() -> None:
    """Of forty equal chunks the first three are returned, in corpus order."""
    embedder = Table(**{f"t{at}": [1, 2, 3] for at in range(40)}, q=[1, 2, 3])
    index = Qdrant().build(corpus([f"t{at}" for at in range(40)]), {"embedder": embedder}, quiet)
    assert ids(index.search("q", 3)) == [0, 1, 2]
    index.close()


def test_qdrant_agrees_with_exact_cosine() -> None:
    """The engine's exact search and ours rank 400 random vectors alike."""
    rng = np.random.default_rng(11)
    rows = {f"t{at}": row.tolist() for at, row in enumerate(rng.standard_normal((400, 32)))}
    questions = {f"q{at}": row.tolist() for at, row in enumerate(rng.standard_normal((20, 32)))}
    parts = {"embedder": Table(**rows, **questions)}
    chunks = corpus(list(rows))
    ours, engine = Dense().build(chunks, parts, quiet), Qdrant().build(chunks, parts, quiet)
    for question in questions:
        assert ids(engine.search(question, 10)) == ids(ours.search(question, 10))
    engine.close()


def test_qdrant_hnsw_parameters_are_recorded_and_used() -> None:
    """Off, they are null: they change nothing. On, they stand in the description."""
    chunks = corpus([f"word{at} text" for at in range(50)])
    parts = {"embedder": WordEmbedder()}
    exact = Qdrant().build(chunks, parts, quiet)
    assert (exact.describe()["exact"], exact.describe()["hnsw"]) == (True, None)
    graph = Qdrant(exact=False, m=8, ef_construct=32, ef=64, full_scan_threshold_kb=1).build(chunks, parts, quiet)
    assert graph.describe()["hnsw"] == {"m": 8, "ef_construct": 32, "ef": 64, "full_scan_threshold_kb": 1}
    assert len(graph.search("word7", 5)) == 5
    canon.canonical(graph.describe())
    exact.close()
    graph.close()


def test_qdrant_leaves_no_folder_and_says_that_it_is_closed() -> None:
    """After `close` its storage is gone and a search is a `StackError`."""
    index = Qdrant().build(corpus(["a b"]), {"embedder": WordEmbedder()}, quiet)
    folder = Path(index._folder.name)
    assert folder.is_dir()
    index.close()
    assert not folder.exists()
    with pytest.raises(StackError, match="closed"):
        index.search("a", 1)


# --- stacks over an embedder ------------------------------------------------------------------------------------


class Broken:
    """An embedder that returns what it was given."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return the given matrix whatever the texts are."""
        return np.asarray(self.matrix, dtype=np.float32)

    def describe(self) -> JSON:
        """Return the kind."""
        return {"kind": "broken"}


@pytest.mark.parametrize("stack", [Dense, Qdrant])
@pytest.mark.parametrize(
    "matrix", [[[1.0, math.nan]], [[math.inf, 0.0]], [[1.0], [2.0]], [1.0, 2.0], [], [[]], [[[1.0]]]]
)
def test_a_broken_embedder_is_a_stack_error(stack: Any, matrix: Any) -> None:
    """NaN, infinity and wrong shapes never reach an index."""
    with pytest.raises(StackError, match="the embedder returned"):
        stack().build(corpus(["one"]), {"embedder": Broken(matrix)}, quiet)


@pytest.mark.parametrize("stack", [Dense, Qdrant])
def test_a_question_of_another_dimension_is_a_stack_error(stack: Any) -> None:
    """Two models behind one name are noticed."""
    index = stack().build(corpus(["a"]), {"embedder": Table(a=[1, 0], q=[1, 0, 0])}, quiet)
    with pytest.raises(StackError, match="3 numbers for a question and 2 for a chunk"):
        index.search("q", 1)
    index.close()


@pytest.mark.parametrize("stack", [Dense, Qdrant])
@pytest.mark.parametrize("parts", [{}, {"embedder": None}, {"embedder": "minilm"}])
def test_a_missing_embedder_is_wrong_input(stack: Any, parts: dict[str, Any]) -> None:
    """The message shows how one is named."""
    with pytest.raises(InputError, match="needs an embedder, for example"):
        stack().build(corpus(["a"]), parts, quiet)


@pytest.mark.parametrize("stack", [Dense, Qdrant])
def test_progress_ends_at_the_number_of_chunks(stack: Any) -> None:
    """It counts chunks, block by block."""
    seen: list[tuple[int, int]] = []
    chunks = corpus([f"text {at}" for at in range(600)])
    stack().build(chunks, {"embedder": WordEmbedder()}, lambda done, total: seen.append((done, total))).close()
    assert seen == [(256, 600), (512, 600), (600, 600)]


def test_truncated_chunks_are_counted_where_the_embedder_can_say() -> None:
    """Unknown is null, never 0."""

    class Counting(WordEmbedder):
        def count_truncated(self, texts: Sequence[str]) -> int:
            """Count texts of more than three words."""
            return sum(1 for text in texts if len(text.split()) > 3)

    chunks = corpus(["a b c", "a b c d", "a b c d e"])
    assert Dense().build(chunks, {"embedder": Counting()}, quiet).describe()["truncated_chunks"] == 2
    assert Dense().build(chunks, {"embedder": WordEmbedder()}, quiet).describe()["truncated_chunks"] is None


# --- hybrid -----------------------------------------------------------------------------------------------------


class Ranked:
    """A retriever with a fixed ranking."""

    def __init__(self, *chunks: str, text: str | None = None) -> None:
        self.chunks = chunks
        self.text = text
        self.asked: list[int] = []
        self.closed = 0

    def search(self, text: str, k: int) -> list[Hit]:
        """Return the first k."""
        self.asked.append(k)
        return [Hit(chunk=chunk, score=1 / rank, text=self.text) for rank, chunk in enumerate(self.chunks[:k], 1)]

    def describe(self) -> JSON:
        """Return the ranking."""
        return {"kind": "ranked", "chunks": list(self.chunks)}

    def close(self) -> None:
        """Count."""
        self.closed += 1


def fuse(*of: Any, **params: Any) -> Fusion:
    """Return the fusion of retrievers."""
    return Hybrid(**params).build([], {"of": list(of)}, quiet)


def test_hybrid_scores_are_sums_of_reciprocal_ranks() -> None:
    """A chunk that both name beats one that either names first."""
    hits = fuse(Ranked("a", "b", "c"), Ranked("d", "b"), Ranked("b")).search("q", 10)
    assert [hit.chunk for hit in hits] == ["b", "a", "d", "c"]
    wanted = [Fraction(2, 62) + Fraction(1, 61), Fraction(1, 61), Fraction(1, 61), Fraction(1, 63)]
    assert [hit.score for hit in hits] == pytest.approx([float(score) for score in wanted], rel=1e-15)


def test_hybrid_asks_every_stack_to_its_depth_whatever_k_is() -> None:
    """So a smaller k is a prefix; the default depth is 20."""
    one, two = Ranked(*"abcdefgh"), Ranked(*"hgfedcba")
    fuse(one, two).search("q", 3)
    fuse(one, two, depth=2).search("q", 50)
    assert one.asked == two.asked == [20, 2]
    assert {hit.chunk for hit in fuse(one, two, depth=2).search("q", 50)} == set("abgh")


def test_hybrid_credits_a_repeated_chunk_once() -> None:
    """A part that returns one chunk twice gains nothing by it, and the next rank closes up."""
    hits = fuse(Ranked("a", "a", "b"), Ranked("c")).search("q", 5)
    assert [hit.chunk for hit in hits] == ["a", "c", "b"]
    assert hits[2].score == pytest.approx(1 / 62)


def test_hybrid_fails_when_a_part_fails() -> None:
    """The other part never stands in for it."""

    class Down(Ranked):
        def search(self, text: str, k: int) -> list[Hit]:
            """Raise."""
            raise StackError("down", retryable=True)

    with pytest.raises(StackError, match="down"):
        fuse(Ranked("a"), Down()).search("q", 5)


def test_hybrid_refuses_a_part_that_returns_too_much() -> None:
    """Depth is a promise too."""

    class Greedy(Ranked):
        def search(self, text: str, k: int) -> list[Hit]:
            """Return everything."""
            return [Hit(chunk=chunk, score=1.0) for chunk in self.chunks]

    with pytest.raises(StackError, match="3 hits where 2"):
        fuse(Ranked("a"), Greedy("a", "b", "c"), depth=2).search("q", 5)


def test_hybrid_describes_and_closes_its_parts() -> None:
    """Everything that can change its result is in its description."""
    one, two = Ranked("a"), Ranked("b")
    fusion = fuse(one, two, rrf_k=10)
    described = fusion.describe()
    assert (described["rrf_k"], described["depth"]) == (10, 20)
    assert described["of"] == [one.describe(), two.describe()]
    fusion.close()
    assert (one.closed, two.closed) == (1, 1)


@pytest.mark.parametrize("of", [None, [], [Ranked("a")], [Ranked("a"), "bm25"], {"a": 1}])
def test_hybrid_needs_two_stacks(of: Any) -> None:
    """One stack is no fusion."""
    with pytest.raises(InputError, match="two or more stacks"):
        Hybrid().build([], {"of": of}, quiet)


@given(st.lists(st.permutations("abcdef"), min_size=2, max_size=4), st.integers(0, 100))
def test_hybrid_does_not_depend_on_the_order_of_its_parts_but_for_ties(rankings: list[list[str]], rrf_k: int) -> None:
    """Scores per chunk are the same whichever part is named first."""
    forward = fuse(*(Ranked(*ranking) for ranking in rankings), rrf_k=rrf_k).search("q", 6)
    backward = fuse(*(Ranked(*ranking) for ranking in rankings[::-1]), rrf_k=rrf_k).search("q", 6)
    assert {hit.chunk: hit.score for hit in forward} == {hit.chunk: hit.score for hit in backward}


# --- oracle -----------------------------------------------------------------------------------------------------


def _oracle(evidence: Any) -> Any:
    return Oracle().build(corpus(["a", "b", "c"]), {"evidence": evidence}, quiet)


def test_oracle_delivers_all_evidence_in_page_order_whatever_k_is() -> None:
    """Evidence that chunking split is delivered whole."""
    chunks: list[Chunk] = corpus(["a", "b", "c"])
    oracle = _oracle({"q": [chunks[1].id, chunks[2].id]})
    assert ids(oracle.search("q", 1)) == [1, 2]
    assert [hit.score for hit in oracle.search("q", 1)] == [1.0, 1.0]


@pytest.mark.parametrize("question", ["other", "", "Q"])
def test_oracle_without_evidence_is_a_failure_not_an_empty_retrieval(question: str) -> None:
    """Its score is unknown, not low; an empty list of ids is no evidence either."""
    with pytest.raises(StackError, match="knows no evidence"):
        _oracle({"q": ["page-0.md#0"], "": []}).search(question, 5)


def test_oracle_refuses_missing_or_unknown_evidence() -> None:
    """It needs the mapping, and every id in it must be a chunk's."""
    with pytest.raises(InputError, match="needs the evidence"):
        Oracle().build([], {}, quiet)
    with pytest.raises(InputError, match="nosuch"):
        _oracle({"q": ["nosuch"]})


# --- ranking ----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-3, 3), max_size=30), st.integers(-1, 35))
def test_best_is_a_stable_sort(values: list[int], k: int) -> None:
    """The k best by score, ties by position."""
    wanted = sorted(range(len(values)), key=lambda at: -values[at])[: max(k, 0)]
    assert best(np.array(values, dtype=np.float32), k) == wanted


@given(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
)
def test_shortest_keeps_order_and_reads_back(one: float, other: float) -> None:
    """The decimal that is recorded is the float32 that was computed."""
    a, b = shortest(np.float32(one)), shortest(np.float32(other))
    assert np.float32(a) == np.float32(one)
    assert (a < b) == (one < other)
