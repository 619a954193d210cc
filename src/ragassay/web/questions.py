"""The page on which drafted questions are accepted, edited and rejected: what it serves and what it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ragassay.errors import InputError
from ragassay.question.excerpts import Reach
from ragassay.question.reviews import material
from ragassay.records import JSON, Question
from ragassay.run.question_sets.question_reviews import DecidedMeanwhile, same_saying
from ragassay.run.question_sets.review_list import Listed
from ragassay.site.safe import one_line, shortened, visible
from ragassay.web.app import Link, Page, asset, document, problem
from ragassay.web.question_asks import (
    Check,
    Decide,
    Outdated,
    Undo,
    check_shown,
    check_taken,
    is_author,
    line_of,
    reviewer_name,
)
from ragassay.web.question_desk import Material, QuestionDesk
from ragassay.web.question_forms import read_form
from ragassay.web.question_view import looked_at_json, view_json, view_of
from ragassay.web.review_asks import sent_as

GONE = "the question file holds no such question any more; load the page again"
REACHES: Mapping[str, Reach] = {"700": 700, "4000": 4_000, "20000": 20_000}
SCRIPTS = ("questions", "questions_shown", "questions_edit", "questions_keys")


def questions_page(desk: QuestionDesk, *, reviewer: str | None = None, links: Sequence[Link] = ()) -> Page:
    """Return the page for a question file; `reviewer` is the name to begin with, None where the page asks for it."""
    counter = _Counter(desk, reviewer)
    return Page(
        path="/questions",
        routes=(
            Route("/questions", document(__package__, "questions.html", links, "/questions"), methods=["GET"]),
            Route("/questions/questions.css", asset(__package__, "questions.css"), methods=["GET"]),
            *(Route(f"/questions/{name}.js", asset(__package__, f"{name}.js"), methods=["GET"]) for name in SCRIPTS),
            Route("/questions/begin", counter.begin),
            Route("/questions/state", counter.state),
            Route("/questions/item", counter.item),
            Route("/questions/check", counter.check, methods=["POST"]),
            Route("/questions/decide", counter.decide, methods=["POST"]),
            Route("/questions/undo", counter.undo, methods=["POST"]),
        ),
    )


class _Counter:
    """The endpoints of the page. What they say is stored is on the disk; the question file is never written."""

    def __init__(self, desk: QuestionDesk, reviewer: str | None) -> None:
        self._desk = desk
        self._reviewer = reviewer

    async def begin(self, request: Request) -> Response:
        """Send the name to begin with, and which file is reviewed."""
        given = await run_in_threadpool(self._desk.now)
        names = {"file": one_line(self._desk.file.name), "decisions": one_line(self._desk.book.path.name)}
        return JSONResponse({"reviewer": self._reviewer, **names, "set": visible(given.benchmark.name)})

    async def state(self, request: Request) -> Response:
        """Send every question in the file's order, with its state and what the lint counts."""
        reviewer = reviewer_name(request.query_params.get("reviewer", ""))
        return JSONResponse({"reviewer": reviewer, **await run_in_threadpool(self._state)})

    async def item(self, request: Request) -> Response:
        """Send one question with everything that is shown of it."""
        asked = request.query_params
        reviewer = reviewer_name(asked.get("reviewer", ""))
        reach = REACHES.get(asked.get("reach", ""), 700)

        def answer() -> JSON | None:
            given = self._desk.now()
            question = given.questions.get(asked.get("id", ""))
            if question is None:
                return None
            shown = view_json(view_of(self._desk, given, question, reach=reach), given)
            return {**shown, "isAuthor": is_author(reviewer, question)}

        sent = await run_in_threadpool(answer)
        return problem(404, GONE) if sent is None else JSONResponse(sent)

    async def check(self, request: Request) -> Response:
        """Send what is shown beside an edited form and what forbids to accept it, and store nothing."""
        got: Check = await sent_as(request, Check)

        def answer() -> JSON | None:
            given = self._desk.now()
            question = given.questions.get(got.id)
            if question is None:
                return None
            form, problems = self._form(given, question, got.form)
            if form is None:
                return {"problems": [visible(one) for one in problems], "same": False}
            view = view_of(self._desk, given, question, form=form, reach=got.reach)
            return {"problems": [], "same": material(form) == view.material, **looked_at_json(view, given)}

        sent = await run_in_threadpool(answer)
        return problem(404, GONE) if sent is None else JSONResponse(sent)

    async def decide(self, request: Request) -> Response:
        """Store a decision on what the page showed; refused with 409 where that is not what is there now."""
        got: Decide = await sent_as(request, Decide)
        try:
            sent = await run_in_threadpool(self._decide, got, reviewer_name(got.reviewer))
        except (Outdated, DecidedMeanwhile) as error:
            return problem(409, str(error))
        return JSONResponse(sent)

    async def undo(self, request: Request) -> Response:
        """Take back the decision that stands, where this reviewer took it."""
        got: Undo = await sent_as(request, Undo)
        reviewer = reviewer_name(got.reviewer)

        def answer() -> JSON:
            self._desk.book.undo(got.id, reviewer, got.line, int(time.time()))
            return self._state()

        try:
            return JSONResponse(await run_in_threadpool(answer))
        except DecidedMeanwhile as error:
            return problem(409, str(error))

    def _form(self, given: Material, question: Question, form: JSON) -> tuple[Question | None, list[str]]:
        line = given.stands.get(question.id)
        return read_form(form, question, line.edited if line is not None else None)

    def _decide(self, got: Decide, reviewer: str) -> JSON:
        given = self._desk.now(surely=True)
        question = given.questions.get(got.id)
        if question is None:
            raise Outdated(GONE)
        form = None
        if got.decision == "edit":
            form, problems = self._form(given, question, got.form or {})
            if form is None:
                raise InputError("the edited question cannot be stored", [visible(one) for one in problems])
        view = view_of(self._desk, given, question, form=form, reach=got.reach)
        new = line_of(got, reviewer, view)
        if view.line is None or not same_saying(view.line, new):
            check_shown(got, view)
            check_taken(got, view)
            self._desk.book.decide(new, view.stands)
        return self._state()

    def _state(self) -> JSON:
        given = self._desk.now()
        counts = self._desk.counts(given)
        questions = []
        for question in given.benchmark.questions:
            count = counts.get(question.id)
            stands = given.listed(question)
            questions.append(
                {
                    "id": question.id,
                    "name": visible(question.id),
                    "input": shortened(question.input, 90),
                    "state": stands.state,
                    "by": _by(stands),
                    "errors": count["error"] if count is not None else None,
                    "warnings": count["warning"] if count is not None else None,
                }
            )
        unknown = [visible(one) for one in given.stands if one not in given.questions]
        return {"questions": questions, "unknown": unknown, "corpus": given.documentation is not None}


def _by(stands: Listed) -> str | None:
    """Return who decided a question, of a review that carries over who is named in the manifest."""
    if stands.item is not None and stands.item.reviewer is not None:
        return visible(stands.item.reviewer)
    return None if stands.line is None else stands.line.reviewer
