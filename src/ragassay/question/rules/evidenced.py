"""Where the evidence stands: on one page, once, on the page that the question declares; long and short enough."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay import fold, occurrence
from ragassay.question.evidence import EvidenceFinding, Place
from ragassay.question.rules.claimed import evidence_of
from ragassay.question.rules.finding import LintFinding, broken, place_of
from ragassay.question.rules.material import Material
from ragassay.question.rules.origin import each_or_all
from ragassay.records import Question

MIN_WORDS = 3
MIN_CHARACTERS = 20
"""An evidence text below both is an error."""
MAX_CHARACTERS = 1000
"""Characters of an evidence text without a warning."""
MAX_PLACES = 50
"""Places on one page that are listed."""
_BESIDE = 8
"""Characters beside a place that tell whether it cuts a word."""


def evidence_is_sound(material: Material) -> Iterator[LintFinding]:
    """Yield evidence that is absent, or too short or too long to show one fact."""
    questions = material.benchmark.questions
    without = [question.id for question in questions if not question.evidence]
    if without and (material.has_corpus or len(without) < len(questions)):
        message = "no evidence is given; copy the passage that holds the answer"
        yield from each_or_all("evidence-none", without, material, message)
    for question in questions:
        for name, text in evidence_of(question):
            if len(text.split()) < MIN_WORDS and len(text.strip()) < MIN_CHARACTERS:
                message = f"the {name} is too short to stand in one place only; take the whole sentence"
                yield broken("evidence-short", question.id, message)
            if len(text) > MAX_CHARACTERS:
                message = f"the {name} has {len(text):,} characters; take the passage that holds the answer"
                yield broken("evidence-long", question.id, message)


def evidence_stands(material: Material) -> Iterator[LintFinding]:
    """Yield evidence that stands nowhere, elsewhere, on several pages, or twice on its page, with every place."""
    for finding in material.findings:
        yield from _placed(finding, material.questions[finding.question], material)


def _placed(finding: EvidenceFinding, question: Question, material: Material) -> Iterator[LintFinding]:
    name = "evidence" if len(question.evidence) <= 1 else f"evidence[{finding.alternative}]"
    if finding.declared_exists is False and finding.alternative in (None, 0):
        yield broken("page-unknown", question.id, f"the corpus has no page {finding.declared!r}")
    if finding.state == "missing":
        inside = "" if finding.inside is None else "; it stands only inside a longer word or number"
        within = () if finding.inside is None else (finding.inside,)
        yield broken("evidence-missing", question.id, f"the {name} stands nowhere in the corpus{inside}", *within)
    here = place_of(finding)
    if here is None:
        return
    if finding.declared_exists and finding.page != finding.declared:
        message = f"the {name} does not stand on its page {finding.declared!r}"
        yield broken("evidence-elsewhere", question.id, message, here)
    if finding.others:
        count = len(finding.others) + 1
        message = f"the {name} stands on {count} pages, so more than one page answers"
        yield broken("evidence-twice", question.id, message, here, *finding.others)
    if len(places := _all_places(finding, here, question, material)) > 1 or finding.repeats:
        times = max(len(places), finding.repeats + 1)
        message = f"the {name} stands {times} times on its page; take a longer passage"
        yield broken("evidence-repeats", question.id, message, *places)


def _all_places(finding: EvidenceFinding, first: Place, question: Question, material: Material) -> list[Place]:
    """Return every place on the page, exact or folded, at most `MAX_PLACES`; the first alone without the pages."""
    page = next((page for page in material.pages or () if page.id == first.page), None)
    wanted = question.evidence[finding.alternative or 0]
    if page is None or occurrence.said(page.text).count(occurrence.said(wanted)) < 2:
        return [first]
    folded = fold.fold(page.text, fold.PRESENTATION)
    places: list[Place] = []
    for start, end in _whole(occurrence.said(wanted), folded.text):
        begins, ends = folded.span(start, end)
        match = fold.find(wanted, page.text[begins:ends])
        places.append(Place(page=page.id, start=begins, end=ends, folds=match.folds if match else ()))
        if len(places) == MAX_PLACES:
            break
    return places


def _whole(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where `wanted` stands in `text` without cutting a word or a number."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        cut = any(occurrence.inside_word(text[max(0, i - _BESIDE) : i], text[i : i + _BESIDE]) for i in (at, end))
        if not cut:
            yield at, end
        at = text.find(wanted, at + 1)
