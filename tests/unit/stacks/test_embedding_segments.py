"""Segments that are embedded elsewhere and handed over, stores of before, and what a killed build keeps."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay import canon
from ragassay.errors import InputError, PluginError
from ragassay.run.embedding_places import PlaceIndex, split
from ragassay.run.embeddings import ABOUT, BLOCK, CachedEmbedder, add_segment, encode_segment, missing, missing_texts
from ragassay.testing.fake_embedder import WordEmbedder

IDENTITY = canon.digest(WordEmbedder().describe())
OLD = bytes.fromhex(
    "5241454d424544310200000002000000237e45e4f0eefdc808b66f257f835795022ea4d859156cbfcedb795f0ff8d66e"
    "4e952ff595e419d61c7a00a5b33da81784bf60a35ab1760b17527608561955fd000000000000803f0000803f0000803f"
)


class Narrow(WordEmbedder):
    """The fake embedder in two dimensions, which must not be asked."""

    def __init__(self) -> None:
        super().__init__(dimension=2)

    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        """Fail: every row is in the store."""
        raise AssertionError(f"asked for {texts}")


def test_what_a_worker_embedded_is_found(tmp_path: Path) -> None:
    """Blocks are handed over as bytes, in any order and twice; nothing is embedded afterwards."""
    texts = [f"text {at}" for at in range(20)] + ["text 3"]
    lacking = missing_texts(tmp_path, IDENTITY, texts)
    assert lacking == texts[:20]
    about = WordEmbedder().describe()
    for start in (15, 5, 0, 10, 5):
        block = lacking[start : start + 5]
        data = encode_segment(IDENTITY, block, WordEmbedder().embed(block, "document"))
        assert add_segment(tmp_path, about, data) == 5
    assert missing_texts(tmp_path, IDENTITY, texts) == []
    assert len(list(tmp_path.rglob("*.rows"))) == 4
    assert (tmp_path / IDENTITY / ABOUT).read_bytes() == canon.canonical(about)
    inner = WordEmbedder()
    cached = CachedEmbedder(inner, tmp_path)
    assert np.array_equal(cached.embed(texts, "document"), WordEmbedder().embed(texts, "document"))
    assert (inner.calls, cached.embedded, cached.reused) == (0, 0, 21)


def test_missing_texts_keep_their_order_and_come_once(tmp_path: Path) -> None:
    """What is in the store is left out, whatever else stands there twice."""
    CachedEmbedder(WordEmbedder(), tmp_path).embed(["b", "d"], "document")
    texts = ["e", "b", "a", "e", "d", "c", "a"]
    assert missing_texts(tmp_path, IDENTITY, texts) == ["e", "a", "c"]
    assert missing(tmp_path, IDENTITY, texts) == 3
    assert missing_texts(tmp_path, IDENTITY, []) == []
    assert missing_texts(tmp_path / "nowhere", IDENTITY, ["a"]) == ["a"]


@pytest.mark.parametrize("defect", ["empty", "cut", "grown", "no_segment", "not_finite"])
def test_bytes_that_are_no_segment_are_refused(tmp_path: Path, defect: str) -> None:
    """Whatever a worker sends, the store holds whole segments of numbers alone."""
    data = bytearray(encode_segment(IDENTITY, ["a"], WordEmbedder().embed(["a"], "document")))
    data[-4:] = np.array([np.nan], "<f4").tobytes() if defect == "not_finite" else data[-4:]
    broken = {"empty": b"", "cut": bytes(data[:-1]), "grown": bytes(data) + b"x", "no_segment": b"x" * 500}
    with pytest.raises(PluginError, match="no segment"):
        add_segment(tmp_path, WordEmbedder().describe(), broken.get(defect, bytes(data)))
    assert list(tmp_path.rglob("*.rows")) == []


def test_rows_of_a_wrong_number_make_no_segment() -> None:
    """A worker's fault is told where it happens."""
    with pytest.raises(PluginError, match="returned shape"):
        encode_segment(IDENTITY, ["a", "b"], WordEmbedder().embed(["a"], "document"))


def test_a_store_of_before_is_read(tmp_path: Path) -> None:
    """The form of a segment is fixed: these bytes were written by an earlier version."""
    about = Narrow().describe()
    folder = tmp_path / canon.digest(about)
    folder.mkdir()
    (folder / f"{canon.sha256(OLD)}.rows").write_bytes(OLD)
    found = CachedEmbedder(Narrow(), tmp_path).embed(["two words", "one", "two words"], "document")
    assert found.tolist() == [[1, 1], [0, 1], [1, 1]]


def test_two_dimensions_in_one_store_are_no_matrix(tmp_path: Path) -> None:
    """An embedder that changed in silence is named, not padded."""
    about = WordEmbedder().describe()
    for width, text in ((3, "a"), (4, "b")):
        data = encode_segment(IDENTITY, [text], np.ones((1, width), np.float32))
        add_segment(tmp_path, about, data)
    with pytest.raises(PluginError, match="changed its dimension from 3 to 4"):
        CachedEmbedder(WordEmbedder(), tmp_path).embed(["a", "b"], "document")


def test_a_segment_that_is_removed_while_it_is_in_use_is_an_error(tmp_path: Path) -> None:
    """No row is made up for it."""
    cached = CachedEmbedder(WordEmbedder(), tmp_path)
    cached.embed(["a"], "document")
    (segment,) = tmp_path.rglob("*.rows")
    segment.unlink()
    with pytest.raises(InputError, match="cannot read the embedding store"):
        cached.embed(["a"], "document")


def test_a_failure_keeps_the_blocks_before_it(tmp_path: Path) -> None:
    """A long list is embedded and kept block by block, and the count says how many."""

    class Failing(WordEmbedder):
        def embed(self, texts: Sequence[str], kind: Any) -> Any:
            """Fail in the third block."""
            if self.calls >= 2 * BLOCK:
                raise ConnectionError("down")
            return super().embed(texts, kind)

    texts = [f"text {at}" for at in range(3 * BLOCK)]
    cached = CachedEmbedder(Failing(), tmp_path)
    with pytest.raises(ConnectionError):
        cached.embed(texts, "document")
    assert cached.embedded == 2 * BLOCK
    inner = WordEmbedder()
    CachedEmbedder(inner, tmp_path).embed(texts, "document")
    assert inner.calls == BLOCK


KILLED = """
import sys, time
from pathlib import Path
from ragassay.run.embeddings import BLOCK, CachedEmbedder
from ragassay.testing.fake_embedder import WordEmbedder

class Slow(WordEmbedder):
    def embed(self, texts, kind):
        if self.calls >= 2 * BLOCK:
            print("third block", flush=True)
            time.sleep(600)
        return super().embed(texts, kind)

CachedEmbedder(Slow(), Path(sys.argv[1])).embed([f"text {at}" for at in range(4 * BLOCK)], "document")
"""


def test_a_kill_loses_the_block_under_way_alone(tmp_path: Path) -> None:
    """Two blocks were whole when the process was killed; two are embedded afterwards."""
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"third block\n"
    child.kill()
    child.communicate()
    inner = WordEmbedder()
    cached = CachedEmbedder(inner, tmp_path)
    texts = [f"text {at}" for at in range(4 * BLOCK)]
    assert np.array_equal(cached.embed(texts, "document"), WordEmbedder().embed(texts, "document"))
    assert (inner.calls, cached.reused, cached.damaged) == (2 * BLOCK, 2 * BLOCK, 0)


@given(
    st.lists(st.lists(st.binary(min_size=32, max_size=32), max_size=9), max_size=9), st.binary(min_size=32, max_size=32)
)
@settings(max_examples=60, deadline=None)
def test_every_key_is_found_where_it_was_put(segments: list[list[bytes]], other: bytes) -> None:
    """Whatever was merged with what; a key that was never put is nowhere."""
    index = PlaceIndex()
    for number, keys in enumerate(segments):
        index.add(np.array(keys, dtype="S32"), number)
    asked = [key for keys in segments for key in keys] + [other]
    for key, place in zip(asked, index.find(np.array(asked, dtype="S32")), strict=True):
        number, row = (int(part) for part in split(place))
        if key == other and not any(other in keys for keys in segments):
            assert place == -1
        else:
            assert segments[number][row] == key


def test_looking_up_is_fast_enough_for_a_large_store() -> None:
    """200,000 keys in segments of 256 are noted and found in a few seconds of processor time."""
    rng = np.random.default_rng(3)
    keys = np.frombuffer(rng.bytes(32 * 200_000), dtype="S32")
    began = time.process_time()
    index = PlaceIndex()
    for number, start in enumerate(range(0, len(keys), 256)):
        index.add(keys[start : start + 256], number)
    assert (index.find(keys) >= 0).all()
    assert time.process_time() - began < 10
