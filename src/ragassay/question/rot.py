"""What a change of the documentation does to questions: which stand, and which rot and why. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from ragassay.occurrence import Searched
from ragassay.question.evidence import EvidenceFinding, Place, match_in
from ragassay.question.nearest import Passage, Passages
from ragassay.records import Benchmark, Page, Question, Record

RotState = Literal["stands", "folded", "moved", "doubled", "gone", "page lost", "mended", "missing before", "none"]
ROTTEN: frozenset[RotState] = frozenset(("moved", "doubled", "gone", "page lost"))
"""States that an author has to mend before the question is asked over the new documentation."""


class Rot(Record, frozen=True):
    """One question over the old and the new documentation.

    `evidence` is the text that stood in the old one (the first alternative where none did), `places` is where it, or
    else the first alternative that does, stands in the new one, first on the question's own page. `nearest` is the
    passage of the new one that is most like a text that is gone, None where none is.
    """

    question: str
    state: RotState
    page: str | None
    evidence: str | None = None
    alternative: int | None = None
    was: Place | None = None
    places: tuple[Place, ...] = ()
    repeats: int = 0
    """How often more the evidence stands on the first of its places."""
    nearest: Passage | None = None

    @property
    def rotten(self) -> bool:
        """True when an author has to look at the question."""
        return self.state in ROTTEN


def rot(
    benchmark: Benchmark, old: Sequence[Page], new: Sequence[Page], moved: Mapping[str, str] | None = None
) -> list[Rot]:
    """Return what becomes of each question, in their order; `moved` says which pages have another id in `new`."""
    by_text: dict[str, Searched] = {}
    before, after = (
        {page.id: by_text.setdefault(page.sha256, Searched(page.text)) for page in pages} for pages in (old, new)
    )
    was, now = (_by_question(match_in(benchmark, pages)) for pages in (before, after))
    passages = Passages(after)
    return [
        _rot(question, _first(was[question.id]), _first(now[question.id]), after, passages, moved or {})
        for question in benchmark.questions
    ]


def counts(rots: Sequence[Rot]) -> dict[RotState, int]:
    """Return how many questions are in each state, in the order of the states."""
    found = Counter(one.state for one in rots)
    return {state: found[state] for state in get_args(RotState)}


def _by_question(findings: Sequence[EvidenceFinding]) -> dict[str, list[EvidenceFinding]]:
    found: dict[str, list[EvidenceFinding]] = {}
    for finding in findings:
        found.setdefault(finding.question, []).append(finding)
    return found


def _first(findings: Sequence[EvidenceFinding]) -> EvidenceFinding:
    """Return the first alternative that stands, else the first of all."""
    return next((finding for finding in findings if finding.found), findings[0])


def _rot(
    question: Question,
    was: EvidenceFinding,
    now: EvidenceFinding,
    pages: Mapping[str, Searched],
    passages: Passages,
    moved: Mapping[str, str],
) -> Rot:
    home = was.page or question.page
    state = _state(was, now, home, pages)
    alternative = now.alternative if now.found else was.alternative
    evidence = None if alternative is None else question.evidence[alternative]
    nearest = None
    if evidence is not None and state in ("gone", "page lost", "missing before"):
        nearest = passages.nearest(evidence, prefer=[page for page in (home, moved.get(home or "")) if page])
    return Rot(
        question=question.id,
        state=state,
        page=home,
        evidence=evidence,
        alternative=alternative,
        was=_place(was),
        places=tuple(place for place in (_place(now), *now.others) if place is not None),
        repeats=now.repeats,
        nearest=nearest,
    )


def _state(was: EvidenceFinding, now: EvidenceFinding, home: str | None, pages: Mapping[str, Searched]) -> RotState:
    lost = home is not None and home not in pages
    if was.state == "none":
        return "page lost" if lost else "none"
    if not now.found:
        return "missing before" if not was.found else "page lost" if lost else "gone"
    if not was.found:
        return "mended"
    if len(now.others) > len(was.others) or now.repeats > was.repeats:
        return "doubled"
    if now.page != home:
        return "moved"
    return "folded" if now.state == "folded" else "stands"


def _place(finding: EvidenceFinding) -> Place | None:
    if finding.page is None or finding.start is None or finding.end is None:
        return None
    return Place(page=finding.page, start=finding.start, end=finding.end, folds=finding.folds)
