"""Failures reported in public, reduced to small inputs: evidence in other presentation, wording, places, bad files."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any

import pytest

from ragassay.errors import InputError
from ragassay.question import lint, match_evidence, parse_benchmark
from ragassay.records import Benchmark, Page

SAID = "The “café’s” offer — fixed at 25 first-class seats — is final."
CLAIM = {"text": "25 seats.", "central": True, "must": [["25"]]}


def page(text: str, name: str = "p.md") -> Page:
    """Return a page of that text."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Page(id=name, title=name, text=text, format="markdown", sha256=sha256, source_sha256=sha256)


def sample(**other: Any) -> dict[str, Any]:
    """Return a written question with some keys changed."""
    sound = {
        "id": "q",
        "input": "How many seats does Acme offer?",
        "target": "25.",
        "evidence": SAID,
        "claims": [CLAIM],
    }
    return {**sound, **other}


def read(*samples: dict[str, Any]) -> Benchmark:
    """Return the benchmark of written questions."""
    return parse_benchmark(json.dumps({"name": "n", "samples": samples}).encode(), name="n", suffix=".json")


def rules(benchmark: Benchmark, *pages: Page) -> set[str]:
    """Return the rules that are broken as errors."""
    return {finding.rule for finding in lint(benchmark, pages or None) if finding.fails}


@pytest.mark.parametrize(
    ("written", "folds"),
    [
        (SAID, ()),
        (SAID.replace(" ", "\u00a0", 3), ("whitespace",)),
        (SAID.replace(" fixed", "\nfixed"), ("whitespace",)),
        (SAID.translate({ord("“"): '"', ord("”"): '"', ord("’"): "'"}), ("quotes",)),
        (SAID.replace("—", "-"), ("dashes",)),
        (SAID.replace("offer", "of\u00adfer"), ("invisible",)),
        (SAID.replace("fi", "\ufb01"), ("ligatures",)),
        (unicodedata.normalize("NFD", SAID), ("nfc",)),
        (unicodedata.normalize("NFD", SAID).replace(" ", "\u00a0"), ("nfc", "whitespace")),
    ],
)
def test_case_10_presentation_is_folded_and_offsets_point_into_the_original(
    written: str, folds: tuple[str, ...]
) -> None:
    """The folds are listed, nothing is missing, and the place is that of the page as it is."""
    corpus = page(f"Before it.\n\n{written} After it.")
    benchmark = read(sample())
    (finding,) = match_evidence(benchmark, [corpus])
    assert (finding.state, finding.folds) == ("folded" if folds else "exact", folds)
    assert corpus.text[finding.start : finding.end] == written
    assert "evidence-missing" not in rules(benchmark, corpus)


@pytest.mark.parametrize(
    "written",
    [
        SAID.replace("25", "26"),
        SAID.replace("25", "2"),
        SAID.replace("25", "2⁵"),
        SAID.replace("final", "not final"),
        SAID.replace("seats", "seat"),
        SAID.replace("is", "was"),
        SAID.replace("first-class", "firstclass"),
    ],
)
def test_case_10_a_changed_word_or_digit_is_always_missing(written: str) -> None:
    """No fold makes another number or another word of it."""
    benchmark = read(sample())
    (finding,) = match_evidence(benchmark, [page(f"Before it. {written} After it.")])
    assert (finding.state, finding.folds) == ("missing", ())
    assert "evidence-missing" in rules(benchmark, page(written))


@pytest.mark.parametrize(
    "text",
    [
        "What event were the speakers attending last night?",
        "What does this page say about the offer of seats?",
        "What does this page say about Acme?",
        "How many seats are named in the section above?",
        "How many seats does the company offer?",
        "How many seats does he offer?",
        "What is the default?",
        "How many seats were offered yesterday?",
        "What is said here about Acme's seats?",
        "According to the text, how many seats are there?",
    ],
)
def test_case_17_a_question_that_does_not_stand_alone_is_an_error(text: str) -> None:
    """An unnamed scene or speaker, a page that is not there, a subject without a name; with a corpus an error."""
    alone = {"deictic", "pronoun", "unnamed", "time-deictic", "subject"}
    assert rules(read(sample(input=text)), page(SAID)) & alone
    assert not rules(read(sample()), page(SAID)) & alone


def test_case_18_a_target_without_its_literal_in_the_evidence_and_shared_places_are_errors_with_both() -> None:
    """The missing literal is named; two pages, and two questions on one passage, are named with both places."""
    claims = [{"text": "26 seats.", "central": True, "must": [["26"]]}]
    literal = read(sample(target="26.", claims=claims))
    assert "key-literal" in rules(literal)
    findings = lint(read(sample()), [page(SAID, "a.md"), page(f"x {SAID}", "b.md")])
    (twice,) = [finding for finding in findings if finding.rule == "evidence-twice"]
    assert [(place.page, place.start) for place in twice.places] == [("a.md", 0), ("b.md", 2)]
    second = sample(id="r", input="Which seats are fixed at 25 by Acme?", evidence="fixed at 25 first-class seats")
    (shared,) = [one for one in lint(read(sample(), second), [page(SAID)]) if one.rule == "passage-shared"]
    assert (shared.severity, shared.questions, len(shared.places)) == ("error", ("q", "r"), 2)


def test_case_25_a_bad_file_is_refused_with_all_its_problems_at_once() -> None:
    """Duplicate ids, unknown keys and an empty target are each named with their place."""
    bad = [sample(), sample(input="How many?", target=" "), sample(id="r", input="Who?", evidance="x")]
    with pytest.raises(InputError) as refused:
        read(*bad)
    problems = "\n".join(refused.value.problems)
    assert len(refused.value.problems) == 3
    for said in ("samples[1].id: the id 'q' stands already", "samples[1].target: is blank", "evidance: unknown key"):
        assert said in problems


def test_case_25_a_file_without_questions_is_refused() -> None:
    """0 questions are no set."""
    with pytest.raises(InputError) as refused:
        read()
    assert list(refused.value.problems) == ["samples: there is no question"]
