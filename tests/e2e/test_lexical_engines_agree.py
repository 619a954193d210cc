"""The two lexical stacks find the same evidence on real documents, and nearly the same ten chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("tantivy", reason="pip install 'ragassay[tantivy]'")

from ragassay.corpus import read_corpus
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.tantivy import Tantivy
from ragassay.question import load_benchmark
from ragassay.question.evidence import evidence_chunks
from ragassay.records import Chunk, Question
from ragassay.run.build import make_chunker
from ragassay.testing.stack_contract import ignore_progress

SOURCES = {"uv-docs": "corpus", "postgresql-docs": "html.tar.xz"}
BEST = 5
K = 10


class Case(msgspec.Struct, frozen=True):
    """A corpus in heading chunks, its questions, and which chunks hold the evidence of each."""

    chunks: Sequence[Chunk]
    questions: Sequence[Question]
    evidence: Mapping[str, Sequence[str]]

    def lists(self, stack: type[Any], **params: Any) -> list[list[str]]:
        """Return the best ten chunks of each question."""
        index = stack(**params).build(self.chunks, {}, ignore_progress)
        try:
            return [[hit.chunk for hit in index.search(question.input, K)] for question in self.questions]
        finally:
            index.close()

    def reached(self, lists: Sequence[Sequence[str]]) -> int:
        """Return for how many questions one of the best five chunks holds evidence."""
        pairs = zip(self.questions, lists, strict=True)
        return sum(not set(self.evidence[question.id]).isdisjoint(found[:BEST]) for question, found in pairs)


@pytest.fixture(
    scope="module",
    params=["uv-docs", pytest.param("postgresql-docs", marks=pytest.mark.slow)],
    ids=["uv", "postgresql"],
)
def case(shared_data: Path, request: pytest.FixtureRequest) -> Case:
    """Return each corpus in turn."""
    folder = shared_data / request.param
    corpus = read_corpus(folder / SOURCES[request.param], make_chunker({"kind": "heading"}))
    benchmark = load_benchmark(folder / "questions.json")
    return Case(corpus.chunks, benchmark.questions, evidence_chunks(benchmark, corpus))


def test_words_cut_alike_find_the_same(case: Case) -> None:
    """With `words` and k1 = 1.2 only the lengths in one byte differ: the same reach, and 95 of 100 chunks are equal."""
    wanted, found = case.lists(BM25, k1="1.2"), case.lists(Tantivy, tokenizer="words")
    equal = sum(len(set(one) & set(other)) for one, other in zip(wanted, found, strict=True))
    assert equal >= 0.95 * sum(map(len, wanted))
    assert case.reached(found) == case.reached(wanted)


@pytest.mark.parametrize("params", [{}, {"stopwords": "none"}, {"stemmer": "english"}])
def test_whoever_takes_tantivy_loses_no_evidence(case: Case, params: dict[str, Any]) -> None:
    """Its defaults, its words unfiltered and its stems reach at least as many questions as `bm25` does."""
    assert case.reached(case.lists(Tantivy, **params)) >= case.reached(case.lists(BM25))
