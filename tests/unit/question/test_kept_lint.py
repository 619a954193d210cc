"""The lint of one question after the other says what the lint of the whole set says of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ragassay.canon import sha256
from ragassay.question import Waiver, lint, load_benchmark
from ragassay.question.kept_lint import KeptLint, _alike
from ragassay.question.neighbours import neighbours
from ragassay.question.rules import LintFinding
from ragassay.records import Benchmark, Claim, Page, Provenance, Question


def page(name: str, text: str) -> Page:
    """Return a page of documentation."""
    digest = sha256(text.encode())
    return Page(id=name, title=name, text=text, format="markdown", sha256=digest, source_sha256=digest)


def question(name: str, text: str, evidence: str, **changes: object) -> Question:
    """Return a question about the evidence."""
    claim = Claim(id=1, text="It is 42.", central=True, must=(("42",),))
    fields: dict[str, object] = {"id": name, "input": text, "target": "It is 42.", "claims": (claim,), "page": "a.md"}
    return Question(**{**fields, "evidence": (evidence,) if evidence else (), **changes})  # type: ignore[arg-type]


PAGES = (
    page("a.md", "The Acme limit is 42 things. The Acme floor is 42 feet below the ground of the house.\n"),
    page("b.md", "Beside it, the Acme limit of all things is said to be 42 things in this place too.\n"),
)
SET = Benchmark(
    name="Acme",
    questions=(
        question("one", "What is the Acme limit of things?", "The Acme limit is 42 things."),
        question("two", "What is the  Acme limit of things?", "Acme limit is 42 things."),
        question("three", "How deep is the Acme floor below ground?", "The Acme floor is 42 feet"),
        question("four", "What does it say on this page?", ""),
        question("five", "What is the Acme limit for things?", "nowhere 42 at all", page=None),
        question("six", "Where is Acme?", "42", provenance=Provenance(author="A. Writer", reviewed_by="a. writer")),
    ),
)
WAIVERS = (
    Waiver(rule="passage-shared", questions=("two", "one"), reason="one is dropped later"),
    Waiver(rule="derived-unknown", questions=("*",), reason="asked of the author"),
    Waiver(rule="evidence-missing", questions=("one",), reason="never needed"),
)


def of_each(benchmark: Benchmark, findings: list[LintFinding]) -> dict[str, list[str]]:
    """Return what is said of each question, without what is said of waivers."""
    return {
        one.id: sorted(
            repr(finding) for finding in findings if one.id in finding.questions and "waiver" not in finding.rule
        )
        for one in benchmark.questions
    }


@pytest.mark.parametrize("pages", [PAGES, None])
@pytest.mark.parametrize("waivers", [WAIVERS, ()])
def test_it_says_of_each_question_what_the_lint_says(
    pages: tuple[Page, ...] | None, waivers: tuple[Waiver, ...]
) -> None:
    """Pairs, rules about the whole set, waived findings and places are the same, with a corpus and without."""
    kept = KeptLint(pages)
    said = {one.id: sorted(map(repr, kept.of(one, SET, waivers))) for one in SET.questions}
    assert said == of_each(SET, lint(SET, pages, waivers=waivers))
    assert any("passage-shared" in one for one in said["two"]) is (pages is not None)
    assert any("question-repeated" in one for one in said["two"])


@pytest.mark.parametrize(("name", "corpus"), [("uv-docs", "corpus"), ("postgresql-docs", "html.tar.xz")])
def test_it_agrees_on_real_sets(shared_data: Path, name: str, corpus: str) -> None:
    """On real questions over real documentation too."""
    from ragassay.cli.question_sources import corpus_of

    folder = shared_data / name
    benchmark, pages = load_benchmark(folder / "questions.json"), corpus_of(folder / corpus).pages
    kept = KeptLint(pages)
    said = {one.id: sorted(map(repr, kept.of(one, benchmark))) for one in benchmark.questions}
    assert said == of_each(benchmark, lint(benchmark, pages))


def test_what_was_looked_at_is_known_until_it_changes() -> None:
    """A question is known in its exact words, under the name of its set."""
    kept = KeptLint(PAGES)
    first = SET.questions[0]
    assert not kept.knows(first, "Acme")
    kept.by_itself(first, "Acme")
    assert kept.knows(first, "Acme")
    assert not kept.knows(first, "Other")
    assert not kept.knows(msgspec.structs.replace(first, target="42."), "Acme")


def test_neighbours_share_most_words() -> None:
    """The nearest come first, at most three, and whether they rest on the same page is said."""
    near = neighbours(SET.questions[0], SET.questions)
    assert [(one.question, one.same_page) for one in near] == [("five", False), ("two", True)]
    assert {one.shared for one in near} == {100}
    assert neighbours(SET.questions[3], SET.questions) == []


def test_a_thousand_questions_of_one_pattern_are_held_against_one_not_against_each_other() -> None:
    """What is said is what the lint says, and the work grows with the questions, not with their pairs."""
    first = SET.questions[0]
    words = [f"How many grams does part {number % 27} of the Acme anvil weigh in the {number}?" for number in range(30)]
    words += [words[3].upper(), words[3].replace(" the ", "  the ")]
    asked = [msgspec.structs.replace(first, id=f"q{at}", input=text) for at, text in enumerate(words)]
    templated = msgspec.structs.replace(SET, questions=tuple(asked))
    kept = KeptLint(None)
    said = {one.id: sorted(map(repr, kept.of(one, templated))) for one in asked}
    assert said == of_each(templated, lint(templated, None))
    many = [msgspec.structs.replace(first, id=f"m{at}", input=f"{words[0]} Part {at}?") for at in range(2_000)]
    together, pairs = _alike(many[5], msgspec.structs.replace(SET, questions=tuple(many)))
    assert (len(together.questions), len(pairs), {len(pair.questions) for pair in pairs}) == (1, 1_999, {2})
