"""Running a judge over the cases, on the path that every item takes: build the item, ask, read the verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ragassay.errors import InputError, ModelError, legible
from ragassay.judge.conformance_cases import Case, why_not_asked
from ragassay.judge.conformance_report import CaseResult, CaseStatus, ConformanceReport, reported
from ragassay.judge.invalid import InvalidReply
from ragassay.judge.items import build_item, is_empty, settle_empty
from ragassay.judge.read import read_verdict
from ragassay.records import Failure, JudgeItem, JudgeReply, Profile, RawVerdict, Verdict
from ragassay.score import item_hundredths
from ragassay.seams import Judge, Progress

WORKERS = 16
"""Cases under way at once; an endpoint's own limits hold besides."""


async def conformance(
    judge: Judge,
    profile: Profile,
    cases: Sequence[Case],
    *,
    workers: int = WORKERS,
    progress: Progress | None = None,
) -> ConformanceReport:
    """Return how `judge` did on `cases` under `profile`.

    A case without a valid reply in all attempts, or without any reply, is unjudged: it counts neither as right nor as
    wrong. Raises `InputError` where no case can go on: a refused key, a spent budget, a judge that reads literals under
    profile 1.
    """
    if judge.needs_literals and profile == "factual-consistency/1":
        raise InputError(f"the judge {judge.id!r} reads the literals of frozen claims; it needs factual-consistency/2")
    found: dict[str, CaseResult] = {}
    work = iter(cases)

    async def worker() -> None:
        for case in work:
            found[case.id] = await _of_case(judge, profile, case)
            if progress is not None:
                progress(len(found), len(cases))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(worker())
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from None
    return reported([found[case.id] for case in cases], profile)


async def _of_case(judge: Judge, profile: Profile, case: Case) -> CaseResult:
    item = build_item(case.asked(), case.answer, (), profile)
    if (why := why_not_asked(case, item, profile, needs_literals=judge.needs_literals)) is not None:
        return _result(case, profile, "not_asked", failure=Failure(kind="not_asked", message=why))
    if is_empty(item):
        return _result(case, profile, "settled", settle_empty(item))
    replies: list[JudgeReply] = []
    try:
        verdict = await _asked(judge, profile, item, replies)
    except InputError:
        raise
    except ModelError as error:
        if error.kind == "auth":
            raise InputError(f"the judge's model refused the key: {error}") from error
        failure = Failure(kind=error.kind, message=legible(error))
    except InvalidReply as error:
        failure = Failure(kind="invalid_reply", message=legible(error))
    except Exception as error:  # noqa: BLE001 - an outside judge may raise anything: unjudged, with its reason
        failure = Failure(kind=type(error).__name__, message=legible(error))
    else:
        return _result(case, profile, "judged", verdict, replies=replies)
    return _result(case, profile, "unjudged", replies=replies, failure=failure)


async def _asked(judge: Judge, profile: Profile, item: JudgeItem, replies: list[JudgeReply]) -> Verdict:
    """Return the first valid verdict, every reply put into `replies`; raises the last `InvalidReply` without one."""
    while True:
        raw = await judge.grade(item)
        try:
            verdict = read_verdict(raw, item, profile)
        except InvalidReply as error:
            replies.append(_kept(raw, legible(error)))
            if len(replies) >= judge.attempts:
                raise
        else:
            replies.append(_kept(raw, None))
            return verdict


def _kept(raw: RawVerdict, problem: str | None) -> JudgeReply:
    text = raw.text if raw.text is None else raw.text.encode("utf-8", "backslashreplace").decode()
    return JudgeReply(nonce=raw.nonce, text=text, problem=problem)


def _result(
    case: Case,
    profile: Profile,
    status: CaseStatus,
    verdict: Verdict | None = None,
    *,
    replies: Sequence[JudgeReply] = (),
    failure: Failure | None = None,
) -> CaseResult:
    return CaseResult(
        id=case.id,
        kind=case.kind,
        status=status,
        expected=case.verdicts,
        given=tuple(claim.verdict for claim in verdict.claims) if verdict else (),
        comparable=profile == "factual-consistency/2",
        expected_score=case.hundredths,
        score=item_hundredths(verdict) if verdict else None,
        answer_kind=verdict.answer_kind if verdict else None,
        extra_wrong=verdict.extra_wrong if verdict else False,
        injection_seen=verdict.injection_seen if verdict else False,
        failure=failure,
        replies=tuple(replies),
    )
