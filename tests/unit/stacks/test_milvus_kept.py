"""Milvus Lite in a folder: found again, continued, refused, shared by rows; and gone with `close` where it passes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("milvus_lite", reason="pip install 'ragassay[milvus]'")
pytest.importorskip("pymilvus", reason="pip install 'ragassay[milvus]'")

from milvus_lite import MilvusLite

from kept_index import many, told
from ragassay.errors import StackError
from ragassay.plugins.stacks.milvus import Milvus
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Chunk
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import ignore_progress

QUESTIONS = ("word7 river", "number3", "word1499 fox")


def build(folder: Path, chunks: list[Chunk], progress: Any = ignore_progress, **params: Any) -> VectorIndex:
    """Return the stack over a folder."""
    embedder = WordEmbedder(dimension=params.pop("dimension", 64))
    return Milvus(path=str(folder), **params).build(chunks, {"embedder": embedder}, progress)


@pytest.mark.parametrize("params", [{}, {"index": "hnsw"}, {"index": "ivf_flat", "nlist": 8, "nprobe": 8}])
def test_what_was_interrupted_is_continued_and_then_found_again(tmp_path: Path, params: dict[str, Any]) -> None:
    """A build stopped in the middle leaves a collection that is not whole; the next one ends as an undisturbed one."""
    chunks, calls = many(1_500), []

    def stop(*at: int) -> None:
        calls.append(at)
        if len(calls) == 7:  # six blocks are embedded, and one is stored
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "one", chunks, stop, **params)
    continued = build(tmp_path / "one", chunks, **params)
    again = build(tmp_path / "one", chunks, **params)
    whole = build(tmp_path / "two", chunks, **params)
    assert [told(index)[0] for index in (continued, again, whole)] == [False, True, False]
    for question in QUESTIONS:
        found = [index.search(question, 10) for index in (continued, again, whole)]
        assert found[0] == found[1]
        scores = [[hit.score for hit in hits] for hits in found]
        assert np.allclose(scores[0], scores[2], atol=1e-6)
        assert params or found[0] == found[2]
    assert continued.count() == again.count() == 1_500
    for index in (continued, again, whole):
        index.close()


def test_an_index_that_was_not_made_is_made_when_the_collection_is_found(tmp_path: Path) -> None:
    """A build that ended between the collection and its index is whole after the next one."""
    build(tmp_path, many(30), collection="docs", index="hnsw").close()
    with MilvusLite(str(tmp_path)) as base:
        base.get_collection("docs").drop_index("vector")
    index = build(tmp_path, many(30), collection="docs", index="hnsw")
    assert index.search("word7", 1)[0].chunk == "page-7.md#0"
    index.close()
    with MilvusLite(str(tmp_path)) as base:
        assert base.get_collection("docs").get_index_info()["build_params"] == {"M": 16, "efConstruction": 200}


def test_another_index_than_was_made_is_refused(tmp_path: Path) -> None:
    """Somebody built another over the same vectors."""
    build(tmp_path, many(30), collection="docs", index="hnsw").close()
    with MilvusLite(str(tmp_path)) as base:
        base.get_collection("docs").drop_index("vector")
        params = {"M": 4, "efConstruction": 8}
        base.get_collection("docs").create_index(
            "vector", {"index_type": "HNSW", "metric_type": "L2", "params": params}
        )
    with pytest.raises(StackError, match="'docs' has not the M, efConstruction, metric_type that was asked for"):
        build(tmp_path, many(30), collection="docs", index="hnsw")


def test_other_collections_of_ragassay_are_named(tmp_path: Path) -> None:
    """Under other names, sorted; rows over one folder share its engine."""
    first, second, third = build(tmp_path, many(3)), build(tmp_path, many(4)), build(tmp_path, many(3), metric="l2")
    names = [index.stored.name for index in (first, second, third) if index.stored]
    assert len(set(names)) == 3
    assert told(third)[1] == tuple(sorted(names[:2]))
    first.close()
    assert second.search("word2", 1)[0].chunk == "page-2.md#0"
    for index in (second, third):
        index.close()


@pytest.mark.parametrize("other", [{"chunks": 4}, {"dimension": 32}, {"metric": "l2"}, {"index": "hnsw"}])
def test_a_collection_of_another_corpus_embedder_or_setting_is_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    """Under a name given by hand nothing is mixed, and what was there stays."""
    index = build(tmp_path, many(5), collection="docs")
    before = index.search("word1", 5)
    changed = dict(other)
    chunks = many(changed.pop("chunks", 5))
    with pytest.raises(StackError, match="'docs' holds another corpus, embedder or setting") as raised:
        build(tmp_path, chunks, collection="docs", **changed)
    assert not raised.value.retryable
    assert index.search("word1", 5) == before
    index.close()


def test_a_folder_in_use_by_another_process_is_an_error_that_passes(tmp_path: Path) -> None:
    """The engine locks it; asked again after the other's end, it is there."""
    code = "import sys\nfrom milvus_lite import MilvusLite\nMilvusLite(sys.argv[1])\nprint(1, flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(StackError, match="is in use by another process") as raised:
            build(tmp_path, many(3))
        other.kill()
    assert raised.value.retryable
    build(tmp_path, many(3)).close()


def test_a_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    """It names what could not be done."""
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StackError, match="milvus could not open the folder"):
        build(tmp_path / "file", many(3))


@pytest.mark.parametrize("stops", [False, True])
def test_closing_ends_every_thread_and_removes_what_is_passing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops: bool
) -> None:
    """Also where the build is interrupted: no thread of the engine runs on, and no folder is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def progress(*at: int) -> None:
        if stops and at == (5, 5):
            raise KeyboardInterrupt

    before = set(threading.enumerate())
    try:
        index = Milvus(index="hnsw").build(many(5), {"embedder": WordEmbedder()}, progress)
        assert index.search("word2", 1)
        index.close()
        index.close()
    except KeyboardInterrupt:
        assert stops
    left = set(threading.enumerate()) - before
    for thread in left:
        thread.join(2)
    assert not [thread.name for thread in left if thread.is_alive()]
    assert list(tmp_path.iterdir()) == []


def test_the_client_reads_no_env_file_and_prints_nothing(tmp_path: Path) -> None:
    """On import and where a search fails; by itself it would put `.env` into the environment, and print each error."""
    (tmp_path / ".env").write_text("RAGASSAY_FROM_A_FILE=1\n")
    code = """
import os
from ragassay.errors import StackError
from ragassay.plugins.stacks.milvus import Milvus
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress
assert "RAGASSAY_FROM_A_FILE" not in os.environ
index = Milvus().build(corpus(), {"embedder": WordEmbedder()}, ignore_progress)
index._engine._collection._client.drop_collection(index._engine._collection.name)
try:
    index.search("river", 1)
except StackError:
    index.close()
else:
    raise SystemExit("no error")
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
