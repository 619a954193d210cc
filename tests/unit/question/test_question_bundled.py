"""The bundled questions keep the rules that the documentation sets for a question file."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from ragassay.corpus import read_corpus
from ragassay.literals import judge_claim
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.question import evidence_chunks, lint, literal_problems, load_benchmark, load_waivers, match_evidence
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
    """Neither an error nor a warning but the few that are waived, and the literal judge can judge every claim."""
    waivers = load_waivers(BUNDLED / "questions.json")
    assert [one for one in lint(benchmark, corpus.pages, waivers=waivers) if one.waived is None] == []
    assert len(waivers) <= 2
    assert literal_problems(benchmark) == []


def test_every_evidence_stands_on_its_own_page(benchmark: Benchmark, corpus: Corpus) -> None:
    """Verbatim, but for wrapped lines, once on the declared page and on no other."""
    for finding in match_evidence(benchmark, corpus.pages):
        assert finding.state in ("exact", "folded"), finding
        assert set(finding.folds) <= {"whitespace"}, finding
        assert finding.page == finding.declared
        assert not finding.others
        assert finding.repeats == 0, finding


def test_the_evidence_alone_answers_the_question(benchmark: Benchmark) -> None:
    """Every claim is met by the one text of evidence, and by the target: no second page is needed."""
    for question in benchmark.questions:
        (evidence,) = question.evidence
        for claim in question.claims:
            assert judge_claim(claim, evidence)[0] == "SUPPORTS", (question.id, claim.id)
            assert judge_claim(claim, question.target)[0] == "SUPPORTS", (question.id, claim.id)


def test_the_oracle_has_chunks_for_every_question(benchmark: Benchmark, corpus: Corpus) -> None:
    """Each question's evidence overlaps at least one chunk."""
    chunks = evidence_chunks(benchmark, corpus)
    assert [question.id for question in benchmark.questions if not chunks.get(question.id)] == []


def test_there_are_sixty_questions_on_sixty_pages(benchmark: Benchmark) -> None:
    """Sixty, numbered without a gap, no two from one page, each naming its subject and ending as a question."""
    questions = benchmark.questions
    assert [question.id for question in questions] == [f"q-{n:03}" for n in range(1, 61)]
    assert len({question.page for question in questions}) == 60
    assert [question.id for question in questions if "ragassay" not in question.input] == []
    assert [question.id for question in questions if not question.input.endswith("?")] == []


def test_a_third_of_the_questions_have_two_claims(benchmark: Benchmark) -> None:
    """Twenty ask for two facts of one passage, forty for one."""
    assert Counter(len(question.claims) for question in benchmark.questions) == {1: 40, 2: 20}


def test_the_questions_are_spread_over_the_documentation(benchmark: Benchmark) -> None:
    """Every section has questions, none has more than a quarter, and each question has a topic."""
    assert None not in {question.topic for question in benchmark.questions}
    sections = Counter(_section(question.page or "") for question in benchmark.questions)
    assert sections.keys() >= {
        *("verbs", "records", "stacks", "embedders", "chunkers", "judges", "models", "providers"),
        *("howto", "explain", "tutorial"),
    }
    assert max(sections.values()) <= 15


def _section(page: str) -> str:
    first, _, rest = page.partition("/")
    return rest.partition("/")[0] if first == "reference" else first


def test_provenance_is_complete(benchmark: Benchmark) -> None:
    """Author and day are named, and no question was made from what a system returned."""
    for question in benchmark.questions:
        provenance = question.provenance
        assert provenance is not None
        assert provenance.author
        assert date.fromisoformat(provenance.created or "")
        assert provenance.derived_from_system is False


def test_the_set_names_its_corpus_and_is_frozen(benchmark: Benchmark, corpus: Corpus) -> None:
    """Version, source and licence of the documentation stand in the file, whose pages are all in the frozen copy."""
    assert benchmark.version == "1.0.0"
    assert set(benchmark.corpus) >= {"source", "version", "licence"}
    assert len(corpus.pages) == 189


def test_the_boards_ask_the_frozen_set_and_it_is_the_written_one(benchmark: Benchmark) -> None:
    """Both boards name the frozen file, which holds the questions as they are written, to the byte."""
    frozen = BUNDLED / f"{benchmark.name}-{benchmark.version}.json"
    assert frozen.read_bytes() == benchmark.full_form()
    for board in ("board.toml", "board-smollm2.toml"):
        assert f'file = "{frozen.name}"' in (BUNDLED / board).read_text(encoding="utf-8")


def test_the_item_manifest_holds_under_the_maintainers_key(benchmark: Benchmark) -> None:
    """Signature, every item, its page and its evidence: strictly, against the frozen documentation."""
    manifest = BUNDLED / f"{benchmark.name}-{benchmark.version}.items.dsse.json"
    trusted = ["--key", str(BUNDLED / "maintainers.pub.json"), "--corpus", str(BUNDLED / "corpus")]
    command = [sys.executable, "-m", "ragassay", "verify", str(manifest), "--strict", *trusted]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "60 questions, 0 reviewed, 60 not" in result.stdout
