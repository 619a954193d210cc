"""One drafted question as the page shows it: its words, the passage it rests on, and what a decision would rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from ragassay import canon
from ragassay.question import LintFinding
from ragassay.question.excerpts import Excerpt, Reach, excerpts, seen_of
from ragassay.question.neighbours import neighbours
from ragassay.question.reviews import ReviewLine, Seen, line_digest, material
from ragassay.records import JSON, Page, Question, to_json
from ragassay.site.safe import STEERING, one_line, visible
from ragassay.web.question_desk import Material, QuestionDesk
from ragassay.web.question_forms import form_json

MAX_PLACES = 5
"""How many places of one finding are named; the rest is counted."""


class View(msgspec.Struct, frozen=True, kw_only=True):
    """A question of the file, the form of it that is looked at, and everything that is shown beside it."""

    question: Question
    form: Question
    line: ReviewLine | None
    excerpts: Sequence[Excerpt]
    lint: Sequence[LintFinding]
    same_as: str | None
    """The id of another question of the set that asks the same in the same words."""
    pages: Mapping[str, Page]

    @property
    def seen(self) -> Seen:
        """What a decision on this view records as seen."""
        return seen_of(self.excerpts, self.pages, self.lint)

    @property
    def material(self) -> str:
        """The digest of the question as the file has it."""
        return material(self.question)

    @property
    def stands(self) -> str | None:
        """The digest of the decision that stands, None where none does."""
        return None if self.line is None else line_digest(self.line)

    @property
    def shown(self) -> str:
        """The digest of all that is shown: a decision is taken only for what the page showed."""
        return canon.digest(
            {
                "excerpts": [to_json(one) for one in self.excerpts],
                "form": material(self.form),
                "lint": [canon.without_fractions(to_json(one)) for one in self.lint],
                "material": self.material,
                "sameAs": self.same_as,
                "stands": self.stands,
            }
        )

    @property
    def refusals(self) -> list[str]:
        """Why this form cannot be accepted; empty where it can."""
        found = [f"{one.rule}: {visible(one.message)}" for one in self.lint if one.fails]
        if self.same_as is not None:
            found.append(f"the question {visible(self.same_as)} asks the same in the same words")
        return found


def view_of(
    desk: QuestionDesk, given: Material, question: Question, *, form: Question | None = None, reach: Reach = 700
) -> View:
    """Return what is shown of a question; `form` is the edited form that is looked at in its place."""
    looked_at = form or question
    pages = given.documentation.pages if given.documentation else {}
    others = (given.form(other) for other in given.benchmark.questions if other.id != question.id)
    return View(
        question=question,
        form=looked_at,
        line=given.stands.get(question.id),
        excerpts=excerpts(desk.evidence(looked_at), pages, reach),
        lint=desk.lint(given, looked_at),
        same_as=next((one.id for one in others if one and one.input.strip() == looked_at.input.strip()), None),
        pages=pages,
    )


def view_json(view: View, given: Material) -> JSON:
    """Return everything about a question that the page shows."""
    question, line = view.question, view.line
    stands = given.listed(question)
    provenance = question.provenance
    origin = (
        {} if provenance is None else {name: value for name, value in to_json(provenance).items() if value is not None}
    )
    return {
        "id": question.id,
        "name": visible(question.id),
        "state": stands.state,
        "carriedBy": visible(stands.item.reviewer or "") if stands.item is not None else None,
        "decision": None if line is None else line_json(line),
        "edited": form_json(line.edited) if line is not None and line.edited is not None else None,
        "form": form_json(question),
        "unsplit": question.unsplit,
        "provenance": {name: visible(value) if isinstance(value, str) else value for name, value in origin.items()},
        "neighbours": _neighbours(view, given),
        **looked_at_json(view, given),
    }


def looked_at_json(view: View, given: Material) -> JSON:
    """Return what is shown beside the form that is looked at, and the digests that a decision on it must bring."""
    return {
        "material": view.material,
        "pageSha256": view.seen.page_sha256,
        "shown": view.shown,
        "corpus": given.documentation is not None,
        "passages": [_passage(one, view.pages, given) for one in view.excerpts],
        "lint": [finding_json(one, view.question.id) for one in view.lint],
        "refusals": view.refusals,
    }


def line_json(line: ReviewLine) -> JSON:
    """Return a decision as the page names it."""
    return {
        "decision": line.decision,
        "reviewer": line.reviewer,
        "at": line.at,
        "byAuthor": line.by_author,
        "reason": None if line.reason is None else visible(line.reason),
        "line": line_digest(line),
    }


def finding_json(finding: LintFinding, question: str) -> JSON:
    """Return a finding of the lint as one of its questions sees it."""
    others = [one for one in finding.questions if one != question]
    places = [f"{one_line(place.page)} [{place.start}, {place.end})" for place in finding.places[:MAX_PLACES]]
    if len(finding.places) > MAX_PLACES:
        places.append(f"and {len(finding.places) - MAX_PLACES} more places")
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": visible(finding.message),
        "others": [visible(one) for one in others[:MAX_PLACES]],
        "othersMore": max(0, len(others) - MAX_PLACES),
        "places": places,
        "waived": None if finding.waived is None else visible(finding.waived),
    }


def _neighbours(view: View, given: Material) -> list[JSON]:
    near = neighbours(view.question, given.benchmark.questions)
    return [
        {"id": one.question, "name": visible(one.question), "input": visible(given.questions[one.question].input)}
        | {"shared": one.shared, "samePage": one.same_page}
        for one in near
    ]


def _passage(one: Excerpt, pages: Mapping[str, Page], given: Material) -> JSON:
    address = given.documentation.addresses.get(one.page or "") if given.documentation else None
    return {
        "alternative": one.alternative,
        "state": one.state,
        "declared": None if one.declared is None else visible(one.declared),
        "declaredExists": one.declared_exists,
        "page": None if one.page is None else visible(one.page),
        "title": visible(one.title or ""),
        "address": None if address is None else visible(address),
        "start": one.start,
        "end": one.end,
        "length": one.length,
        "folds": list(one.at.folds) if one.at else [],
        "inside": one.inside,
        "repeats": one.repeats,
        "others": [visible(place.page) for place in one.others[:MAX_PLACES]],
        "othersMore": max(0, len(one.others) - MAX_PLACES),
        "pieces": [] if one.page is None else list(_pieces(pages[one.page].text, one)),
    }


def _pieces(text: str, one: Excerpt) -> Iterator[JSON]:
    """Yield the excerpt in pieces: before, in and after the evidence, and by itself whatever had to be written out."""
    cuts = [one.start, *((one.at.start, one.at.end) if one.at else ()), one.end]
    for number, (start, end) in enumerate(pairwise(cuts)):
        marked = one.at is not None and number == 1
        at = start
        for found in STEERING.finditer(text, start, min(end, one.end)):
            if found.start() > at:
                yield {"text": text[at : found.start()], "marked": marked, "hidden": False}
            yield {"text": visible(found.group()), "marked": marked, "hidden": True}
            at = found.end()
        if min(end, one.end) > at:
            yield {"text": text[at : min(end, one.end)], "marked": marked, "hidden": False}
