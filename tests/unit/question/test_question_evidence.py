"""Evidence is exact, folded or missing, with offsets into the page, and every other place is named."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from ragassay.occurrence import inside_word
from ragassay.question import EvidenceFinding, evidence_chunks, evidence_gone, match_evidence
from ragassay.records import Benchmark, Chunk, Claim, Corpus, Page, Question

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


def page(text: str, name: str = "p.md") -> Page:
    """Return a page of that text."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Page(id=name, title=name, text=text, format="markdown", sha256=sha256, source_sha256=sha256)


def question(*evidence: str, name: str = "q", on: str | None = None) -> Question:
    """Return a question with that evidence."""
    claims = (Claim(id=1, text="t", central=True),)
    return Question(id=name, input=f"{name}?", target="t", claims=claims, page=on, evidence=evidence)


def benchmark(*questions: Question) -> Benchmark:
    """Return a set of those questions."""
    return Benchmark(name="n", questions=questions)


def look_up(wanted: str, *pages: Page, on: str | None = None) -> EvidenceFinding:
    """Return what is found of one evidence text."""
    (finding,) = match_evidence(benchmark(question(wanted, on=on)), pages)
    return finding


CASES = json.loads((VECTORS / "question_evidence.json").read_bytes())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_presentation_folds_and_changed_words(case: dict[str, object]) -> None:
    """Typography is folded and named, a changed word or digit is missing, and the span is the page's own text."""
    text = str(case["page"])
    finding = look_up(str(case["evidence"]), page(text))
    assert finding.state == case["state"]
    assert list(finding.folds) == case.get("folds", [])
    if finding.found:
        assert text[finding.start : finding.end] == case["span"]
    else:
        assert (finding.page, finding.start, finding.end) == (None, None, None)


def test_a_text_inside_a_longer_word_or_number_is_missing_and_shown() -> None:
    """A digit added at the edge changes the number; the place is kept for the person who looks for it."""
    finding = look_up("the port is 80", page("Here the port is 8080."))
    assert finding.state == "missing"
    assert finding.inside is not None
    assert (finding.inside.page, finding.inside.start, finding.inside.end) == ("p.md", 5, 19)


def test_a_whole_occurrence_after_a_cut_one_counts() -> None:
    """The search goes on past an occurrence inside a longer number."""
    finding = look_up("port 80", page("port 8080, then port 80."))
    assert (finding.state, finding.start, finding.repeats) == ("exact", 16, 0)


def test_the_declared_page_comes_first_and_other_pages_are_named() -> None:
    """Evidence on two pages is placed on the declared one, also where another page holds it exactly."""
    pages = (page("The port is 80.", "a.md"), page("x\nThe port\nis 80. The port is 80.", "b.md"), page("no", "c.md"))
    finding = look_up("The port is 80.", *pages, on="b.md")
    assert (finding.state, finding.page, finding.start, finding.repeats) == ("exact", "b.md", 18, 0)
    assert [(place.page, place.start, place.end) for place in finding.others] == [("a.md", 0, 15)]
    undeclared = look_up("The port is 80.", *pages)
    assert undeclared.page == "a.md"
    assert [place.page for place in undeclared.others] == ["b.md"]


def test_evidence_on_another_page_than_declared_is_found_there() -> None:
    """The finding tells apart a page that is not in the corpus and one that does not hold the text."""
    pages = (page("The port is 80.", "a.md"), page("nothing", "b.md"))
    assert look_up("port is", *pages, on="b.md").declared_exists is True
    elsewhere = look_up("port is", *pages, on="gone.md")
    assert (elsewhere.page, elsewhere.declared, elsewhere.declared_exists) == ("a.md", "gone.md", False)


def test_each_alternative_is_looked_up() -> None:
    """A list of alternatives gives one finding each; a question without evidence gives one of state none."""
    findings = match_evidence(benchmark(question("gone", "here"), question(name="r")), [page("is here")])
    assert [(f.question, f.alternative, f.state) for f in findings] == [
        ("q", 0, "missing"),
        ("q", 1, "exact"),
        ("r", None, "none"),
    ]


def test_a_removed_document_names_its_questions() -> None:
    """Only questions that have evidence of which nothing is left are named."""
    questions = (
        question("alpha one", name="lost"),
        question("alpha two", "beta", name="half"),
        question("beta", name="kept"),
        question(name="bare"),
        question("alpha one", "alpha two", name="both"),
    )
    pages = [page("alpha one, alpha two", "a.md"), page("beta", "b.md")]
    assert evidence_gone(match_evidence(benchmark(*questions), pages)) == []
    assert evidence_gone(match_evidence(benchmark(*questions), pages[1:])) == ["lost", "both"]
    assert evidence_gone(match_evidence(benchmark(*questions), [])) == ["lost", "half", "kept", "both"]


def corpus(*pages: Page, width: int, step: int) -> Corpus:
    """Return pages cut into chunks of `width` characters that begin every `step`, listed backwards."""
    chunks = [
        Chunk(id=f"{p.id}#{at}", page=p.id, start=at, end=at + len(p.text[at : at + width]), text="x", sha256="0" * 64)
        for p in pages
        for at in range(0, len(p.text), step)
    ]
    return Corpus(pages=pages, chunks=tuple(reversed(chunks)), chunker={}, extractor="x", source={})


def test_the_oracle_gets_every_chunk_that_overlaps_the_evidence_in_page_order() -> None:
    """Evidence that chunking split is delivered whole, touching chunks are not, overlapping ones are."""
    text = "aa bb cc dd ee ff gg hh ii"
    pages = page(text.replace("aa", "xx"), "other"), page(text, "p")
    cut = corpus(*pages, width=9, step=9)
    assert evidence_chunks(benchmark(question("cc dd", on="p")), cut) == {"q": ("p#0", "p#9")}
    assert evidence_chunks(benchmark(question("dd ee ff", on="p")), cut) == {"q": ("p#9",)}
    assert evidence_chunks(benchmark(question("dd ee ff")), cut) == {"q": ("other#9",)}
    assert evidence_chunks(benchmark(question("bb cc dd ee ff gg", on="p")), cut)["q"] == ("p#0", "p#9", "p#18")
    overlapping = corpus(*pages, width=9, step=3)
    assert evidence_chunks(benchmark(question("dd", on="p")), overlapping) == {"q": ("p#3", "p#6", "p#9")}


def test_the_oracle_uses_the_first_alternative_that_stands_in_the_corpus() -> None:
    """A missing first alternative gives way to the second; questions without found evidence are absent."""
    cut = corpus(page("alpha beta", "p"), width=5, step=5)
    found = evidence_chunks(benchmark(question("gone", "beta"), question("gone", name="r"), question(name="s")), cut)
    assert found == {"q": ("p#5",)}


def test_findings_can_be_handed_on() -> None:
    """The search that was done once gives the same chunks."""
    cut = corpus(page("alpha beta", "p"), width=5, step=5)
    questions = benchmark(question("beta"))
    assert evidence_chunks(questions, cut, match_evidence(questions, cut.pages)) == evidence_chunks(questions, cut)


@pytest.mark.parametrize(
    ("left", "right", "inside"),
    [
        ("port 80", "80", True),
        ("port 80", " and", False),
        ("port 80", ". Then", False),
        ("version 1.2", ".3", True),
        ("", "able", False),
        ("un", "able", True),
        ("non-", "empty", True),
        ("read", "-only", True),
        ("--", "no-clean", False),
        ("UV_LOCK", "_TIMEOUT", True),
        ("is _", "not", False),
        ("not", "_ sent", False),
        ("it can", "'t", True),
        ("it can", "’t", True),
        ("the user", "'s", False),
        ("cafe", "\u0301", True),
        ("80", "\u00ad80", True),
        ("10", "²", True),
        ("用户", "名称", False),
        ("wait", " — then", False),
        ("wait", "—then", False),
    ],
)
def test_what_holds_a_word_together(left: str, right: str, inside: bool) -> None:
    """Letters, digits, marks, hyphens, underscores and decimal points join; spaces and punctuation part."""
    assert inside_word(left, right) is inside
