"""What a judge sees and says, and how one question of one pass ended."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ragassay.records.answering import Answer, Retrieval, Spent, Usage
from ragassay.records.question import Claim
from ragassay.records.values import Record

Profile: TypeAlias = Literal["factual-consistency/1", "factual-consistency/2"]
VerdictWord: TypeAlias = Literal["SUPPORTS", "HEDGES", "CONTRADICTS", "OMITS"]
AnswerKind: TypeAlias = Literal["answer", "abstention", "refusal", "error_text", "empty"]


class JudgeItem(Record, frozen=True):
    """What a judge may see: no row name, no latency, no other answer; `contexts` is filled in profile 1 only."""

    question: str
    reference: str
    evidence: tuple[str, ...]
    claims: tuple[Claim, ...]
    answer: str
    contexts: tuple[str, ...] = ()


class RawVerdict(Record, frozen=True):
    """One reply of a judge as it came, with the nonce of its prompt; kept before anyone parses it."""

    nonce: str
    text: str | None
    usage: Usage = Usage()
    latency_ms: int = 0
    attempts: int = 1
    """Model calls behind this reply, transport retries included; 0 for a judge without a model."""
    request_id: str | None = None
    model: str | None = None
    cost_microusd: int | None = None
    format: str | None = None
    """The response format that was asked for where the endpoint refused the first: json_object or none."""


class ClaimVerdict(Record, frozen=True):
    """The judge's class for one claim of the reference; in profile 1 `text` is the judge's own claim."""

    id: int
    text: str
    central: bool
    verdict: VerdictWord
    quote: str
    reason: str


class Verdict(Record, frozen=True):
    """A valid reply of a judge; `folds` names what was folded in reading it. It carries no number."""

    claims: tuple[ClaimVerdict, ...]
    central_contradicted: bool
    reference_insufficient: bool = False
    answer_kind: AnswerKind | None = None
    extra_wrong: bool = False
    injection_seen: bool = False
    folds: tuple[str, ...] = ()


Status: TypeAlias = Literal[
    "ok",
    "abstained",
    "refused",
    "retrieval_empty",
    "retrieval_failed",
    "answer_failed",
    "judge_failed",
    "harness_failed",
]
SCORED: frozenset[str] = frozenset({"ok", "abstained", "refused", "retrieval_empty"})
MISSING: frozenset[str] = frozenset({"retrieval_failed", "answer_failed", "judge_failed", "harness_failed"})


class Failure(Record, frozen=True):
    """Why an item has no score: the kind in one word, the message for a person, secrets removed."""

    kind: str
    message: str


class Outcome(Record, frozen=True):
    """One question of one pass, ended: `score` in integer hundredths, or None with a failure. Absent is not zero."""

    question: str
    status: Status
    score: int | None
    retrieval: Retrieval | None = None
    answer: Answer | None = None
    raw_verdicts: tuple[RawVerdict, ...] = ()
    verdict: Verdict | None = None
    failure: Failure | None = None
    spent: Answer | None = None
    """What the calls took that led to no answer (text empty); None where there is an answer or no call was made."""
    search_spent: Spent = Spent()
    """What the calls inside its searches took, failed searches included."""
    answered_at: int | None = None
    """Unix seconds at which the answer (or its failure) was there."""
