"""The rules of literals and of places find their defects, name the places, and leave a sound set alone."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from ragassay.question import EvidenceFinding, LintFinding, lint, literal_problems, match_evidence
from ragassay.records import Benchmark, Claim, Page, Provenance, Question

LOOKED_AT = {
    "target-fails",
    "question-answers",
    "must-not-hits",
    "key-literal",
    "question-repeated",
    "evidence-missing",
    "evidence-elsewhere",
    "evidence-twice",
    "evidence-repeats",
    "page-unknown",
    "passage-shared",
}
ORIGIN = Provenance(author="A. Writer", created="2026-11-30", derived_from_system=False)


def page(text: str, name: str = "p.md") -> Page:
    """Return a page of that text."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Page(id=name, title=name, text=text, format="markdown", sha256=sha256, source_sha256=sha256)


def claim(**other: Any) -> Claim:
    """Return a usable claim with some fields changed."""
    return Claim(**{"id": 1, "text": "It is port 80.", "central": True, "must": (("80", "eighty"),), **other})


def question(name: str = "q", **other: Any) -> Question:
    """Return a sound question with some fields changed."""
    sound = {
        "id": name,
        "input": f"Which port does the Acme server {name} use?",
        "target": "Port 80.",
        "claims": (claim(),),
        "evidence": ("The port is 80.",),
        "provenance": ORIGIN,
    }
    return Question(**{**sound, **other})


def broken(*questions: Question, pages: list[Page] | None = None) -> list[LintFinding]:
    """Return what the lint says of those questions by the rules of literals and places."""
    found = lint(Benchmark(name="n", questions=questions), pages)
    return [finding for finding in found if finding.rule in LOOKED_AT]


def only(findings: list[LintFinding]) -> LintFinding:
    """Return the one finding."""
    (finding,) = findings
    return finding


def test_a_sound_set_has_no_finding() -> None:
    """Nothing is said of questions that keep every rule, with and without a corpus."""
    assert lint(Benchmark(name="n", questions=(question(),))) == []
    placed = Benchmark(name="n", questions=(question(page="p.md"),))
    assert lint(placed, [page("The port is 80."), page("other", "b.md")]) == []


def test_a_target_must_pass_its_own_claims() -> None:
    """Each list without a hit in the target is named."""
    claims = (claim(must=(("80", "eighty"), ("TCP",))),)
    finding = only(broken(question(claims=claims, evidence=())))
    assert (finding.rule, finding.severity, finding.questions) == ("target-fails", "error", ("q",))
    assert 'none of "TCP"' in finding.message


@pytest.mark.parametrize(("central", "severity"), [(True, "error"), (False, "warning")])
def test_the_questions_own_text_must_not_pass(central: bool, severity: str) -> None:
    """An echo of the question must not be credited: an error for a central claim, a warning for another."""
    claims = (claim(), claim(id=2, central=central, must=(("port",),)))
    finding = only(broken(question(claims=claims, evidence=())))
    assert (finding.rule, finding.severity) == ("question-answers", severity)
    assert finding.message.startswith("claim 2")


def test_no_forbidden_literal_hits_target_or_evidence() -> None:
    """A `must_not` literal in the target or in an alternative of the evidence is named with where it stands."""
    claims = (claim(must_not=("port", "81")),)
    evidence = ("It is 80.", "Use 80, not 81.")
    findings = broken(question(claims=claims, evidence=evidence))
    assert [(f.rule, f.message) for f in findings] == [
        ("must-not-hits", 'claim 1: must_not "port" stands in the target'),
        ("must-not-hits", 'claim 1: must_not "81" stands in the evidence[1]'),
    ]


def test_the_key_literal_of_the_target_must_stand_in_its_evidence() -> None:
    """Every alternative is sufficient, so each must hold a hit of every list of the central claims."""
    findings = broken(question(evidence=("The port is 8080.", "The port is 80.")))
    finding = only(findings)
    assert (finding.rule, finding.severity) == ("key-literal", "error")
    assert finding.message == 'the evidence[0] does not hold what the target hinges on: "80 | eighty"'


@pytest.mark.parametrize(
    ("target", "evidence", "missing"),
    [
        ("Port 8080.", "It listens on port 80.", '"8080"'),
        ("`server.log`.", "It logs to `out.log`.", '"server.log"'),
        ("It is --no-clean.", "Pass --clean.", '"--no-clean"'),
        ("UV_LOCK_TIMEOUT changes it.", "Set UV_TIMEOUT.", '"UV_LOCK_TIMEOUT"'),
        ("3 attempts.", "It tries three times.", None),
        ("2,000 rows.", "At most 2000 rows.", None),
        ("The administrator.", "Only an admin may.", None),
        ("aws-lc-rs.", "with `aws-lc-rs` as provider", None),
    ],
)
def test_without_literals_the_targets_code_and_numbers_are_its_keys(
    target: str, evidence: str, missing: str | None
) -> None:
    """Code, options, names with underscores and numbers must stand in the evidence; words may be other words."""
    claims = (claim(text=target, must=()),)
    findings = broken(question(target=target, evidence=(evidence,), claims=claims, unsplit=True))
    assert [f.message for f in findings] == (
        [f"the evidence does not hold what the target hinges on: {missing}"] if missing else []
    )


def test_missing_evidence_is_an_error() -> None:
    """Evidence that stands nowhere, or only inside a longer number, is named."""
    finding = only(broken(question(), pages=[page("The port is 81.")]))
    assert (finding.rule, finding.severity, finding.places) == ("evidence-missing", "error", ())
    inside = only(broken(question(evidence=("port is 80",)), pages=[page("The port is 8080.")]))
    assert "only inside a longer word or number" in inside.message
    assert [(p.page, p.start, p.end) for p in inside.places] == [("p.md", 4, 14)]


def test_evidence_on_two_pages_is_an_error_with_both_places() -> None:
    """More than one page answers; each page is named with its span."""
    pages = [page("The port is 80.", "a.md"), page("x The port\nis 80.", "b.md")]
    finding = only(broken(question(), pages=pages))
    assert (finding.rule, finding.severity) == ("evidence-twice", "error")
    assert [(p.page, p.start, p.end, p.folds) for p in finding.places] == [
        ("a.md", 0, 15, ()),
        ("b.md", 2, 17, ("whitespace",)),
    ]


def test_evidence_that_stands_twice_on_its_page_is_an_error_with_every_place() -> None:
    """Exact and folded places count alike; a place inside a longer number does not."""
    finding = only(broken(question(), pages=[page("The port is 80. The\nport is 80. The port is 80.5")]))
    assert (finding.rule, finding.severity) == ("evidence-repeats", "error")
    assert [(p.start, p.end, p.folds) for p in finding.places] == [(0, 15, ()), (16, 31, ("whitespace",))]
    only_found = lint(Benchmark(name="n", questions=(question(),)), findings=_repeated())
    assert [(f.rule, len(f.places)) for f in only_found if f.rule in LOOKED_AT] == [("evidence-repeats", 1)]


def _repeated() -> list[EvidenceFinding]:
    benchmark = Benchmark(name="n", questions=(question(),))
    return match_evidence(benchmark, [page("The port is 80. The port is 80.")])


def test_two_questions_on_one_passage_are_an_error_with_both_places() -> None:
    """Overlapping spans are one passage, whatever the alternatives; spans that only touch are not."""
    text = "The port is 80. The host is h."
    first, second = question("a"), question("b", evidence=("80. The host",))
    finding = only(broken(first, second, pages=[page(text)]))
    assert (finding.rule, finding.severity, finding.questions) == ("passage-shared", "error", ("a", "b"))
    assert [(p.start, p.end) for p in finding.places] == [(0, 15), (12, 24)]
    apart = question("b", evidence=(" The host is h.",), claims=(claim(must=(("h",),)),), target="h.")
    assert broken(first, apart, pages=[page(text)]) == []
    twice = question("a", evidence=("The port is 80.", "port is 80"))
    assert broken(twice, pages=[page(text)]) == []


def test_a_declared_page_must_be_there_and_hold_the_evidence() -> None:
    """A page that the corpus has not, and a page that does not hold the text, are different findings."""
    pages = [page("The port is 80.", "a.md"), page("other", "b.md")]
    assert only(broken(question(page="gone.md"), pages=pages)).rule == "page-unknown"
    elsewhere = only(broken(question(page="b.md"), pages=pages))
    assert (elsewhere.rule, elsewhere.severity) == ("evidence-elsewhere", "error")
    assert [p.page for p in elsewhere.places] == ["a.md"]


def test_questions_that_differ_only_in_typography_are_a_warning() -> None:
    """The same words in other case and spacing are the same question to a reader."""
    same = question("b", input="WHICH port  does the Acme server a use?", evidence=())
    finding = only(broken(question("a", evidence=()), same))
    assert (finding.rule, finding.severity, finding.questions) == ("question-repeated", "warning", ("a", "b"))


def test_questions_that_no_literal_judge_can_judge_are_named() -> None:
    """One claim without `must` is enough."""
    questions = (question("a"), question("b", claims=(claim(), claim(id=2, must=()))))
    assert literal_problems(Benchmark(name="n", questions=questions)) == ["b"]
