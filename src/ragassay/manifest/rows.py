"""One question's outcome becomes one line of `outputs.jsonl` and one of `telemetry.jsonl`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragassay.records import (
    Delivered,
    JudgeReply,
    Outcome,
    OutputChunk,
    OutputRow,
    OutputVerdict,
    Question,
    RawVerdict,
    Source,
    TelemetryRow,
    Usage,
    Verdict,
)

REFUSED = "invalid reply"
"""The problem of a refused judge reply for which the caller names no other."""


def output_row(
    outcome: Outcome, question: Question, *, run: str, pass_k: int, judge: str, fill: Source | None = None
) -> OutputRow:
    """Return what a re-execution would reproduce of `outcome`; `judge` is the digest of the judge.

    A failed item keeps what was there before it failed and has no score. `judge` stands on every row that reached
    the judge. An outcome without a retrieval counts as one whose retrieval failed.
    """
    retrieval, verdict = outcome.retrieval, outcome.verdict
    judged = verdict is not None or outcome.status == "judge_failed"
    return OutputRow(
        run=run,
        pass_=pass_k,
        id=outcome.question,
        question=question.input,
        status=outcome.status,
        retrieval=retrieval.state if retrieval else "failed",
        chunks=tuple(_chunk(chunk) for chunk in retrieval.delivered) if retrieval else (),
        answer=outcome.answer.text if outcome.answer else None,
        claims=verdict.claims if verdict else (),
        verdict=_verdict(verdict) if verdict else None,
        judge=judge if judged else None,
        score=outcome.score,
        failure=outcome.failure,
        fill=fill,
    )


def _chunk(delivered: Delivered) -> OutputChunk:
    return OutputChunk(
        rank=delivered.rank,
        id=delivered.chunk,
        sha256=delivered.sha256,
        text=delivered.text,
        page=delivered.page,
        start=delivered.start,
        end=delivered.end,
    )


def _verdict(verdict: Verdict) -> OutputVerdict:
    return OutputVerdict(
        central_contradicted=verdict.central_contradicted,
        reference_insufficient=verdict.reference_insufficient,
        answer_kind=verdict.answer_kind,
        extra_wrong=verdict.extra_wrong,
        injection_seen=verdict.injection_seen,
    )


def verdict_of(row: OutputRow) -> Verdict | None:
    """Return the verdict that a row carries, the way the judge stage made it (its folds are telemetry)."""
    if row.verdict is None:
        return None
    return Verdict(
        claims=row.claims,
        central_contradicted=row.verdict.central_contradicted,
        reference_insufficient=row.verdict.reference_insufficient,
        answer_kind=row.verdict.answer_kind,
        extra_wrong=row.verdict.extra_wrong,
        injection_seen=row.verdict.injection_seen,
    )


def telemetry_row(outcome: Outcome, problems: Sequence[str] = ()) -> TelemetryRow:
    """Return what `outcome` took: times, tokens, money, attempts, and every raw reply of the judge.

    `problems` says why each refused reply was refused, in order; what it does not name is "invalid reply". The last
    reply of an item with a verdict is the one that was used. A sum with an unknown part is unknown, never less.
    """
    retrieval, answer, raw = outcome.retrieval, outcome.answer or outcome.spent, outcome.raw_verdicts
    return TelemetryRow(
        id=outcome.question,
        answered_at=outcome.answered_at,
        retrieval_ms=retrieval.latency_ms if retrieval else None,
        retrieval_scores=tuple(chunk.score for chunk in retrieval.delivered) if retrieval else (),
        duplicates=retrieval.duplicates if retrieval else 0,
        below_threshold=retrieval.below_threshold if retrieval else 0,
        retrieval_attempts=outcome.search_spent.attempts,
        retrieval_usage=outcome.search_spent.usage,
        retrieval_cost_microusd=outcome.search_spent.cost_microusd,
        answer_ms=answer.latency_ms if answer else None,
        answer_attempts=answer.attempts if answer else 0,
        answer_usage=answer.usage if answer else Usage(),
        answer_cost_microusd=answer.cost_microusd if answer else None,
        finish_reason=answer.finish_reason if answer else None,
        request_id=answer.request_id if answer else None,
        model=answer.model if answer else None,
        judge_ms=sum(reply.latency_ms for reply in raw) if raw else None,
        judge_attempts=sum(reply.attempts for reply in raw),
        judge_usage=Usage(
            input_tokens=_sum(reply.usage.input_tokens for reply in raw),
            output_tokens=_sum(reply.usage.output_tokens for reply in raw),
        ),
        judge_cost_microusd=_sum(reply.cost_microusd for reply in raw),
        judge_replies=_replies(outcome, problems),
        folds=(*(outcome.verdict.folds if outcome.verdict else ()), *_formats(raw)),
    )


def _formats(raws: Sequence[RawVerdict]) -> list[str]:
    """Name each reply that was asked for in another response format than the judge describes, and which."""
    return [
        f"reply {at} was asked for with response_format {raw.format}: the endpoint refused json_schema"
        for at, raw in enumerate(raws, 1)
        if raw.format is not None
    ]


def _replies(outcome: Outcome, problems: Sequence[str]) -> tuple[JudgeReply, ...]:
    used = len(outcome.raw_verdicts) - 1 if outcome.verdict else None
    reasons = [problems[i] if i < len(problems) else REFUSED for i in range(len(outcome.raw_verdicts))]
    return tuple(
        JudgeReply(nonce=raw.nonce, text=raw.text, problem=None if i == used else reasons[i])
        for i, raw in enumerate(outcome.raw_verdicts)
    )


def _sum(parts: Iterable[int | None]) -> int | None:
    known = list(parts)
    return sum(part for part in known if part is not None) if known and None not in known else None
