"""A model proposes claims for questions: each reply is kept first and read then, an invalid one is asked for again."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ragassay import canon
from ragassay.errors import InputError, ModelError, legible
from ragassay.plugins.meter import metering
from ragassay.question.proposals import Proposal, material_digest, proposed
from ragassay.records import JSON, Question
from ragassay.run.claims_prompt import messages, prompt_digest, response_format
from ragassay.run.claims_replies import Folded, ReplyFile, StoredReply, fold_replies
from ragassay.run.limits import Endpoint

ATTEMPTS = 3
"""How often a question is asked in one round in total before it is left out."""


class Asked(msgspec.Struct, kw_only=True):
    """What became of the questions that were to be asked, and what the calls took."""

    calls: int = 0
    replies: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_microusd: int | None = 0
    left_out: dict[str, tuple[str, ...]] = {}
    """By question, why each of its replies is invalid."""
    failed: dict[str, str] = {}
    """By question, why the endpoint gave no reply; it is asked again the next time."""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint, the parameters of its calls, and where replies are kept."""

    endpoint: Endpoint
    model: str
    params: Mapping[str, Any]
    settings: str
    kept: ReplyFile


def asking(endpoint: Endpoint, params: JSON, kept: ReplyFile) -> Asking:
    """Return how claims are asked for: temperature 0 and the strict schema, unless `params` says otherwise.

    A parameter of None is left out of the call.
    """
    wanted = {"temperature": 0, "response_format": response_format(), **params}
    sent = {name: value for name, value in wanted.items() if value is not None}
    described = endpoint.describe()
    settings = canon.digest(canon.without_fractions({"model": described, "params": sent}))
    return Asking(endpoint=endpoint, model=str(described["id"]), params=sent, settings=settings, kept=kept)


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
    tasks = [asyncio.create_task(_ask_one(how, question, asked, again)) for question in questions]
    try:
        for done, task in enumerate(asyncio.as_completed(tasks), 1):
            await task
            report(done, len(tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return asked


async def _ask_one(how: Asking, question: Question, asked: Asked, again: bool) -> None:
    folded = fold_replies(how.kept.of(question), question, prompt_digest())
    round = folded.round + 1 if again else max(folded.round, 1)
    if again:
        folded = Folded(round=round, taken=None, draft=None, invalid=())
    while folded.draft is None and len(folded.invalid) < ATTEMPTS:
        try:
            await _call(how, question, round, asked)
        except ModelError as error:
            if error.kind == "auth":
                raise InputError(f"the endpoint refuses the key: {legible(error)}") from error
            asked.failed[question.id] = f"{error.kind}: {legible(error)}"
            return
        folded = fold_replies(how.kept.of(question), question, prompt_digest())
    if folded.draft is None:
        asked.left_out[question.id] = folded.invalid


async def _call(how: Asking, question: Question, round: int, asked: Asked) -> None:
    nonce = secrets.token_hex(16)
    with metering() as meter:
        try:
            reply = await how.endpoint.complete(messages(question, nonce), how.params)
        finally:
            asked.calls += meter.attempts
            asked.replies += meter.replies
            if meter.replies:
                asked.input_tokens = _sum(asked.input_tokens, meter.input_tokens)
                asked.output_tokens = _sum(asked.output_tokens, meter.output_tokens)
                asked.cost_microusd = _sum(asked.cost_microusd, meter.cost_microusd)
    text = None if reply.text is None else reply.text.encode("utf-8", "replace").decode()
    stored = StoredReply(
        question=question.id,
        material=material_digest(question),
        round=round,
        nonce=nonce,
        prompt=prompt_digest(),
        model=how.model,
        settings=how.settings,
        text=text,
        usage=meter.usage,
        latency_ms=meter.latency_ms,
        attempts=meter.attempts,
        cost_microusd=meter.cost_microusd,
        request_id=reply.request_id,
        served=reply.model,
    )
    how.kept.append(stored)


def _proposal(folded: Folded, question: Question) -> Proposal | None:
    if folded.taken is None or folded.draft is None:
        return None
    reply = folded.taken
    made = proposed(question, folded.draft, source="model", reply=reply.digest(), round=reply.round)
    return msgspec.structs.replace(made, model=reply.model, prompt=reply.prompt)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
