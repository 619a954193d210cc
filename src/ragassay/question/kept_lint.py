"""The lint of one question after the other in a set that changes; what was worked out once is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from ragassay import fold
from ragassay.occurrence import Searched
from ragassay.question.evidence import EvidenceFinding, match_in
from ragassay.question.rules import FAMILIES, LintFinding
from ragassay.question.rules.alike import FEWEST, all_differ
from ragassay.question.rules.evidenced import evidence_is_sound
from ragassay.question.rules.material import Material
from ragassay.question.rules.origin import origin_is_told
from ragassay.question.rules.passages import passages_apart
from ragassay.question.rules.waived import NOT_WAIVED, waive
from ragassay.question.rules.words import content
from ragassay.question.waivers import Waiver
from ragassay.records import Benchmark, Page, Question

Family: TypeAlias = Callable[[Material], Iterator[LintFinding]]

OF_SEVERAL: tuple[Family, ...] = (all_differ, evidence_is_sound, origin_is_told, passages_apart)
"""What looks at several questions together."""
OF_ONE: tuple[Family, ...] = tuple(family for family in FAMILIES if family not in OF_SEVERAL)
"""What looks at each question by itself."""
OF_THE_SET = frozenset({"benchmark", "_findings", "findings", "questions"})
"""What of the rules' material belongs to the questions; all else is of the pages."""


class KeptLint:
    """What `lint` says of one question of a set, without looking at all the others again.

    Only the evidence of questions that name the same page, or none, is held against that of the question.
    """

    def __init__(self, pages: Sequence[Page] | None) -> None:
        self._pages = pages
        self._searched = {page.id: Searched(page.text) for page in pages or ()}
        self._worked: dict[str, object] = {}
        self._found: dict[Question, list[EvidenceFinding]] = {}
        self._alone: dict[tuple[str, Question], list[LintFinding]] = {}

    def evidence(self, question: Question) -> list[EvidenceFinding]:
        """Return where the evidence of a question stands; nothing without pages."""
        if self._pages is None:
            return []
        if question not in self._found:
            self._found[question] = match_in(Benchmark(name="", questions=(question,)), self._searched)
        return self._found[question]

    def knows(self, question: Question, name: str) -> bool:
        """Tell whether a question was looked at before, in a set of this name."""
        return (name, question) in self._alone

    def of(self, question: Question, benchmark: Benchmark, waivers: Sequence[Waiver] = ()) -> list[LintFinding]:
        """Return the findings about a question of the set, those about the waivers themselves left out."""
        found = [*self.by_itself(question, benchmark.name)]
        found += self._run((evidence_is_sound, origin_is_told), benchmark)
        found += self._alike(question, benchmark)
        if self._pages is not None:
            found += self._run((passages_apart,), benchmark, self._near(question, benchmark))
        return self.waived([finding for finding in found if question.id in finding.questions], benchmark, waivers)

    def waived(
        self, found: Sequence[LintFinding], benchmark: Benchmark, waivers: Sequence[Waiver]
    ) -> list[LintFinding]:
        """Return findings with the reasons for which they are let stand, nothing said about the waivers themselves."""
        met = waive(found, waivers, self._material(benchmark))
        return [finding for finding in met if finding.rule not in NOT_WAIVED]

    def by_itself(self, question: Question, name: str) -> list[LintFinding]:
        """Return the findings about a question as if it were alone in a set of this name, none waived."""
        key = (name, question)
        if key not in self._alone:
            alone = Benchmark(name=name, questions=(question,))
            self._alone[key] = self._run(OF_ONE, alone, self.evidence(question))
        return self._alone[key]

    def _alike(self, question: Question, benchmark: Benchmark) -> list[LintFinding]:
        """Return which questions are the same as this one, in the order in which the lint of the whole set says it.

        Those in the same words are looked at together. Any other is held against this one alone: what a thousand of
        them have in common with each other is asked of each of them in its turn.
        """
        together, pairs = _alike(question, benchmark)
        found = self._run((all_differ,), together)
        for pair in pairs:
            found += self._run((all_differ,), pair)
        places = {one.id: place for place, one in enumerate(benchmark.questions)}
        own = [one for one in found if question.id in one.questions]
        return sorted(own, key=lambda one: (one.rule != "question-repeated", [places[name] for name in one.questions]))

    def _near(self, question: Question, benchmark: Benchmark) -> list[EvidenceFinding]:
        pages = {finding.page for finding in self.evidence(question) if finding.page}
        near = (one for one in benchmark.questions if one.id == question.id or one.page is None or one.page in pages)
        return [finding for one in near for finding in self.evidence(one)] if pages else []

    def _run(
        self, families: Sequence[Family], benchmark: Benchmark, findings: Sequence[EvidenceFinding] = ()
    ) -> list[LintFinding]:
        material = self._material(benchmark, findings)
        found = [finding for family in families for finding in family(material)]
        self._worked.update((name, value) for name, value in vars(material).items() if name not in OF_THE_SET)
        return found

    def _material(self, benchmark: Benchmark, findings: Sequence[EvidenceFinding] = ()) -> Material:
        """Return what the rules look at, with everything that was worked out of the pages before."""
        material = Material(benchmark, self._pages, None if self._pages is None else findings, None)
        vars(material).update(self._worked)
        return material


def _alike(question: Question, benchmark: Benchmark) -> tuple[Benchmark, list[Benchmark]]:
    """Return the questions in the words of this one as a set, and each other that could be the same as a pair."""
    own, said = set(content(question.input)), _said(question)
    same: list[Question] = []
    pairs: list[Benchmark] = []
    before = True
    for one in benchmark.questions:
        before = before and one.id != question.id
        if one.id == question.id or _said(one) == said:
            same.append(one)
        elif len(own & set(content(one.input))) >= FEWEST:
            pair = (one, question) if before else (question, one)
            pairs.append(msgspec.structs.replace(benchmark, questions=pair))
    return msgspec.structs.replace(benchmark, questions=tuple(same)), pairs


@lru_cache(maxsize=8192)
def _said(question: Question) -> str:
    return fold.fold(question.input, fold.LITERAL).text.strip()
