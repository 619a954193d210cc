"""The three real question files read, hash and match as they should."""

from __future__ import annotations

import hashlib
import itertools
import time
from pathlib import Path

import pytest

from ragassay.corpus import read_corpus
from ragassay.plugins import load
from ragassay.question import (
    evidence_chunks,
    evidence_gone,
    lint,
    literal_problems,
    load_benchmark,
    load_file,
    match_evidence,
    published_form,
)
from ragassay.records import Corpus

SETS = {"uv-docs": ("corpus", 81), "postgresql-docs": ("html.tar.xz", 1169)}


@pytest.fixture(scope="module", params=SETS)
def real(request: pytest.FixtureRequest, shared_data: Path) -> tuple[Path, Corpus]:
    """A question file of 30 questions and its corpus."""
    source, pages = SETS[request.param]
    corpus = read_corpus(shared_data / request.param / source, load("chunkers", "heading")())
    assert len(corpus.pages) == pages
    return shared_data / request.param / "questions.json", corpus


def test_the_published_set_hashes_to_its_published_digest(shared_data: Path) -> None:
    """Sixty questions; item set, bytes and export are one digest."""
    path = shared_data / "sdk-docs-retrieval" / "v1.0.0.json"
    read = load_file(path)
    expected = "04adb10a199b3de662f3a20d9bfc6dabb4686c84c39bcab0e5ee9a129b523bdc"
    assert (len(read.benchmark.questions), read.form, read.canonical) == (60, "published", True)
    assert read.benchmark.item_set_digest() == expected
    assert hashlib.sha256(published_form(read.benchmark)).hexdigest() == expected
    assert published_form(read.benchmark) == path.read_bytes()
    assert [finding for finding in lint(read.benchmark) if finding.fails] == []
    assert len(literal_problems(read.benchmark)) == 60


def test_all_real_evidence_is_found_on_its_page_in_a_few_seconds(real: tuple[Path, Corpus]) -> None:
    """Thirty of thirty stand on the declared page and on no other, at most whitespace is folded, no error stands."""
    path, corpus = real
    benchmark = load_benchmark(path)
    began = time.perf_counter()
    findings = match_evidence(benchmark, corpus.pages)
    assert time.perf_counter() - began < 20
    assert len(findings) == 30
    assert all(finding.found and finding.page == finding.declared and not finding.others for finding in findings)
    assert {finding.folds for finding in findings} <= {(), ("whitespace",)}
    assert evidence_gone(findings) == []
    assert [finding for finding in lint(benchmark, corpus.pages, findings) if finding.fails] == []
    assert literal_problems(benchmark) == []


def test_the_oracle_of_real_questions_holds_the_evidence(real: tuple[Path, Corpus]) -> None:
    """Joined in page order, the chunks cover the evidence's span and nothing is missing between them."""
    path, corpus = real
    benchmark = load_benchmark(path)
    findings = {finding.question: finding for finding in match_evidence(benchmark, corpus.pages)}
    by_id = {chunk.id: chunk for chunk in corpus.chunks}
    delivered = evidence_chunks(benchmark, corpus)
    assert list(delivered) == [question.id for question in benchmark.questions]
    for name, ids in delivered.items():
        chunks, finding = [by_id[chunk] for chunk in ids], findings[name]
        assert finding.start is not None
        assert finding.end is not None
        assert chunks[0].start <= finding.start < chunks[0].end
        assert chunks[-1].start < finding.end <= max(chunk.end for chunk in chunks)
        assert all(one.end >= other.start for one, other in itertools.pairwise(chunks))


def test_a_removed_page_names_its_question(real: tuple[Path, Corpus]) -> None:
    """Without the page of the first question, that question alone has lost its evidence."""
    path, corpus = real
    benchmark = load_benchmark(path)
    first = benchmark.questions[0]
    left = [page for page in corpus.pages if page.id != first.page]
    assert evidence_gone(match_evidence(benchmark, left)) == [first.id]
