"""A model proposes claims for questions: each reply is kept first and read then, an invalid one is asked for again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from ragassay.question.proposals import Proposal, material_digest, proposed
from ragassay.records import Question
from ragassay.run.question_sets.asking import ATTEMPTS, Asked, Asking, Wanted, all_of, answered
from ragassay.run.question_sets.claims_prompt import messages, prompt_digest
from ragassay.run.question_sets.claims_replies import Folded, StoredReply, fold_replies


def from_replies(replies: Sequence[StoredReply], question: Question) -> Proposal | None:
    """Return the proposal that stored replies hold for `question` as it is now, or None."""
    return _proposal(fold_replies(replies, question, prompt_digest()), question)


async def ask_claims(
    how: Asking, questions: Sequence[Question], *, again: bool, report: Callable[[int, int], object]
) -> Asked:
    """Ask for the claims of `questions` until each has a valid reply or `ATTEMPTS` invalid ones.

    What was answered before counts, unless `again` opens a new round for each. Raises `InputError` when the endpoint
    refuses the key or the budget is spent; every reply that came is kept.
    """
    asked = Asked(left_out={}, failed={})
    await all_of([_ask_one(how, question, asked, again) for question in questions], report)
    return asked


async def _ask_one(how: Asking, question: Question, asked: Asked, again: bool) -> None:
    folded = fold_replies(how.kept.of(question), question, prompt_digest())
    round = folded.round + 1 if again else max(folded.round, 1)
    if again:
        folded = Folded(round=round, taken=None, draft=None, invalid=())
    wanted = Wanted(id=question.id, material=material_digest(question), round=round, prompt=prompt_digest())
    while folded.draft is None and len(folded.invalid) < ATTEMPTS:
        if not await answered(how, wanted, lambda nonce: messages(question, nonce), asked, question.id):
            return
        folded = fold_replies(how.kept.of(question), question, prompt_digest())
    if folded.draft is None:
        asked.left_out[question.id] = folded.invalid


def _proposal(folded: Folded, question: Question) -> Proposal | None:
    if folded.taken is None or folded.draft is None:
        return None
    reply = folded.taken
    made = proposed(question, folded.draft, source="model", reply=reply.digest(), round=reply.round)
    return msgspec.structs.replace(made, model=reply.model, prompt=reply.prompt)
