"""Exact search block by block gives what one pass over the whole matrix gives, bit for bit, in constant memory."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.exact import nearest, nearest_of_each
from ragassay.plugins.stacks.matrix import as_int8, gathered, int8_scale, unit_rows
from ragassay.plugins.stacks.ranking import best
from ragassay.plugins.stacks.vectors import embed_chunks
from ragassay.run.embeddings import CachedEmbedder
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress


def in_one_pass(matrix: NDArray[np.float32], query: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    """Return positions and cosines as they were found before there were blocks."""
    rough = matrix @ query
    count = min(k, len(rough))
    floor = np.partition(rough, -count)[-count] - 1e-4
    near = np.flatnonzero(rough >= floor)
    scores = (matrix[near].astype(np.float64) * query.astype(np.float64)).sum(axis=1).astype(np.float32)
    return [(int(near[at]), float(scores[at])) for at in best(scores, k)]


def by_blocks(matrix: NDArray[np.float32], query: NDArray[np.float32], k: int, step: int) -> list[tuple[int, float]]:
    """Return the same by blocks."""
    return [(int(at), float(score)) for at, score in zip(*nearest(matrix, query, k, step=step), strict=True)]


@given(st.integers(1, 60), st.integers(1, 8), st.integers(1, 70), st.integers(1, 64), st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_blocks_of_any_size_give_the_same(n: int, width: int, k: int, step: int, seed: int) -> None:
    """Few different numbers, so that ties, equal rows and zero rows abound."""
    rng = np.random.default_rng(seed)
    matrix = unit_rows(rng.integers(-1, 2, size=(n, width)).astype(np.float32))
    query = unit_rows(rng.integers(-1, 2, size=(1, width)).astype(np.float32))[0]
    assert by_blocks(matrix, query, k, step) == in_one_pass(matrix, query, k)
    many = nearest_of_each(matrix, np.stack([query, matrix[0]]), k, step=step)
    assert [(int(at), float(score)) for at, score in zip(*many[0], strict=True)] == in_one_pass(matrix, query, k)


def test_a_large_matrix_gives_the_same() -> None:
    """20,000 rows of 384 numbers, some of them equal, whatever the block is."""
    rng = np.random.default_rng(5)
    matrix = unit_rows(rng.standard_normal((20_000, 384), dtype=np.float32))
    matrix[[7, 8_191, 8_192, 19_999]] = matrix[100]
    for at, k in ((100, 3), (50, 10), (51, 300)):
        query = unit_rows(matrix[at][np.newaxis] + np.float32(0.01))[0]
        expected = in_one_pass(matrix, query, k)
        assert by_blocks(matrix, query, k, 8192) == by_blocks(matrix, query, k, 999) == expected
    assert [at for at, _ in in_one_pass(matrix, matrix[100], 5)][:4] == [7, 100, 8_191, 8_192]


def test_the_memory_of_a_search_does_not_grow_with_the_rows() -> None:
    """Not even where all rows are equal, and all could be among the best."""
    peaks = []
    for rows in (50_000, 200_000):
        matrix = np.full((rows, 16), 0.25, np.float32)
        tracemalloc.start()
        assert nearest(matrix, matrix[0], 5)[0].tolist() == [0, 1, 2, 3, 4]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.1


def test_a_matrix_in_a_file_is_that_in_memory(tmp_path: Path) -> None:
    """Same numbers, no name in the folder, nothing to write to."""
    rng = np.random.default_rng(1)
    blocks = [rng.standard_normal((rows, 5), dtype=np.float32) for rows in (4, 4, 1)]
    mapped, held = gathered(iter(blocks), tmp_path / "new"), gathered(iter(blocks), None)
    assert np.array_equal(mapped, held)
    assert not mapped.flags.writeable
    assert list((tmp_path / "new").iterdir()) == []


def test_blocks_of_different_widths_are_no_matrix(tmp_path: Path) -> None:
    """In memory or in a file."""
    blocks = [np.ones((2, 3), np.float32), np.ones((2, 4), np.float32)]
    for folder in (None, tmp_path):
        with pytest.raises(StackError, match="changed its dimension from 3 to 4"):
            gathered(iter(blocks), folder)


def test_a_folder_that_cannot_be_written_is_wrong_input(tmp_path: Path) -> None:
    """It is named."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"cannot keep vectors in .*file"):
        gathered(iter([np.ones((1, 1), np.float32)]), tmp_path / "file")


def test_dense_over_a_store_finds_what_it_finds_in_memory(tmp_path: Path) -> None:
    """Ids, scores and description are those without a store."""
    chunks = corpus([f"word{at % 40} river fox{at % 7} number{at}" for at in range(700)])
    alone = Dense().build(chunks, {"embedder": WordEmbedder()}, ignore_progress)
    stored = Dense().build(chunks, {"embedder": CachedEmbedder(WordEmbedder(), tmp_path)}, ignore_progress)
    for question in ("river fox3", "word12 number300", "nothing"):
        assert stored.search(question, 9) == alone.search(question, 9)
    assert stored.describe() == alone.describe()


def test_rows_are_scaled_alike_in_blocks_and_whole(tmp_path: Path) -> None:
    """To the last bit."""
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((600, 48)).astype(np.float32)
    chunks = corpus([f"t{at}" for at in range(600)])

    class Table(WordEmbedder):
        scratch = tmp_path

        def embed(self, texts: Sequence[str], kind: Any) -> Any:
            """Return the rows by the texts' numbers."""
            return rows[[int(text[1:]) for text in texts]]

    assert np.array_equal(embed_chunks(Table(), chunks, ignore_progress, unit=True), unit_rows(rows))


def test_int8_is_the_nearest_multiple_of_the_scale() -> None:
    """The largest number is 127 of them; a query beyond it is cut off; zeros stay zeros."""
    matrix = np.array([[0.5, -0.25], [0.1, 0.0]], np.float32)
    scale = int8_scale(matrix)
    assert scale == np.float32(0.5 / 127)
    assert as_int8(matrix, scale).tolist() == [[127, -64], [25, 0]]
    assert as_int8(np.array([[9.0, -9.0]], np.float32), scale).tolist() == [[127, -127]]
    assert as_int8(np.zeros((1, 2), np.float32), int8_scale(np.zeros((1, 2), np.float32))).tolist() == [[0, 0]]


LARGE = """
import sys, threading, time
from pathlib import Path
import numpy as np
from ragassay.plugins.stacks.dense import Dense
from ragassay.records import Chunk
from ragassay.run.embeddings import CachedEmbedder

class Fake:
    def embed(self, texts, kind):
        seeds = np.array([int(text) for text in texts], dtype=np.uint64)
        at = np.arange(384, dtype=np.uint64)
        mixed = (seeds[:, None] * np.uint64(0x9E3779B97F4A7C15) + at) * np.uint64(0xBF58476D1CE4E5B9)
        return ((mixed >> np.uint64(40)).astype(np.float32) / np.float32(2**24) - np.float32(0.5))
    def describe(self):
        return {"kind": "fake", "dimension": 384}

class Chunks:
    def __init__(self, count): self.count = count
    def __len__(self): return self.count
    def __getitem__(self, at):
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(self.count))]
        if at >= self.count:
            raise IndexError(at)
        text = str(at)
        return Chunk(id=text, page="p", start=0, end=len(text), text=text, sha256="0" * 64)

def held():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

folder, count = Path(sys.argv[1]), int(sys.argv[2])
before, most = held(), [0]
def watch():
    while True:
        most[0] = max(most[0], held())
        time.sleep(0.005)
threading.Thread(target=watch, daemon=True).start()
index = Dense().build(Chunks(count), {"embedder": CachedEmbedder(Fake(), folder)}, lambda done, total: None)
hits = index.search("77", 3)
assert hits[0].chunk == "77", hits
print(before, max(most[0], held()))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_200_000_chunks_is_bounded(tmp_path: Path) -> None:
    """Embedding, storing, mapping and searching 200,000 x 384 (307 MB) takes less than 80 MB; so does a second run."""
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, "-c", LARGE, str(tmp_path), "200000"], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        before, most = map(int, ran.stdout.split())
        assert most - before < 80_000, f"{(most - before) / 1000} MB"
