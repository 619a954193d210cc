"""What the stack `usearch` finds, how it keeps its graph, and what it says of its recall."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if find_spec("usearch") is None:  # not imported here: that is the stack's to do, after onnxruntime
    pytest.skip("pip install 'ragassay[usearch]'", allow_module_level=True)

from kept_index import many, told
from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.usearch import USearch
from ragassay.plugins.stacks.usearch.graph import Graph
from ragassay.plugins.stacks.usearch.nodes import nodes_of
from ragassay.plugins.stacks.usearch.recall import Recall, measured
from ragassay.plugins.stacks.usearch.settings import read_settings
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Chunk
from ragassay.testing.fake_embedder import TableEmbedder, WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress

QUESTIONS = ("river fox", "word12 number3", "word99 fox", "number5")


class Cloud(WordEmbedder):
    """A point of a seeded cloud for each text, in 48 dimensions."""

    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        """Return a row by the SHA-256 of the text's words."""
        words = super().embed(texts, kind)
        rows = [
            np.random.default_rng(int(row @ np.arange(64)) * 7 + len(text))
            for row, text in zip(words, texts, strict=True)
        ]
        return np.stack([one.standard_normal(48).astype(np.float32) for one in rows])


def built(chunks: Sequence[Chunk], cache: Path | None = None, embedder: Any = None, **params: Any) -> VectorIndex:
    """Return a built index, kept in a cache where one is given."""
    parts = {"embedder": embedder or WordEmbedder()} | ({} if cache is None else {"cache": cache})
    return USearch(**params).build(chunks, parts, ignore_progress)


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8"])
def test_candidates_compared_anew_have_the_scores_of_dense(dtype: str) -> None:
    """With as many candidates as chunks the list is that of the exact search, to the last bit."""
    chunks = many(300)
    exact = Dense().build(chunks, {"embedder": WordEmbedder()}, ignore_progress)
    with_all = built(chunks, dtype=dtype, expansion_search=300)
    for question in QUESTIONS:
        assert with_all.search(question, 40) == exact.search(question, 40)


@pytest.mark.parametrize(("dtype", "most"), [("f32", 1e-6), ("f16", 2e-3), ("i8", 2e-2)])
def test_scores_as_found_are_near_the_cosines(dtype: str, most: float) -> None:
    """Without comparing anew they are those of the stored numbers."""
    chunks = many(300)
    exact = Dense().build(chunks, {"embedder": WordEmbedder()}, ignore_progress)
    found = built(chunks, dtype=dtype, expansion_search=300, rescore=False)
    for question in QUESTIONS:
        cosines = {hit.chunk: hit.score for hit in exact.search(question, 300)}
        assert all(abs(hit.score - cosines[hit.chunk]) < most for hit in found.search(question, 20))


@pytest.mark.parametrize("rescore", [True, False])
def test_equal_vectors_are_one_node_and_all_their_chunks(rescore: bool) -> None:
    """2,100 vectors that are three would tear a graph apart; each chunk is found, in corpus order."""
    embedder = TableEmbedder({"a": [1, 0, 0], "b": [0, 1, 0], "c": [0.6, 0.8, 0], "q": [1, 0.1, 0]})
    chunks = corpus(["a", "b", "c"] * 700)
    index = built(chunks, embedder=embedder, rescore=rescore)
    assert (index.describe()["nodes"], index.count()) == (3, 2100)
    hits = index.search("q", 100)
    assert [hit.chunk for hit in hits] == [chunk.id for chunk in chunks[::3][:100]]


def test_a_chunk_without_a_direction_is_left_out_and_said_to_be() -> None:
    """It is in no graph of cosines; a question without one finds nothing."""
    embedder = TableEmbedder({"a": [1, 0], "z": [0, 0], "q": [1, 1]})
    chunks = corpus(["z", "a", "z"])
    index = built(chunks, embedder=embedder)
    assert index.left_out == frozenset({chunks[0].id, chunks[2].id})
    assert [hit.chunk for hit in index.search("q", 3)] == [chunks[1].id]
    assert index.search("z", 3) == []
    dark = built(corpus(["z", "z"]), embedder=embedder)
    assert dark.search("q", 3) == []
    assert dark.describe()["recall"]["value"] is None


def test_more_hits_than_candidates_are_an_error() -> None:
    """Not a short list."""
    with pytest.raises(StackError, match="usearch returns at most 8 hits, and 9 were asked for"):
        built(many(50), expansion_search=8).search("river", 9)


def test_wrong_parameters_are_all_told() -> None:
    """With their ranges."""
    with pytest.raises(InputError) as caught:
        USearch(connectivity=1, expansion_add=2, expansion_search=0, dtype="f64", rescore=1, threads=0)
    assert len(caught.value.problems) == 6
    with pytest.raises(InputError, match="cannot be used") as caught:
        USearch(connectivity=64, expansion_add=32)
    assert "at least connectivity" in caught.value.problems[0]


def test_a_graph_is_kept_and_found_again(tmp_path: Path) -> None:
    """By its vectors and by what shapes it; the search's own numbers shape nothing."""
    first = built(many(80), tmp_path)
    assert told(first) == (False, ())
    again = built(many(80), tmp_path, expansion_search=64)
    assert told(again) == (True, ())
    other = built(many(80), tmp_path, dtype="i8")
    assert first.stored is not None
    assert told(other) == (False, (first.stored.name,))
    assert built(many(81), tmp_path).stored != first.stored
    assert [index.search("river", 5) for index in (first, again)] == [first.search("river", 5)] * 2
    assert first.describe() == built(many(80), tmp_path).describe()


def test_two_builds_are_the_same_file(tmp_path: Path) -> None:
    """One thread fills a graph alike each time, byte for byte."""
    names = {}
    for place in ("one", "two"):
        built(many(500), tmp_path / place, Cloud())
        (path,) = (tmp_path / place).rglob("*.usearch")
        names[place] = path.read_bytes()
    assert names["one"] == names["two"]


@pytest.mark.parametrize("defect", ["flipped", "cut", "emptied", "gone", "one_more", "about_gone", "about_other"])
def test_an_altered_graph_is_noticed(tmp_path: Path, defect: str) -> None:
    """It is never mapped; the error says what to remove."""
    built(many(80), tmp_path).close()
    (path,) = tmp_path.rglob("*.usearch")
    data, about = path.read_bytes(), path.parent / "ragassay.json"
    if defect in ("flipped", "cut", "emptied"):
        broken = {"flipped": data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], "cut": data[:-1], "emptied": b""}
        path.write_bytes(broken[defect])
    elif defect == "gone":
        path.unlink()
    elif defect == "one_more":
        (path.parent / "more").write_bytes(b"")
    elif defect == "about_gone":
        about.unlink()
    else:
        about.write_bytes(about.read_bytes().replace(b'"digest":"', b'"digest":"0'))
    with pytest.raises(StackError, match=r"usearch: .*remove it by hand \(rm -r .*ragassay_"):
        built(many(80), tmp_path)


KILLED = """
import sys, time
from pathlib import Path
from kept_index import many
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.usearch import USearch
from ragassay.testing.fake_embedder import WordEmbedder

def progress(done, total):
    if any(Path(sys.argv[1]).glob(".*.building")):
        print("building", flush=True)
        time.sleep(600)

USearch().build(many(80), {"embedder": WordEmbedder(), "cache": Path(sys.argv[1])}, progress)
"""


def test_a_killed_build_leaves_nothing_that_is_used(tmp_path: Path) -> None:
    """The next one begins anew and cleans up."""
    tests = str(Path(__file__).parents[2])
    child = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r})\n{KILLED}", str(tmp_path)],
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"building\n"
    child.kill()
    child.communicate()
    assert list(tmp_path.glob(".*.building"))
    assert told(built(many(80), tmp_path)) == (False, ())
    assert not list(tmp_path.glob(".*.building"))


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """With its path."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StackError, match=r"could not keep its index in .*file"):
        built(many(5), tmp_path / "file")


def test_the_recall_is_recorded_and_kept(tmp_path: Path) -> None:
    """It is lower for fewer candidates, measured once for each number of them, and never believed when altered."""
    chunks = many(2000)
    wide = built(chunks, tmp_path, Cloud(), expansion_search=400).describe()["recall"]
    narrow = built(chunks, tmp_path, Cloud(), expansion_search=4, connectivity=4).describe()["recall"]
    assert (wide["k"], wide["queries"]) == (10, 200)
    assert float(narrow["value"]) < float(wide["value"]) <= 1
    kept = sorted(tmp_path.glob("recall-*.json"))
    assert len(kept) == 2
    before = [path.read_bytes() for path in kept]
    for path in kept:
        path.write_bytes(path.read_bytes().replace(b'"found":', b'"found":1'))
    assert built(chunks, tmp_path, Cloud(), expansion_search=400).describe()["recall"] == wide
    assert built(chunks, tmp_path, Cloud(), expansion_search=4, connectivity=4).describe()["recall"] == narrow
    assert [path.read_bytes() for path in kept] == before


def test_recall_counts_what_is_as_near_as_the_tenth() -> None:
    """An engine that returns the farthest has found nothing, one that returns everything all; 1 means all."""
    rng = np.random.default_rng(4)
    matrix = rng.standard_normal((60, 5)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)

    class Sorted:
        def __init__(self, sign: int) -> None:
            self._sign = sign

        def nearest(self, text: str, vector: list[float], limit: int) -> list[tuple[int, float]]:
            """Return the nearest, or the farthest."""
            scores = self._sign * (matrix @ np.array(vector, np.float32))
            return [(int(at), float(scores[at])) for at in np.argsort(-scores)[:limit]]

    names = np.arange(60)
    assert measured(Sorted(1), matrix, names) == Recall(queries=60, wanted=600, found=600)
    assert measured(Sorted(-1), matrix, names).found == 0
    assert measured(Sorted(1), matrix[:1], names[:1]).described()["value"] is None
    assert Recall(queries=200, wanted=2000, found=1999).described()["value"] == "0.9995"
    assert Recall(queries=1, wanted=100_000, found=99_999).described()["value"] == "0.9999"


def test_nodes_are_the_different_vectors_with_a_direction() -> None:
    """Each stands for its chunks; the digest is over every number and the shape."""
    matrix = np.array([[0, 1], [1, 0], [0, 0], [0, 1], [1, 0], [0, 1]], np.float32)
    nodes = nodes_of(matrix)
    assert nodes.first.tolist() == [0, 1]
    assert {name: part.tolist() for name, part in nodes.twins.items()} == {0: [0, 3, 5], 1: [1, 4]}
    assert nodes.zero.tolist() == [2]
    assert nodes.positions(np.array([1])).tolist() == [1, 4]
    assert len({nodes_of(one).digest for one in (matrix, matrix[::-1], matrix.reshape(4, 3), matrix[:5])}) == 4


def test_a_file_with_another_number_of_nodes_is_refused(tmp_path: Path) -> None:
    """What was saved is counted when it is opened."""
    built(many(80), tmp_path).close()
    (path,) = tmp_path.rglob("*.usearch")
    matrix = np.eye(64, dtype=np.float32)

    with pytest.raises(StackError, match="of 64 different vectors"):
        Graph(path, matrix, nodes_of(matrix), read_settings(Parameters("usearch", {})), {"scale": None})


def test_nothing_is_searched_after_the_end() -> None:
    """An error, not a fault of memory."""
    index = built(many(30))
    index.close()
    with pytest.raises(StackError, match="closed"):
        index.search("river", 2)


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="pip install 'ragassay[run]'")
def test_usearch_and_onnxruntime_share_a_process() -> None:
    """Whatever is used first; where somebody imported usearch before, an error says what to do."""
    stack = "import ragassay.plugins.stacks.usearch.client"
    both = subprocess.run([sys.executable, "-c", f"{stack}, onnxruntime"], capture_output=True, check=False)
    assert (both.returncode, both.stderr) == (0, b"")
    late = subprocess.run([sys.executable, "-c", f"import usearch\n{stack}"], capture_output=True, check=False)
    assert late.returncode == 1
    assert b"PluginError: usearch was imported before onnxruntime" in late.stderr
