"""The bundled questions keep the rules that the documentation sets for a question file."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ragassay.corpus import read_corpus
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.question import evidence_chunks, lint, literal_problems, load_benchmark, match_evidence
from ragassay.records import Benchmark, Corpus

BUNDLED = Path(__file__).resolve().parents[3] / "examples" / "bundled"


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    """The bundled question set."""
    return load_benchmark(BUNDLED / "questions.json")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """The frozen documentation, chunked as the bundled board says."""
    return read_corpus(BUNDLED / "corpus", HeadingChunker(max_tokens=256, overlap=32))


def test_no_rule_is_broken(benchmark: Benchmark, corpus: Corpus) -> None:
    """Neither an error nor a warning, and the literal judge can judge every claim."""
    assert lint(benchmark, corpus.pages) == []
    assert literal_problems(benchmark) == []


def test_every_evidence_stands_on_its_own_page(benchmark: Benchmark, corpus: Corpus) -> None:
    """Verbatim, but for wrapped lines, on the declared page and on no other."""
    for finding in match_evidence(benchmark, corpus.pages):
        assert finding.state in ("exact", "folded"), finding
        assert set(finding.folds) <= {"whitespace"}, finding
        assert finding.page == finding.declared
        assert not finding.others


def test_the_oracle_has_chunks_for_every_question(benchmark: Benchmark, corpus: Corpus) -> None:
    """Each question's evidence overlaps at least one chunk."""
    chunks = evidence_chunks(benchmark, corpus)
    assert [question.id for question in benchmark.questions if not chunks.get(question.id)] == []


def test_each_question_is_about_another_page(benchmark: Benchmark) -> None:
    """At least 24 questions, numbered without a gap, no two from one page, each naming its subject."""
    questions = benchmark.questions
    assert len(questions) >= 24
    assert [question.id for question in questions] == [f"q-{n:03}" for n in range(1, len(questions) + 1)]
    assert len({question.page for question in questions}) == len(questions)
    assert [question.id for question in questions if "ragassay" not in question.input] == []


def test_provenance_is_complete(benchmark: Benchmark) -> None:
    """Author and day are named, and no question was made from what a system returned."""
    for question in benchmark.questions:
        provenance = question.provenance
        assert provenance is not None
        assert provenance.author
        assert date.fromisoformat(provenance.created or "")
        assert provenance.derived_from_system is False


def test_the_set_names_its_corpus_and_is_frozen(benchmark: Benchmark) -> None:
    """Version, source and licence of the documentation stand in the file."""
    assert benchmark.version != "0"
    assert set(benchmark.corpus) >= {"source", "version", "licence"}
