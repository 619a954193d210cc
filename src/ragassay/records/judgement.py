"""What a further judge said of the stored answers of one run; the run itself stays as it was signed."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ragassay.records.answering import Usage
from ragassay.records.judging import ClaimVerdict, Failure
from ragassay.records.run import JudgeReply, OutputVerdict
from ragassay.records.values import Record

Purpose: TypeAlias = Literal["panel", "reask", "null-row"]
"""A further judge, the run's own judge asked again, or a judge shown one text in place of every answer."""
NullRow: TypeAlias = Literal["empty", "constant", "injection"]
JudgementStatus: TypeAlias = Literal["judged", "judge_failed", "not_judged"]


class JudgementRow(Record, frozen=True):
    """One line of `verdicts.jsonl`; `score` in integer hundredths, or None with a failure. Absent is not zero.

    `not_judged` is an item without an answer, one that was not drawn for asking again, or one that this judge cannot
    judge; `failure` says which.
    """

    id: str
    status: JudgementStatus
    claims: tuple[ClaimVerdict, ...]
    verdict: OutputVerdict | None
    score: int | None
    failure: Failure | None = None


class JudgementCounts(Record, frozen=True):
    """asked = judged + unjudged + not_judged."""

    asked: int
    judged: int
    unjudged: int
    not_judged: int


class JudgementReplies(Record, frozen=True):
    """One line of `replies.jsonl`: what the replies to one item took (ms, tokens, micro-USD), and each as it came."""

    id: str
    judge_ms: int | None = None
    judge_attempts: int = 0
    judge_usage: Usage = Usage()
    judge_cost_microusd: int | None = None
    judge_replies: tuple[JudgeReply, ...] = ()
    folds: tuple[str, ...] = ()
