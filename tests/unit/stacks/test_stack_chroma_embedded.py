"""Chroma in this process: exact where it says so, each metric's score, duplicates, torn graphs, parameters, its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("chromadb", reason="pip install 'ragassay[chroma]'")

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.chroma import Chroma
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import JSON, Chunk, Secret
from ragassay.testing.stack_contract import corpus, ignore_progress


class TableEmbedder:
    """Gives each text the row of a table that its number names; "q3" is the third question."""

    def __init__(self, rows: NDArray[np.float32], questions: NDArray[np.float32]) -> None:
        self._tables = {"d": rows.astype(np.float32), "q": questions.astype(np.float32)}

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return the rows."""
        return np.stack([self._tables[text[0]][int(text[1:])] for text in texts])

    def describe(self) -> JSON:
        """Return what the rows are."""
        return {"kind": "table", "rows": str(sum(float(table.sum()) for table in self._tables.values()))}


def numbered(count: int) -> list[Chunk]:
    """Return chunks whose texts are d0, d1 and so on."""
    return corpus([f"d{at}" for at in range(count)])


def built(
    rows: NDArray[np.float32], questions: NDArray[np.float32], **params: Any
) -> tuple[VectorIndex, list[Chunk], TableEmbedder]:
    """Return the stack over `rows`, the chunks, and the embedder."""
    embedder, chunks = TableEmbedder(rows, questions), numbered(len(rows))
    return Chroma(**params).build(chunks, {"embedder": embedder}, ignore_progress), chunks, embedder


def random(*shape: int, seed: int = 7) -> NDArray[np.float32]:
    """Return vectors that are not of unit length."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def test_exact_cosine_finds_what_dense_finds() -> None:
    """Over 3,000 vectors the best ten are the same for every question, and so are the scores to six digits."""
    questions = random(20, 32, seed=8)
    index, chunks, embedder = built(random(3000, 32), questions)
    dense = Dense().build(chunks, {"embedder": embedder}, ignore_progress)
    try:
        for at in range(len(questions)):
            mine, wanted = index.search(f"q{at}", 10), dense.search(f"q{at}", 10)
            assert [hit.chunk for hit in mine] == [hit.chunk for hit in wanted]
            assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in wanted], abs=1e-6)
    finally:
        index.close()


@pytest.mark.parametrize("metric", ["l2", "ip"])
def test_each_metric_scores_as_it_says(metric: str) -> None:
    """A distance is the Euclidean one, negated; a product is the dot product; a higher score is better."""
    rows, questions = random(50, 8), random(5, 8, seed=9)
    index, chunks, _ = built(rows, questions, metric=metric)
    known = {chunk.id: row for chunk, row in zip(chunks, rows, strict=True)}
    try:
        for at, question in enumerate(questions):
            hits = index.search(f"q{at}", 50)
            true = [
                float(known[hit.chunk] @ question)
                if metric == "ip"
                else -float(np.linalg.norm(known[hit.chunk] - question))
                for hit in hits
            ]
            assert len(hits) == 50
            assert [hit.score for hit in hits] == pytest.approx(true, abs=1e-4)
            assert true == sorted(true, reverse=True)
    finally:
        index.close()


def test_equal_vectors_are_all_found_in_chunk_order() -> None:
    """Chroma's graph falls apart over 700 equal vectors; each different one is stored once, and stands for all."""
    rows = np.repeat(random(3, 16), 700, axis=0)
    index, chunks, _ = built(rows, rows[:1])
    try:
        assert index.count() == 2100
        assert [hit.chunk for hit in index.search("q0", 701)][:700] == [chunk.id for chunk in chunks[:700]]
        assert len(index.search("q0", 2100)) == 2100
    finally:
        index.close()


def test_a_graph_that_does_not_reach_every_vector_is_no_exact_search() -> None:
    """It is refused when it is built, in words that say what to do."""
    near = np.repeat(random(3, 64), 700, axis=0) + random(2100, 64, seed=9) * 1e-3
    with pytest.raises(StackError, match=r"chroma returned \d+ of 2100 vectors.*raise max_neighbors") as raised:
        built(near, near[:1], max_neighbors=2, ef_construction=4)
    assert not raised.value.retryable


def test_the_graph_is_asked_for_ef_search_candidates_and_gives_no_more() -> None:
    """A smaller k begins a larger one up to that number, and a k beyond it is an error."""
    index, _, _ = built(random(2000, 32), random(10, 32, seed=8), exact=False, ef_search=20, max_neighbors=8)
    try:
        for at in range(10):
            found = index.search(f"q{at}", 20)
            assert all(index.search(f"q{at}", k) == found[:k] for k in (1, 5, 19))
        with pytest.raises(StackError, match="at most 20 hits, and 21 were asked for"):
            index.search("q0", 21)
    finally:
        index.close()


def test_one_vector_at_a_time_builds_the_same_graph_again() -> None:
    """With `batch` 1 two builds find the same, where larger batches are added by several threads."""
    rows, questions = random(300, 32), random(20, 32, seed=8)
    found = []
    for _ in range(2):
        index, _, _ = built(rows, questions, exact=False, ef_search=10, max_neighbors=4, batch=1)
        found.append([index.search(f"q{at}", 10) for at in range(20)])
        index.close()
    assert found[0] == found[1]


def test_what_is_recorded_is_what_has_an_effect() -> None:
    """No server without one, no `ef_search` where all is asked for, and the version of the engine."""
    index, _, _ = built(random(4, 8), random(1, 8))
    about = index.describe()
    index.close()
    assert set(about) == {"kind", "metric", "exact", "hnsw", "chromadb", "truncated_chunks", "embedder"}
    assert about["hnsw"] == {"ef_construction": 100, "max_neighbors": 64, "batch": 256}
    graph, _, _ = built(random(4, 8), random(1, 8), exact=False)
    assert graph.describe()["hnsw"] == {"ef_construction": 100, "max_neighbors": 16, "ef_search": 100, "batch": 256}
    graph.close()


def test_neither_the_environment_nor_a_file_changes_a_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The client would take its own settings from variables and from `.env`; ours gives it none of them."""
    monkeypatch.setenv("CHROMA_API_IMPL", "chromadb.api.fastapi.FastAPI")
    monkeypatch.setenv("CHROMA_OTEL_COLLECTION_ENDPOINT", "http://192.0.2.1:4317")
    (tmp_path / ".env").write_text("persist_directory=elsewhere\nis_persistent=false\n")
    monkeypatch.chdir(tmp_path)
    index, _, _ = built(random(4, 8), random(1, 8))
    assert len(index.search("q0", 4)) == 4
    index.close()
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_an_index_that_was_closed_is_not_searched() -> None:
    """It says so."""
    index, _, _ = built(random(4, 8), random(1, 8))
    index.close()
    with pytest.raises(StackError, match="chroma was asked after it was closed"):
        index.search("q0", 1)


def test_two_engines_in_one_process_know_nothing_of_each_other() -> None:
    """Each row has its own; what one holds the other does not, and closing one leaves the other open."""
    one, _, _ = built(random(4, 8), random(1, 8))
    other, _, _ = built(random(6, 8, seed=9), random(1, 8))
    assert (one.count(), other.count()) == (4, 6)
    one.close()
    assert len(other.search("q0", 6)) == 6
    other.close()


def test_all_wrong_parameters_are_named_at_once_and_none_that_may_be_a_key() -> None:
    """Each is named; the values of `url` and `key_env` are not repeated."""
    wrong: dict[str, Any] = {
        "metric": "euclid",
        "max_neighbors": 1,
        "url": "http://me:geheim@127.0.0.1",
        "key_env": "sk-geheim",
        "collection": "-x-",
        "database": "a/b",
        "key_header": "cookie",
        "timeout_s": 56,
        "typo": 1,
    }
    with pytest.raises(InputError) as raised:
        Chroma(**wrong)
    said = "\n".join(raised.value.problems)
    for name in ("metric", "max_neighbors", "url", "key_env", "collection", "database", "key_header", "timeout_s"):
        assert name in said
    assert "unknown parameter 'typo'" in said
    assert "geheim" not in said


def test_what_reaches_a_server_needs_one() -> None:
    """Without `url` there is nothing to name, to authenticate to, or to wait for."""
    with pytest.raises(InputError) as raised:
        Chroma(collection="docs_index", tenant="acme", key_env="KEY", key=Secret("0123456789"))
    assert list(raised.value.problems) == [
        f"{name} must be left out without url" for name in ("key_env", "tenant", "collection")
    ]
