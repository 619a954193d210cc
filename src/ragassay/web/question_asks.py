"""What the page for drafted questions sends, and when a decision is taken from it."""

from __future__ import annotations

import time
from typing import Any, Literal

import msgspec

from ragassay.errors import InputError
from ragassay.question.excerpts import Reach
from ragassay.question.review_line import ReviewLine
from ragassay.question.reviews import material
from ragassay.records import Question
from ragassay.site.calibration.ratings import rater_name
from ragassay.site.safe import visible
from ragassay.web.question_view import View


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends to have an edited form looked at; nothing is stored."""

    id: str
    form: dict[str, Any]
    reach: Reach = 700


class Decide(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What the page sends to decide: the decision, and the digests of the question, the page and all that it showed."""

    reviewer: str
    id: str
    decision: Literal["accept", "edit", "reject"]
    material: str
    page_sha256: str | None
    shown: str
    form: dict[str, Any] | None = None
    reason: str | None = None
    reach: Reach = 700


class Undo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends to take a decision back."""

    reviewer: str
    id: str
    line: str


class Outdated(InputError):
    """What the page showed is not what is there now."""


def reviewer_name(text: str) -> str:
    """Return a reviewer's name in one spelling; raises `InputError` where it is none."""
    return rater_name(text, "reviewer")


def is_author(reviewer: str, question: Question) -> bool:
    """Tell whether the reviewer is named as the author, whatever the case of the letters."""
    author = (question.provenance.author if question.provenance else None) or ""
    return " ".join(author.split()).casefold() == reviewer.casefold()


def line_of(got: Decide, reviewer: str, view: View) -> ReviewLine:
    """Return the decision as it is stored; raises `InputError` where it is none."""
    edited = msgspec.structs.replace(view.form, provenance=None) if got.decision == "edit" else None
    reason = (got.reason or "").strip() if got.decision == "reject" else None
    try:
        return ReviewLine(
            question=view.question.id,
            material=view.material,
            decision=got.decision,
            reviewer=reviewer,
            at=int(time.time()),
            seen=view.seen,
            by_author=is_author(reviewer, view.question),
            edited=edited,
            reason=reason,
        )
    except ValueError as error:
        raise InputError(f"this is no decision: {visible(str(error))}") from error


def check_shown(got: Decide, view: View) -> None:
    """Raise `Outdated` where the page did not show what is there now."""
    if got.material != view.material:
        raise Outdated("the question has changed in its file since it was shown; look at it again")
    if got.page_sha256 != view.seen.page_sha256:
        raise Outdated("the page that it rests on has changed since it was shown; look at it again")
    if got.shown != view.shown:
        raise Outdated("what is shown of this question has changed meanwhile; look at it again")


def check_taken(got: Decide, view: View) -> None:
    """Raise `InputError` where the form may not be accepted as it is."""
    if got.decision == "reject":
        return
    if got.decision == "edit" and material(view.form) == view.material:
        raise InputError("nothing was changed; accept the question as it is")
    if view.refusals:
        raise InputError("this cannot be accepted; edit or reject it, or waive the rule in the terminal", view.refusals)
