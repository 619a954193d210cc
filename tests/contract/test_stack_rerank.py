"""The stack `rerank` keeps the promises of the shipped contract suite by each of its methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.rerank import Rerank
from ragassay.records import Chunk, Message, Reply, Secret, TokenLogprob
from ragassay.testing.blocking_model import BlockingScript
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.rerank_server import RerankServer, share
from ragassay.testing.stack_contract import StackContract, ignore_progress
from tiny_cross_encoder import tiny_cross_encoder

KEY = Secret("contract-key-0123")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small cross-encoder."""
    return tiny_cross_encoder(tmp_path_factory.mktemp("onnx"))


@pytest.fixture(scope="module")
def server() -> Iterator[RerankServer]:
    """Give a server that asks for the key."""
    with RerankServer(token=KEY.reveal()) as running:
        yield running


class OverDense(StackContract):
    """Over `dense`, which finds something for nearly every question."""

    stack = Rerank

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Build the stack that is wrapped."""
        return {"of": Dense().build(chunks, {"embedder": WordEmbedder()}, ignore_progress)}


class TestOnnx(OverDense):
    """A small graph made here, one pair a call, one thread."""

    params: ClassVar[Mapping[str, Any]] = {"method": "cross-encoder", "threads": 1, "depth": 12}

    @pytest.fixture(autouse=True)
    def _folder(self, folder: Path) -> None:
        self.path = str(folder)

    def make_stack(self) -> Rerank:
        """Return one over the folder."""
        return Rerank(path=self.path, **self.params)


class TestOnnxInBatches(TestOnnx):
    """Seven pairs a call, raw numbers, few candidates."""

    params: ClassVar[Mapping[str, Any]] = {
        "method": "cross-encoder",
        "batch": 7,
        "scores": "logits",
        "depth": 9,
    }


class Served(OverDense):
    """A service in a form of its own, behind a key."""

    form: ClassVar[str]

    @pytest.fixture(autouse=True)
    def _server(self, server: RerankServer) -> None:
        self.url = server.address(self.form)

    def make_stack(self) -> Rerank:
        """Return one over the server."""
        return Rerank(form=self.form, url=self.url, **self.params)


class TestCohere(Served):
    """Cohere's version 2."""

    form = "cohere"
    params: ClassVar[Mapping[str, Any]] = {"method": "endpoint", "id": "word-share-1", "key": KEY}


class TestJina(Served):
    """Jina's form, four passages a call."""

    form = "jina"
    params: ClassVar[Mapping[str, Any]] = {"method": "endpoint", "id": "word-share-1", "key": KEY, "batch": 4}


class TestTei(Served):
    """Text Embeddings Inference."""

    form = "tei"
    params: ClassVar[Mapping[str, Any]] = {"method": "endpoint", "key": KEY}


def _says(messages: Sequence[Message]) -> Reply:
    passage, _, rest = messages[-1].content.removeprefix("Passage:\n").rpartition("\n\nQuestion: ")
    sure = min(0.99, 0.01 + share(rest, passage))
    tokens = (TokenLogprob(token="Yes", logprob=-1 / sure), TokenLogprob(token="No", logprob=-1.0))
    return Reply(text="Yes" if sure > 0.3 else "No", first_tokens=tokens)


class TestLlm(OverDense):
    """A scripted model, by its log probabilities."""

    params: ClassVar[Mapping[str, Any]] = {"method": "llm"}

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Build the stack that is wrapped, and a model that always says the same of the same."""
        return {**super().parts(chunks), "model": BlockingScript(_says)}


class TestLlmWord(TestLlm):
    """By its word alone: many candidates have equal scores."""

    params: ClassVar[Mapping[str, Any]] = {"method": "llm", "llm_score": "word", "depth": 11, "concurrency": 2}


class TestOverBM25(TestCohere):
    """Over a stack that often finds nothing."""

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Build the stack that is wrapped."""
        return {"of": BM25().build(chunks, {}, ignore_progress)}


def test_the_folder_of_the_tests_is_a_whole_model(tmp_path: Path) -> None:
    """The graph, its tokenizer and its configuration."""
    assert {path.name for path in tiny_cross_encoder(tmp_path).iterdir()} == {
        "config.json",
        "model.onnx",
        "tokenizer.json",
    }
