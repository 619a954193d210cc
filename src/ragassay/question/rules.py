"""Rules that a question set must keep so that its scores mean something; each finding names its places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from ragassay import fold
from ragassay.question import claims
from ragassay.question.evidence import EvidenceFinding, Place, match_evidence
from ragassay.question.waivers import Waiver
from ragassay.records import Benchmark, Page, Question, Record

Rule = Literal[
    "evidence-missing",
    "evidence-elsewhere",
    "evidence-twice",
    "page-unknown",
    "passage-shared",
    "key-literal",
    "target-fails",
    "question-answers",
    "must-not-hits",
    "question-repeated",
]


class LintFinding(Record, frozen=True):
    """A broken rule: the questions and places that break it, and what to do; an `error` makes the check say no.

    `waived` is the reason for which a person lets it stand; a waived finding fails nothing.
    """

    rule: Rule
    severity: Literal["error", "warning"]
    questions: tuple[str, ...]
    message: str
    places: tuple[Place, ...] = ()
    waived: str | None = None

    @property
    def fails(self) -> bool:
        """True when it makes a check say no."""
        return self.severity == "error" and self.waived is None


Similar = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Texts become the matrix of their similarities, 1 for the same meaning."""


def lint(
    benchmark: Benchmark,
    pages: Sequence[Page] | None = None,
    findings: Sequence[EvidenceFinding] | None = None,
    *,
    waivers: Sequence[Waiver] = (),
    similar: Similar | None = None,
) -> list[LintFinding]:
    """Return every broken rule, those that need no corpus first; without `pages` and `findings` only those.

    `findings` saves the search of the evidence where it was done before.
    """
    del similar
    broken = [finding for question in benchmark.questions for finding in _question_rules(question)]
    broken += _repeated(benchmark)
    if findings is None and pages is not None:
        findings = match_evidence(benchmark, pages)
    if findings is not None:
        by_id = {question.id: question for question in benchmark.questions}
        broken += [found for finding in findings for found in _place_rules(finding, by_id[finding.question])]
        broken += _shared_passages(findings)
    reasons = {(waiver.rule, frozenset(waiver.questions)): waiver.reason for waiver in waivers if waiver.reason}
    return [_waived(finding, reasons.get((finding.rule, frozenset(finding.questions)))) for finding in broken]


def _waived(finding: LintFinding, reason: str | None) -> LintFinding:
    return finding if reason is None else msgspec.structs.replace(finding, waived=reason)


def _error(rule: Rule, question: str, message: str, *places: Place) -> LintFinding:
    return LintFinding(rule=rule, severity="error", questions=(question,), message=message, places=places)


def _question_rules(question: Question) -> Iterator[LintFinding]:
    for claim in question.claims:
        where = f"claim {claim.id}"
        for lists in claims.missing_lists(claim, question.target):
            yield _error("target-fails", question.id, f"{where}: the target holds none of {_quoted(lists)}")
        if claims.supports(claim, question.input):
            yield LintFinding(
                rule="question-answers",
                severity="error" if claim.central else "warning",
                questions=(question.id,),
                message=f"{where}: the question's own text holds its literals, so an echo would be credited",
            )
        for name, text in (("target", question.target), *_evidence(question)):
            if found := claims.forbidden(claim, text):
                yield _error("must-not-hits", question.id, f"{where}: must_not {_quoted(found)} stands in the {name}")
    for name, text in _evidence(question):
        if missing := claims.key_literals_missing(question, text):
            message = f"the {name} does not hold what the target hinges on: {_quoted(missing)}"
            yield _error("key-literal", question.id, message)


def _evidence(question: Question) -> Iterator[tuple[str, str]]:
    for index, text in enumerate(question.evidence):
        yield ("evidence" if len(question.evidence) == 1 else f"evidence[{index}]"), text


def _repeated(benchmark: Benchmark) -> Iterator[LintFinding]:
    first: dict[str, str] = {}
    for question in benchmark.questions:
        words = fold.fold(question.input, fold.LITERAL).text.strip()
        if (other := first.setdefault(words, question.id)) != question.id:
            yield LintFinding(
                rule="question-repeated",
                severity="warning",
                questions=(other, question.id),
                message="the two questions differ only in case, spacing or typography",
            )


def _place_rules(finding: EvidenceFinding, question: Question) -> Iterator[LintFinding]:
    name = "evidence" if len(question.evidence) <= 1 else f"evidence[{finding.alternative}]"
    if finding.declared_exists is False and finding.alternative in (None, 0):
        yield _error("page-unknown", question.id, f"the corpus has no page {finding.declared!r}")
    if finding.state == "missing":
        inside = "" if finding.inside is None else "; it stands only inside a longer word or number"
        places = () if finding.inside is None else (finding.inside,)
        yield _error("evidence-missing", question.id, f"the {name} stands nowhere in the corpus{inside}", *places)
    here = _place(finding)
    if here is None:
        return
    if finding.declared_exists and finding.page != finding.declared:
        message = f"the {name} does not stand on its page {finding.declared!r}"
        yield _error("evidence-elsewhere", question.id, message, here)
    if finding.others:
        count = len(finding.others) + 1
        message = f"the {name} stands on {count} pages, so more than one page answers"
        yield _error("evidence-twice", question.id, message, here, *finding.others)


def _place(finding: EvidenceFinding) -> Place | None:
    if finding.page is None or finding.start is None or finding.end is None:
        return None
    return Place(page=finding.page, start=finding.start, end=finding.end, folds=finding.folds)


def _shared_passages(findings: Sequence[EvidenceFinding]) -> Iterator[LintFinding]:
    placed = [(place, finding.question) for finding in findings if (place := _place(finding))]
    placed.sort(key=lambda entry: (entry[0].page, entry[0].start, entry[0].end))
    told: set[tuple[str, str]] = set()
    open_: list[tuple[Place, str]] = []
    for place, question in placed:
        open_ = [(other, name) for other, name in open_ if other.page == place.page and other.end > place.start]
        for other, name in open_:
            if name != question and (name, question) not in told:
                told |= {(name, question), (question, name)}
                yield LintFinding(
                    rule="passage-shared",
                    severity="error",
                    questions=(name, question),
                    message="the two questions rest on one passage; keep one, or give each its own",
                    places=(other, place),
                )
        open_.append((place, question))


def _quoted(texts: Sequence[str]) -> str:
    return ", ".join(f'"{text}"' for text in texts)
