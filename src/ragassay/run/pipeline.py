"""The main path: one question of one row walks it once, left to right."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from ragassay.errors import ModelError, RagassayError, StackError, legible
from ragassay.records import Answer, Failure, Outcome, Question, Retrieval, Status, Verdict
from ragassay.score import item_hundredths, status_of


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """The three calls that leave the program, each already behind its limits and its journal."""

    retrieve: Callable[[Question], Awaitable[Retrieval]]
    answer: Callable[[Question, Retrieval], Awaitable[Answer]]
    judge: Callable[[Question, Retrieval, Answer], Awaitable[Verdict]]


class Unjudged(RagassayError):
    """No valid reply in all attempts of the judge; the message holds the fault of the last one."""


async def assay(question: Question, steps: Steps) -> Outcome:
    """Ask one question: it ends in a score that code computes from a verdict, or in a class of missing."""
    retrieval: Retrieval | None = None
    answer: Answer | None = None
    stage: Status = "retrieval_failed"
    try:
        retrieval = await steps.retrieve(question)
        stage = "answer_failed"
        answer = await steps.answer(question, retrieval)
        stage = "judge_failed"
        verdict = await steps.judge(question, retrieval, answer)
    except (StackError, ModelError, Unjudged) as error:
        failure = Failure(kind=_kind(error), message=legible(error))
        return Outcome(
            question=question.id, status=stage, score=None, retrieval=retrieval, answer=answer, failure=failure
        )
    return Outcome(
        question=question.id,
        status=status_of(verdict, retrieval.state),
        score=item_hundredths(verdict),
        retrieval=retrieval,
        answer=answer,
        verdict=verdict,
    )


def _kind(error: RagassayError) -> str:
    if isinstance(error, ModelError):
        return error.kind
    return "unjudged" if isinstance(error, Unjudged) else "stack"
