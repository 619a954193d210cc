"""What a Milvus row may be configured with: every problem at once, nothing that may be a key repeated."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("milvus_lite", reason="pip install 'ragassay[milvus]'")
pytest.importorskip("pymilvus", reason="pip install 'ragassay[milvus]'")

from ragassay import canon
from ragassay.errors import InputError, PluginError
from ragassay.plugins.stacks import milvus
from ragassay.plugins.stacks.milvus import Milvus
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress

URL = "http://127.0.0.1:19530"


def problems(**params: Any) -> str:
    """Return what is wrong with the parameters."""
    with pytest.raises(InputError) as raised:
        Milvus(**params)
    return "\n".join(raised.value.problems)


def build(**params: Any) -> VectorIndex:
    """Return the stack over the suite's corpus."""
    return Milvus(**params).build(corpus(), {"embedder": WordEmbedder()}, ignore_progress)


def test_all_problems_are_listed_at_once() -> None:
    """Wrong values, unknown names and what does not go together."""
    told = problems(metric="dot", index="lsh", nlist=0, topk=3, db="x", collection="docs")
    for what in ("metric = 'dot'", "index = 'lsh'", "nlist = 0", "unknown parameter 'topk'", "db must be left out"):
        assert what in told
    assert "collection must be left out without path or url" in told


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"index": "hnsw", "ef": 50}, "ef = 50 must be at least depth = 100"),
        ({"index": "ivf_flat", "nlist": 8, "nprobe": 9}, "nprobe = 9 must be at most nlist = 8"),
        ({"url": URL, "path": "kept"}, "path must be left out with url"),
        ({"path": "kept", "collection": "1docs"}, "collection must be of letters, digits and _"),
        ({"url": URL, "db": "my-db"}, "db must be of letters, digits and _"),
        ({"consistency": "bounded"}, "consistency must be left out without url"),
        ({"url": "milvus:19530"}, "url must be the http or https address"),
        ({"url": URL + "/default"}, "url must be the http or https address of a Milvus server without a path"),
    ],
)
def test_what_does_not_go_together_is_refused(params: dict[str, Any], told: str) -> None:
    """In words that say what to change."""
    assert told in problems(**params)


def test_an_index_that_the_engine_does_not_build_is_refused_before_any_work() -> None:
    """With those that it builds."""
    told = problems(index="scann")
    assert "'scann' is not built by Milvus Lite, which builds flat, autoindex, hnsw, ivf_flat, ivf_sq8" in told
    Milvus(index="scann", url=URL)


@pytest.mark.parametrize("params", [{"url": "http://me:s3cret@127.0.0.1"}, {"url": URL, "key_env": "s3cret!"}])
def test_what_may_be_a_key_is_not_repeated(params: dict[str, Any]) -> None:
    """A key in the wrong place stays out of the error."""
    assert "s3cret" not in problems(**params)


def test_without_the_engine_a_server_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """And without both it is said what to install."""
    monkeypatch.setattr(milvus, "find_spec", lambda name: None)
    Milvus(url=URL)
    with pytest.raises(PluginError, match="ragassay\\[milvus\\]"):
        Milvus()


def test_what_has_no_effect_is_not_recorded() -> None:
    """Of the parameters only those of the index; no folder, and the engine's version."""
    flat = build()
    graph = build(index="hnsw", m=8)
    told, other = flat.describe(), graph.describe()
    flat.close()
    graph.close()
    assert told["index"] == {"kind": "flat"}
    assert "depth" not in told
    assert other["index"] == {"kind": "hnsw", "m": 8, "ef_construction": 200, "ef": 128}
    assert other["depth"] == 100
    assert set(told) >= {"milvus_lite", "pymilvus", "faiss_cpu", "numpy"}
    assert "/" not in canon.canonical(told).decode()


def test_no_more_is_asked_of_an_index_than_depth() -> None:
    """More hits than it looks at are an error, not fewer hits."""
    index = build(index="hnsw", depth=4)
    assert len(index.search("river fox", 4)) == 4
    with pytest.raises(Exception, match="returns at most 4 hits, and 5 were asked for"):
        index.search("river fox", 5)
    index.close()
