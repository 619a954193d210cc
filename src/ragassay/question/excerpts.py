"""What stands around the evidence of a question on its pages, to be read beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ragassay import canon
from ragassay.question.evidence import EvidenceFinding, EvidenceState, Place
from ragassay.question.review_line import Seen, SeenPassage
from ragassay.question.rules import LintFinding
from ragassay.records import Page, Record

Reach = Literal[700, 4_000, 20_000]
"""How many characters of the page are shown before and after the evidence."""
MOST = 100_000
"""How many characters of one page are shown at most."""
_TO_LINE = 300
"""How many characters more are shown where a line begins or ends within them."""


class Excerpt(Record, frozen=True):
    """The part `[start, end)` of a page's text that is shown for one evidence text, and where in it that stands.

    Where the text stands nowhere `at` is None, or with `inside` the longer word or number that it is part of, and the
    declared page is shown from its beginning. `page` is None where there is no page to show.
    """

    alternative: int | None
    state: EvidenceState
    declared: str | None
    declared_exists: bool | None
    page: str | None = None
    title: str | None = None
    page_sha256: str | None = None
    length: int = 0
    start: int = 0
    end: int = 0
    at: Place | None = None
    inside: bool = False
    repeats: int = 0
    others: tuple[Place, ...] = ()


def excerpts(findings: Sequence[EvidenceFinding], pages: Mapping[str, Page], reach: Reach = 700) -> list[Excerpt]:
    """Return one excerpt for each finding of one question, in the order of the alternatives."""
    return [_excerpt(finding, pages, reach) for finding in findings]


def seen_of(shown: Sequence[Excerpt], pages: Mapping[str, Page], lint: Sequence[LintFinding]) -> Seen:
    """Return what a decision says was seen: of the excerpts the first with evidence in it, else the first on a page."""
    rules = tuple(sorted({finding.rule for finding in lint}))
    here = [one for one in shown if one.page is not None]
    first = next((one for one in here if one.at is not None), here[0] if here else None)
    if first is None or first.page is None:
        return Seen(lint=rules)
    text = pages[first.page].text[first.start : first.end]
    digest = canon.sha256(text.encode("utf-8", "surrogatepass"))
    passage = SeenPassage(start=first.start, end=first.end, sha256=digest)
    return Seen(page=first.page, page_sha256=first.page_sha256, passage=passage, lint=rules)


def _excerpt(finding: EvidenceFinding, pages: Mapping[str, Page], reach: int) -> Excerpt:
    at = _place(finding) or finding.inside
    page = pages.get(at.page if at else finding.declared or "")
    told = {"alternative": finding.alternative, "state": finding.state, "declared": finding.declared}
    more = {"repeats": finding.repeats, "others": finding.others, "inside": finding.inside is not None}
    if page is None:
        return Excerpt(declared_exists=finding.declared_exists, **told, **more)  # type: ignore[arg-type]
    start, end = _around(page.text, at, reach)
    return Excerpt(
        declared_exists=finding.declared_exists,
        page=page.id,
        title=page.title,
        page_sha256=page.sha256,
        length=len(page.text),
        start=start,
        end=end,
        at=at,
        **told,  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )


def _place(finding: EvidenceFinding) -> Place | None:
    if finding.page is None or finding.start is None or finding.end is None:
        return None
    return Place(page=finding.page, start=finding.start, end=finding.end, folds=finding.folds)


def _around(text: str, at: Place | None, reach: int) -> tuple[int, int]:
    """Return the span to show: `reach` characters on both sides, and on to the line's end where that is near."""
    first, last = (at.start, at.end) if at else (0, reach)
    start, end = max(0, first - reach), min(len(text), last + reach, first + MOST)
    line = text.rfind("\n", max(0, start - _TO_LINE), start)
    start = 0 if start <= _TO_LINE else line + 1 if line >= 0 else start
    line = text.find("\n", end, end + _TO_LINE)
    return start, len(text) if len(text) - end <= _TO_LINE else line if line >= 0 else end
