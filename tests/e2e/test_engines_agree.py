"""Every engine that compares vectors one by one returns what `dense` returns, ties aside, on real documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from chroma_server import running_chroma
from postgres_server import PostgresServer
from ragassay import plugins
from ragassay.corpus import read_corpus
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.matrix import unit_rows
from ragassay.plugins.stacks.vectors import embed_chunks
from ragassay.plugins.weights import default_cache, require
from ragassay.question import load_benchmark
from ragassay.records import Chunk
from ragassay.run.build import make_chunker
from ragassay.run.embeddings import CachedEmbedder
from ragassay.seams import Embedder, Retriever
from ragassay.testing.stack_contract import ignore_progress

ROOT = Path(__file__).resolve().parents[2]
K = 10
TIE = 2e-6
"""Cosines that differ by less are equal: float32 sums over 384 products, in whatever order."""
PACKAGES = {
    "qdrant": "qdrant_edge",
    "pgvector": "psycopg",
    "chroma": "chromadb",
    "lancedb": "lancedb",
    "milvus": "milvus_lite",
}


class Case(msgspec.Struct, frozen=True):
    """A corpus with its questions, the vectors of its chunks, and what embeds."""

    chunks: Sequence[Chunk]
    questions: Sequence[str]
    matrix: NDArray[np.float32]
    embedder: Embedder

    def cosines(self, question: str) -> dict[str, float]:
        """Return the cosine of every chunk with a question, in float64."""
        query = unit_rows(self.embedder.embed([question], "query"))[0].astype(np.float64)
        found = unit_rows(self.matrix).astype(np.float64) @ query
        return {chunk.id: float(score) for chunk, score in zip(self.chunks, found, strict=True)}


def _case(docs: Path, questions: Path, cache: Path) -> Case:
    name = "minilm-l6-v2-int8"
    plugin = plugins.load("embedders", name)
    embedder = CachedEmbedder(plugin(path=require(plugin.weights, default_cache()).parent), cache)
    chunks = read_corpus(docs, make_chunker({"kind": "heading", "max_tokens": 256, "overlap": 32})).chunks
    asked = [question.input for question in load_benchmark(questions).questions]
    return Case(chunks, asked, embed_chunks(embedder, chunks, ignore_progress), embedder)


@pytest.fixture(scope="module")
def uv_docs(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """The documentation of uv with its question set."""
    folder = shared_data / "uv-docs"
    return _case(folder / "corpus", folder / "questions.json", tmp_path_factory.mktemp("vectors"))


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """The board that comes with ragassay."""
    folder = ROOT / "examples" / "bundled"
    return _case(folder / "corpus", folder / "questions.json", tmp_path_factory.mktemp("vectors"))


@pytest.fixture(params=["bundled", "uv_docs"])
def case(request: pytest.FixtureRequest) -> Case:
    """Return each corpus in turn; that of uv is skipped where it is not beside the checkout."""
    found: Case = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Mapping[str, Any]]:
    """Return the board entry of an exact cosine search by an engine, which runs meanwhile where it is a server."""
    name: str = request.param
    kind, _, way = name.partition(" ")
    pytest.importorskip(PACKAGES[kind], reason=f"pip install 'ragassay[{kind}]'")
    if name == "chroma server":
        with running_chroma(tmp_path / "chroma") as server:
            yield {"kind": kind, "url": server.url}
    elif name == "pgvector server":
        postgres: PostgresServer = request.getfixturevalue("postgres")
        yield {"kind": kind, "url": postgres.url()}
    else:
        assert way == "embedded"
        yield {"kind": kind}


@pytest.fixture
def built(engine: Mapping[str, Any], case: Case) -> Iterator[Retriever]:
    """Return the engine's index over the case's chunks."""
    params = {name: value for name, value in engine.items() if name != "kind"}
    stack = plugins.load("stacks", engine["kind"])(**params)
    retriever: Retriever = stack.build(case.chunks, {"embedder": case.embedder}, ignore_progress)
    yield retriever
    retriever.close()


ENGINES = [
    "qdrant embedded",
    "pgvector server",
    "chroma embedded",
    "chroma server",
    "lancedb embedded",
    "milvus embedded",
]


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_every_engine_returns_what_dense_returns(built: Retriever, case: Case) -> None:
    """The same ten chunks for every question, in the same order; chunks of one cosine may stand in any."""
    dense = Dense().build(case.chunks, {"embedder": case.embedder}, ignore_progress)
    for question in case.questions:
        wanted, found = dense.search(question, K), built.search(question, K)
        assert len(found) == len(wanted) == K
        assert len({hit.chunk for hit in found}) == K
        cosines = case.cosines(question)
        for ours, theirs in zip(wanted, found, strict=True):
            assert ours.chunk == theirs.chunk or abs(cosines[ours.chunk] - cosines[theirs.chunk]) < TIE
            assert abs(theirs.score - cosines[theirs.chunk]) < TIE
