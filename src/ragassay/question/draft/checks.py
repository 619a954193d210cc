"""What code has against a drafted question: the evidence stands in its passage, and no rule of the lint is broken."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec

from ragassay.fold import LITERAL, Match, fold
from ragassay.occurrence import Searched
from ragassay.question.claim_checks import (
    MAX_ALTERNATIVES,
    MAX_CLAIMS,
    MAX_LISTS,
    MAX_LITERAL,
    MAX_TEXT,
    check_claims,
    forbidding,
)
from ragassay.question.draft.plan import PlannedPage, PlannedPassage
from ragassay.question.evidence import match_in
from ragassay.question.printable import printable
from ragassay.question.rules import lint
from ragassay.records import Benchmark, Claim, Page, Question, Record

REFUSED_WARNINGS = frozenset({"yes-no"})
"""Warnings of the lint that a draft need not live with: another question can be asked of the same passage."""
MAX_QUESTION = 500
"""Characters of a drafted question, and of its target."""
MAX_EVIDENCE = 10_000
"""Characters of a drafted evidence text; a passage has no more than 150 words."""
_MAX_LITERALS = MAX_LISTS * MAX_ALTERNATIVES


class Refusal(Record, frozen=True):
    """One thing against a draft, by the name of its rule."""

    rule: str
    message: str


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """A question as somebody drafted it; without claims its target is the one claim."""

    question: str
    target: str
    evidence: str
    claims: tuple[Claim, ...] = ()


class Site:
    """All pages of a corpus, prepared for looking many drafts up in them; `name` is that of the question set."""

    def __init__(self, pages: Sequence[Page], name: str) -> None:
        self.pages = sorted(pages, key=lambda page: page.id)
        self.name = name
        self.by_id = {page.id: page for page in self.pages}

    @cached_property
    def searched(self) -> dict[str, Searched]:
        """The pages by their ids, ready to be searched."""
        return {page.id: Searched(page.text) for page in self.pages}

    def passage(self, page: PlannedPage, passage: PlannedPassage) -> str:
        """Return the text of a planned passage."""
        return self.by_id[page.page].text[passage.start : passage.end]


def asked_words(question: str) -> str:
    """Return a question without case, spacing and typography, by which two are the same."""
    return fold(question, LITERAL).text.strip()


def drafted(
    proposed: Proposed, page: PlannedPage, passage: PlannedPassage, site: Site
) -> tuple[Question, list[Refusal]]:
    """Return the question, its evidence in the page's own characters, and everything that code has against it."""
    text = site.passage(page, passage)
    sizes = _sizes(proposed)
    found = None if sizes else Searched(text).find(proposed.evidence).first
    whole = Claim(id=1, text=proposed.target, central=True)
    question = Question(
        id="draft",
        input=proposed.question,
        target=proposed.target,
        claims=proposed.claims or (whole,),
        page=page.page,
        evidence=(proposed.evidence if found is None else text[found.start : found.end],),
        unsplit=not proposed.claims,
    )
    if blank := [name for name in ("question", "target", "evidence") if not getattr(proposed, name).strip()]:
        return question, [Refusal(rule="blank", message=f"there is no {' and no '.join(blank)}")]
    if sizes:  # what is out of all measure is looked at no further: the checks would take hours over it
        return question, sizes
    return question, [*_form(question), *_evidence(found, proposed.evidence, site), *_rules(question, site)]


def claims_sizes(claims: Sequence[tuple[str, Sequence[str]]]) -> list[Refusal]:
    """Return what is out of measure in claims, each a text and its literals; empty where all can be checked."""
    if len(claims) > MAX_CLAIMS:
        return [Refusal(rule="count", message=f"there are {len(claims)} claims; a question has 1 to {MAX_CLAIMS}")]
    broken = []
    for number, (text, literals) in enumerate(claims, 1):
        if len(text) > MAX_TEXT:
            broken.append(_long(f"text of claim {number}", text, MAX_TEXT, "text"))
        if len(literals) > _MAX_LITERALS:
            message = f"claim {number} has {len(literals)} literals, more than {_MAX_LITERALS}"
            broken.append(Refusal(rule="literals", message=message))
        longest = max(literals, key=len, default="")
        if len(longest) > MAX_LITERAL:
            broken.append(_long(f"literal of claim {number}", longest, MAX_LITERAL, "literals"))
    return broken


def _sizes(proposed: Proposed) -> list[Refusal]:
    texts = {"question": proposed.question, "target": proposed.target, "evidence": proposed.evidence}
    most = {"evidence": MAX_EVIDENCE}
    broken = [
        _long(name, text, most.get(name, MAX_QUESTION), "long")
        for name, text in texts.items()
        if len(text) > most.get(name, MAX_QUESTION)
    ]
    literals = [(one.text, [text for group in (*one.must, one.must_not) for text in group]) for one in proposed.claims]
    return broken + claims_sizes(literals)


def _long(name: str, text: str, most: int, rule: str) -> Refusal:
    return Refusal(rule=rule, message=f"the {name} has {len(text)} characters, more than {most}")


def _form(question: Question) -> list[Refusal]:
    texts = {"question": question.input, "target": question.target}
    hidden = [name for name, text in texts.items() if printable(text) != text]
    return [
        Refusal(rule="text", message=f"the {name} holds a line break, or a character that shows nothing")
        for name in hidden
    ]


def _evidence(found: Match | None, evidence: str, site: Site) -> list[Refusal]:
    if found is not None:
        return []
    elsewhere = next((name for name, page in site.searched.items() if page.find(evidence).first), None)
    if elsewhere is not None:
        message = f"the evidence does not stand in the passage that was shown, but elsewhere, on {elsewhere!r}"
        return [Refusal(rule="evidence-elsewhere", message=message)]
    message = "the evidence does not stand in the passage that was shown; copy it from there, character by character"
    return [Refusal(rule="evidence-invented", message=message)]


def _rules(question: Question, site: Site) -> list[Refusal]:
    """Return what the checks of claims and the lint have against the question, each thing once."""
    alone = Benchmark(name=site.name, questions=(question,))
    findings = match_in(alone, site.searched)
    broken = [one for one in lint(alone, site.pages, findings) if one.fails or one.rule in REFUSED_WARNINGS]
    claims = [] if question.unsplit else forbidding(check_claims(question, question.claims, True))
    told = [Refusal(rule=one.rule, message=one.message) for one in claims]
    told += [Refusal(rule=one.rule, message=one.message) for one in broken]
    lost = {"evidence-missing", "evidence-elsewhere"}
    return [one for one in dict.fromkeys(told) if one.rule not in lost]
