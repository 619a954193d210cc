"""Every built-in stack keeps the promises of the shipped contract suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.hybrid import Hybrid
from ragassay.plugins.stacks.none import NoRetrieval
from ragassay.plugins.stacks.oracle import Oracle
from ragassay.plugins.stacks.qdrant import Qdrant
from ragassay.records import Chunk
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import QUESTIONS, StackContract, ignore_progress


class TestNoRetrieval(StackContract):
    """The control."""

    stack = NoRetrieval


class TestOracle(StackContract):
    """The ceiling, for questions that have evidence."""

    stack = Oracle
    cuts_at_k = False
    questions = QUESTIONS[:6]

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Give each question two chunks as evidence."""
        return {"evidence": {text: (chunks[at].id, chunks[at + 1].id) for at, text in enumerate(self.questions)}}


class TestBM25(StackContract):
    """The lexical stack with its defaults."""

    stack = BM25


class TestBM25Plus(StackContract):
    """A variant that scores absent tokens too."""

    stack = BM25
    params: ClassVar[Mapping[str, Any]] = {"method": "bm25+", "k1": 1.2, "b": "0.4", "stopwords": "none"}


class TestBM25Robertson(StackContract):
    """A variant whose weight of a frequent token is zero."""

    stack = BM25
    params: ClassVar[Mapping[str, Any]] = {"method": "robertson", "stopwords": ["the", "of"]}


class TestDense(StackContract):
    """Exact cosine."""

    stack = Dense


class TestQdrantCosine(StackContract):
    """The embedded engine, cosine."""

    stack = Qdrant


class TestQdrantDot(StackContract):
    """The embedded engine, dot product of vectors that are not normalised."""

    stack = Qdrant
    params: ClassVar[Mapping[str, Any]] = {"metric": "dot"}


class TestQdrantEuclid(StackContract):
    """The embedded engine, distance negated."""

    stack = Qdrant
    params: ClassVar[Mapping[str, Any]] = {"metric": "euclid"}


class TestHybrid(StackContract):
    """Two stacks fused."""

    stack = Hybrid
    params: ClassVar[Mapping[str, Any]] = {"depth": 4}

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Build the two stacks that are fused."""
        lexical = BM25().build(chunks, {}, ignore_progress)
        return {"of": [lexical, Dense().build(chunks, {"embedder": WordEmbedder()}, ignore_progress)]}
