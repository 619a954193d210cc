"""From a question and its answer to what a judge may see; an empty answer is settled without one."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.judge.visible import is_blank
from ragassay.records import ClaimVerdict, JudgeItem, Profile, Question, Verdict


def build_item(question: Question, answer: str, contexts: Sequence[str], profile: Profile) -> JudgeItem:
    """Return the item for a judge: no row, no latency, no other answer.

    Retrieved texts (`contexts`) go in for profile 1 only, evidence for profile 2 only. The frozen claims always stand
    in the item; the prompt of profile 1 does not show them.
    """
    published = profile == "factual-consistency/1"
    return JudgeItem(
        question=question.input,
        reference=question.target,
        evidence=() if published else question.evidence,
        claims=question.claims,
        answer=answer,
        contexts=tuple(contexts) if published else (),
    )


def is_empty(item: JudgeItem) -> bool:
    """Return whether the answer holds nothing that can be read: only white space and invisible characters."""
    return is_blank(item.answer)


def settle_empty(item: JudgeItem) -> Verdict:
    """Return the verdict on an empty answer, which code settles without a call: every claim OMITS.

    For null rows and conformance cases; an empty completion in a pass is a failure of the answer and never gets here.
    Raises `ValueError` when the answer is not empty, or when there is no claim that it could omit.
    """
    if not is_empty(item):
        raise ValueError("only an empty answer is settled without a judge")
    if not item.claims:
        raise ValueError("an item without claims cannot be settled: nothing says what the answer omits")
    return Verdict(
        claims=tuple(
            ClaimVerdict(id=c.id, text=c.text, central=c.central, verdict="OMITS", quote="", reason="empty answer")
            for c in item.claims
        ),
        central_contradicted=False,
        answer_kind="empty",
    )
