"""Every evidence text is looked up in the corpus: exact, folded or missing, where it stands, and where else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ragassay.fold import Match
from ragassay.occurrence import Searched
from ragassay.records import Benchmark, Corpus, Page, Question, Record

EvidenceState = Literal["exact", "folded", "missing", "none"]


class Place(Record, frozen=True):
    """A half-open span of a page's text, in characters, and the folds without which the words would not match."""

    page: str
    start: int
    end: int
    folds: tuple[str, ...] = ()


class EvidenceFinding(Record, frozen=True):
    """One evidence text of one question, looked up; a question without evidence has one finding of state `none`.

    `page`, `start` and `end` say where it stands first: on the declared page if it is there, else on the first page
    that holds it. `others` holds its first place on each other page, `repeats` how often more it stands on `page`.
    `inside` is where a missing text stands only as part of a longer word or number.
    """

    question: str
    alternative: int | None
    state: EvidenceState
    folds: tuple[str, ...] = ()
    page: str | None = None
    start: int | None = None
    end: int | None = None
    declared: str | None = None
    declared_exists: bool | None = None
    repeats: int = 0
    others: tuple[Place, ...] = ()
    inside: Place | None = None

    @property
    def found(self) -> bool:
        """True when the text stands in the corpus."""
        return self.state in ("exact", "folded")


def match_evidence(benchmark: Benchmark, pages: Sequence[Page]) -> list[EvidenceFinding]:
    """Return one finding per evidence text, in the order of the questions and of their alternatives."""
    return match_in(benchmark, {page.id: Searched(page.text) for page in pages})


def match_in(benchmark: Benchmark, searched: Mapping[str, Searched]) -> list[EvidenceFinding]:
    """Like `match_evidence`, in texts by page that are kept because they are searched again and again."""
    findings: list[EvidenceFinding] = []
    for question in benchmark.questions:
        exists = None if question.page is None else question.page in searched
        if not question.evidence:
            findings.append(
                EvidenceFinding(
                    question=question.id, alternative=None, state="none", declared=question.page, declared_exists=exists
                )
            )
        for index in range(len(question.evidence)):
            findings.append(_look_up(question, index, searched, exists))
    return findings


def evidence_gone(findings: Sequence[EvidenceFinding]) -> list[str]:
    """Return the ids of the questions that have evidence of which no alternative stands in the corpus."""
    found = {finding.question for finding in findings if finding.found}
    wanted = dict.fromkeys(finding.question for finding in findings if finding.state != "none")
    return [question for question in wanted if question not in found]


def evidence_chunks(
    benchmark: Benchmark, corpus: Corpus, findings: Sequence[EvidenceFinding] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return, for each question with found evidence, the ids of the chunks that overlap it, in page order.

    The first alternative that stands in the corpus counts, at its first place. A question without evidence, or whose
    evidence is gone, is absent. `findings` saves the search where it was done before on the same pages.
    """
    by_page: dict[str, list[tuple[int, int, str]]] = {}
    for chunk in corpus.chunks:
        by_page.setdefault(chunk.page, []).append((chunk.start, chunk.end, chunk.id))
    delivered: dict[str, tuple[str, ...]] = {}
    for finding in match_evidence(benchmark, corpus.pages) if findings is None else findings:
        if finding.question in delivered or not finding.found:
            continue
        assert finding.page is not None
        assert finding.start is not None
        assert finding.end is not None
        overlapping = [
            span for span in by_page.get(finding.page, []) if span[0] < finding.end and span[1] > finding.start
        ]
        if overlapping:
            delivered[finding.question] = tuple(chunk for _, _, chunk in sorted(overlapping, key=lambda span: span[:2]))
    return delivered


def _look_up(question: Question, index: int, pages: Mapping[str, Searched], exists: bool | None) -> EvidenceFinding:
    places: list[Place] = []
    inside: Place | None = None
    repeats = 0
    for page in sorted(pages, key=lambda page: page != question.page):
        found = pages[page].find(question.evidence[index])
        if found.first:
            repeats = repeats if places else found.count - 1
            places.append(_place(page, found.first))
        elif found.inside:
            inside = inside or _place(page, found.inside)
    first = places[0] if places else None
    return EvidenceFinding(
        question=question.id,
        alternative=index,
        state="missing" if first is None else "folded" if first.folds else "exact",
        folds=first.folds if first else (),
        page=first.page if first else None,
        start=first.start if first else None,
        end=first.end if first else None,
        declared=question.page,
        declared_exists=exists,
        repeats=repeats,
        others=tuple(places[1:]),
        inside=None if first else inside,
    )


def _place(page: str, match: Match) -> Place:
    return Place(page=page, start=match.start, end=match.end, folds=match.folds)
