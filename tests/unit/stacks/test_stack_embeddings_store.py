"""Embeddings are kept by everything that shapes them: found again, never mixed, never used when damaged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragassay import canon
from ragassay.errors import InputError, PluginError
from ragassay.run.embedding_segment import decode, encode, rows_of
from ragassay.run.embeddings import CachedEmbedder
from ragassay.testing.fake_embedder import WordEmbedder

TEXTS = ["one", "two words", "", "drei Wörter hier", "one"]


class Counted(WordEmbedder):
    """The fake embedder, with a limit of two words."""

    def count_truncated(self, texts: Sequence[str]) -> int:
        """Count the texts of more than two words."""
        self.calls += 1000
        return sum(1 for text in texts if len(text.split()) > 2)


def test_a_second_run_embeds_nothing(tmp_path: Path) -> None:
    """Rows come back bit for bit; equal texts are embedded once."""
    first = CachedEmbedder(WordEmbedder(), tmp_path)
    rows = first.embed(TEXTS, "document")
    assert (first.embedded, first.reused) == (4, 1)
    inner = WordEmbedder()
    second = CachedEmbedder(inner, tmp_path)
    assert np.array_equal(second.embed(TEXTS, "document"), rows)
    assert np.array_equal(rows, WordEmbedder().embed(TEXTS, "document"))
    assert (second.embedded, second.reused, inner.calls) == (0, 5, 0)


def test_kind_and_description_part_the_rows(tmp_path: Path) -> None:
    """A query is not a document, and another embedder shares nothing."""
    CachedEmbedder(WordEmbedder(), tmp_path).embed(["one"], "document")
    other_kind, other_model = WordEmbedder(), WordEmbedder(dimension=8)
    CachedEmbedder(other_kind, tmp_path).embed(["one"], "query")
    assert CachedEmbedder(other_model, tmp_path).embed(["one"], "document").shape == (1, 8)
    assert (other_kind.calls, other_model.calls) == (1, 1)
    assert {path.name for path in tmp_path.iterdir()} == {
        canon.digest(WordEmbedder().describe()),
        canon.digest(other_model.describe()),
    }


def test_a_question_is_embedded_each_time(tmp_path: Path) -> None:
    """A search takes what embedding its question takes, in every pass: no question's vector is kept."""
    inner = WordEmbedder()
    store = CachedEmbedder(inner, tmp_path)
    for _ in range(3):
        store.embed(["question"], "query")
    assert inner.calls == 3
    assert list(tmp_path.rglob("*.rows")) == []


@pytest.mark.parametrize("defect", ["emptied", "cut", "grown", "flipped_row", "flipped_key", "flipped_header"])
def test_a_damaged_segment_is_counted_and_embedded_again(tmp_path: Path, defect: str) -> None:
    """No byte of it is used; the store heals."""
    rows = CachedEmbedder(WordEmbedder(), tmp_path).embed(TEXTS, "document")
    (path,) = tmp_path.rglob("*.rows")
    data = bytearray(path.read_bytes())
    if defect.startswith("flipped"):
        data[{"flipped_row": -3, "flipped_key": 20, "flipped_header": 9}[defect]] ^= 1
    path.write_bytes({"emptied": b"", "cut": bytes(data[:-1]), "grown": bytes(data) + b"x"}.get(defect, bytes(data)))
    again = CachedEmbedder(WordEmbedder(), tmp_path)
    assert np.array_equal(again.embed(TEXTS, "document"), rows)
    assert (again.damaged, again.embedded) == (1, 4)
    healed = CachedEmbedder(WordEmbedder(), tmp_path)
    healed.embed(TEXTS, "document")
    assert (healed.damaged, healed.embedded) == (0, 0)


def test_what_a_crash_leaves_behind_is_ignored(tmp_path: Path) -> None:
    """A partial file is no segment."""
    first = CachedEmbedder(WordEmbedder(), tmp_path)
    first.embed(["one"], "document")
    (segment,) = tmp_path.rglob("*.rows")
    (segment.parent / ".partial-abc").write_bytes(b"half")
    again = CachedEmbedder(WordEmbedder(), tmp_path)
    again.embed(["one"], "document")
    assert (again.damaged, again.embedded) == (0, 0)


@pytest.mark.parametrize("matrix", [[[math.nan]], [[math.inf]], [[1.0], [2.0]], [1.0], [[]]])
def test_broken_rows_are_not_stored(tmp_path: Path, matrix: list[list[float]]) -> None:
    """A store never outlives the fault that filled it."""

    class Broken(WordEmbedder):
        def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
            """Return the broken matrix."""
            return np.asarray(matrix, dtype=np.float32)

    with pytest.raises(PluginError, match="the embedder returned"):
        CachedEmbedder(Broken(), tmp_path).embed(["one"], "document")
    assert list(tmp_path.rglob("*.rows")) == []


def test_a_store_that_cannot_be_written_is_wrong_input(tmp_path: Path) -> None:
    """The folder is named."""
    (tmp_path / "store").write_text("a file in the way")
    with pytest.raises(InputError, match="embedding store"):
        CachedEmbedder(WordEmbedder(), tmp_path / "store").embed(["one"], "document")


def test_threads_share_one_store(tmp_path: Path) -> None:
    """Every row is right and every text ends up stored."""
    texts = [f"text {at % 40}" for at in range(200)]
    cached = CachedEmbedder(WordEmbedder(), tmp_path)
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda text: cached.embed([text], "document")[0], texts))
    assert np.array_equal(np.stack(rows), WordEmbedder().embed(texts, "document"))
    assert cached.embedded + cached.reused == 200
    fresh = CachedEmbedder(WordEmbedder(), tmp_path)
    fresh.embed(texts, "document")
    assert fresh.embedded == 0


def test_two_writers_do_not_lose_each_others_rows(tmp_path: Path) -> None:
    """Segments are added, never rewritten."""
    one, other = CachedEmbedder(WordEmbedder(), tmp_path), CachedEmbedder(WordEmbedder(), tmp_path)
    one.embed(["a", "b"], "document")
    other.embed(["b", "c"], "document")
    third = CachedEmbedder(WordEmbedder(), tmp_path)
    third.embed(["a", "b", "c"], "document")
    assert (third.embedded, third.reused) == (0, 3)


def test_truncated_texts_are_counted_once_per_list(tmp_path: Path) -> None:
    """The count needs no embedding, so a second run has it too; without a counter it is unknown."""
    inner = Counted()
    cached = CachedEmbedder(inner, tmp_path)
    assert cached.count_truncated is not None
    assert [cached.count_truncated(TEXTS) for _ in range(3)] == [1, 1, 1]
    assert inner.calls == 1000
    assert CachedEmbedder(WordEmbedder(), tmp_path).count_truncated is None


@given(
    st.dictionaries(
        st.binary(min_size=32, max_size=32),
        st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
        min_size=1,
    )
)
def test_a_segment_reads_back(rows: dict[bytes, list[float]]) -> None:
    """Keys and rows survive, bit for bit."""
    keys = np.frombuffer(b"".join(rows), dtype="S32")
    matrix = np.array(list(rows.values()), dtype=np.float32)
    data = encode(keys, matrix)
    back = decode(data)
    assert back is not None
    assert back.keys.tobytes() == b"".join(rows)
    assert rows_of(data, back).tobytes() == matrix.tobytes()


@given(st.binary(max_size=100))
def test_no_bytes_make_decode_raise(data: bytes) -> None:
    """What is no segment is None."""
    assert decode(data) is None or data.startswith(b"RAEMBED1")
