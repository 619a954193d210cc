"""What dense and qdrant find, and that a broken embedder never reaches an index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragassay import canon
from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.qdrant import Qdrant
from ragassay.plugins.stacks.ranking import best, shortest
from ragassay.records import JSON, Hit
from ragassay.run.embeddings import CachedEmbedder
from ragassay.testing.fake_embedder import TableEmbedder, WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress


def ids(hits: Sequence[Hit]) -> list[int]:
    """Return the numbers of the pages that were hit."""
    return [int(hit.chunk.removeprefix("page-").partition(".")[0]) for hit in hits]


def test_dense_scores_are_cosines() -> None:
    """Length does not count, direction does."""
    embedder = TableEmbedder({"a": [10, 0], "b": [0, 0.1], "c": [3, 3], "q": [2, 0]})
    hits = Dense().build(corpus(["a", "b", "c"]), {"embedder": embedder}, ignore_progress).search("q", 3)
    assert ids(hits) == [0, 2, 1]
    assert [hit.score for hit in hits] == pytest.approx([1, math.sqrt(0.5), 0], abs=1e-7)


def test_dense_equal_vectors_keep_the_corpus_order_in_any_corpus() -> None:
    """Equal rows have equal scores wherever they stand, so position decides."""
    rng = np.random.default_rng(7)
    rows = {f"t{at}": list(rng.standard_normal(48)) for at in range(301)}
    twins = [3, 64, 130, 257, 300]
    for at in twins:
        rows[f"t{at}"] = rows["t3"]
    embedder = TableEmbedder({**rows, "q": [value + 0.01 for value in rows["t3"]]})
    index = Dense().build(corpus([f"t{at}" for at in range(301)]), {"embedder": embedder}, ignore_progress)
    for k in (1, 2, 5, 20):
        assert ids(index.search("q", k))[:5] == twins[:k]


def test_dense_zero_vectors_are_similar_to_nothing() -> None:
    """A chunk without direction scores 0; a question without one finds nothing."""
    embedder = TableEmbedder({"a": [0, 0], "b": [-1, 0], "q": [1, 0], "z": [0, 0]})
    index = Dense().build(corpus(["a", "b"]), {"embedder": embedder}, ignore_progress)
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
    embedder = TableEmbedder({**{f"t{at}": row.tolist() for at, row in enumerate(rows)}, "q": query.tolist()})
    index = Dense().build(corpus([f"t{at}" for at in range(n)]), {"embedder": embedder}, ignore_progress)
    exact = [float(row @ query) / float(np.linalg.norm(row) * np.linalg.norm(query)) for row in rows.astype(float)]
    for k in (1, n // 2 + 1, n):
        hits = index.search("q", k)
        assert len(hits) == k
        assert [hit.score for hit in hits] == pytest.approx(sorted(exact, reverse=True)[:k], abs=1e-6)
        assert all(exact[at] == pytest.approx(hit.score, abs=1e-6) for at, hit in zip(ids(hits), hits, strict=True))


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
    embedder = TableEmbedder({"a": [10, 0], "b": [0, 0.1], "c": [3, 3], "q": [2, 0]})
    index = Qdrant(metric=metric).build(corpus(["a", "b", "c"]), {"embedder": embedder}, ignore_progress)
    hits = index.search("q", 3)
    index.close()
    assert ids(hits) == order
    assert [hit.score for hit in hits] == pytest.approx(scores, abs=1e-5)


def test_qdrant_never_cuts_through_a_tie_by_chance() -> None:
    """Of forty equal chunks the first three are returned, in corpus order."""
    embedder = TableEmbedder({**{f"t{at}": [1, 2, 3] for at in range(40)}, "q": [1, 2, 3]})
    index = Qdrant().build(corpus([f"t{at}" for at in range(40)]), {"embedder": embedder}, ignore_progress)
    assert ids(index.search("q", 3)) == [0, 1, 2]
    index.close()


def test_qdrant_agrees_with_exact_cosine() -> None:
    """The engine's exact search and ours rank 400 random vectors alike."""
    rng = np.random.default_rng(11)
    rows = {f"t{at}": row.tolist() for at, row in enumerate(rng.standard_normal((400, 32)))}
    questions = {f"q{at}": row.tolist() for at, row in enumerate(rng.standard_normal((20, 32)))}
    parts = {"embedder": TableEmbedder({**rows, **questions})}
    chunks = corpus(list(rows))
    ours, engine = Dense().build(chunks, parts, ignore_progress), Qdrant().build(chunks, parts, ignore_progress)
    for question in questions:
        assert ids(engine.search(question, 10)) == ids(ours.search(question, 10))
    engine.close()


def test_qdrant_hnsw_parameters_are_recorded_and_used() -> None:
    """Off, they are null: they change nothing. On, they stand in the description."""
    chunks = corpus([f"word{at} text" for at in range(50)])
    parts = {"embedder": WordEmbedder()}
    exact = Qdrant().build(chunks, parts, ignore_progress)
    assert (exact.describe()["exact"], "hnsw" in exact.describe()) == (True, False)
    graph = Qdrant(exact=False, m=8, ef_construct=32, ef=64, full_scan_threshold_kb=1).build(
        chunks, parts, ignore_progress
    )
    assert graph.describe()["hnsw"] == {"m": 8, "ef_construct": 32, "ef": 64, "full_scan_threshold_kb": 1}
    assert len(graph.search("word7", 5)) == 5
    canon.canonical(graph.describe())
    exact.close()
    graph.close()


def test_qdrant_leaves_no_folder_and_says_that_it_is_closed() -> None:
    """After `close` its storage is gone and a search is a `StackError`."""
    index = Qdrant().build(corpus(["a b"]), {"embedder": WordEmbedder()}, ignore_progress)
    folder = Path(index._engine._points._folder.name)  # type: ignore[union-attr]
    assert folder.is_dir()
    index.close()
    assert not folder.exists()
    with pytest.raises(StackError, match="closed"):
        index.search("a", 1)


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
        stack().build(corpus(["one"]), {"embedder": Broken(matrix)}, ignore_progress)


@pytest.mark.parametrize("stack", [Dense, Qdrant])
def test_a_question_of_another_dimension_is_a_stack_error(stack: Any) -> None:
    """Two models behind one name are noticed."""
    index = stack().build(corpus(["a"]), {"embedder": TableEmbedder({"a": [1, 0], "q": [1, 0, 0]})}, ignore_progress)
    with pytest.raises(StackError, match="3 numbers for a question and 2 for a chunk"):
        index.search("q", 1)
    index.close()


@pytest.mark.parametrize("stack", [Dense, Qdrant])
@pytest.mark.parametrize("parts", [{}, {"embedder": None}, {"embedder": "minilm"}])
def test_a_missing_embedder_is_wrong_input(stack: Any, parts: dict[str, Any]) -> None:
    """The message shows how one is named."""
    with pytest.raises(InputError, match="needs an embedder, for example"):
        stack().build(corpus(["a"]), parts, ignore_progress)


@pytest.mark.parametrize("stack", [Dense, Qdrant])
def test_progress_ends_at_the_number_of_chunks(stack: Any) -> None:
    """It counts chunks, block by block."""
    seen: list[tuple[int, int]] = []
    chunks = corpus([f"text {at}" for at in range(600)])
    stack().build(chunks, {"embedder": WordEmbedder()}, lambda done, total: seen.append((done, total))).close()
    assert seen == [(256, 600), (512, 600), (600, 600)]


@pytest.mark.parametrize("stack", [Dense, Qdrant])
def test_a_second_build_embeds_no_chunk_and_each_search_its_question(stack: Any, tmp_path: Path) -> None:
    """Chunks come from the store; the question's embedding is part of every search."""
    for embedded in (2, 0):
        inner = WordEmbedder()
        store = CachedEmbedder(inner, tmp_path)
        index = stack().build(corpus(["one", "two"]), {"embedder": store}, ignore_progress)
        before = inner.calls
        for _ in range(2):
            index.search("which one?", 1)
        index.close()
        assert (store.embedded, inner.calls - before) == (embedded, 2)


def test_truncated_chunks_are_counted_where_the_embedder_can_say() -> None:
    """Unknown is null, never 0."""

    class Counting(WordEmbedder):
        def count_truncated(self, texts: Sequence[str]) -> int:
            """Count texts of more than three words."""
            return sum(1 for text in texts if len(text.split()) > 3)

    chunks = corpus(["a b c", "a b c d", "a b c d e"])
    assert Dense().build(chunks, {"embedder": Counting()}, ignore_progress).describe()["truncated_chunks"] == 2
    assert Dense().build(chunks, {"embedder": WordEmbedder()}, ignore_progress).describe()["truncated_chunks"] is None


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
