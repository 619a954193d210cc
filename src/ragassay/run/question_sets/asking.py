"""How a model is asked for something of a strict form, and what that took; each reply is kept before it is read."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import msgspec

from ragassay import canon
from ragassay.errors import InputError, ModelError, legible
from ragassay.plugins.meter import metering
from ragassay.records import JSON, Message
from ragassay.run.limits import Endpoint
from ragassay.run.question_sets.claims_replies import ReplyFile, StoredReply

ATTEMPTS = 3
"""How often one thing is asked for in one round in total before it is left out."""


class Asked(msgspec.Struct, kw_only=True):
    """What the calls took, and what became of what was to be asked for."""

    calls: int = 0
    replies: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_microusd: int | None = 0
    left_out: dict[str, tuple[str, ...]] = {}
    """By what was asked for, why each of its replies is invalid."""
    failed: dict[str, str] = {}
    """By what was asked for, why the endpoint gave no reply; it is asked again the next time."""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint, the parameters of its calls, and where replies are kept."""

    endpoint: Endpoint
    model: str
    params: Mapping[str, Any]
    settings: str
    kept: ReplyFile


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for: its id, the digest of what it is made from, the round, and the prompt's digest."""

    id: str
    material: str
    round: int
    prompt: str


def asking(endpoint: Endpoint, params: JSON, kept: ReplyFile, response_format: JSON) -> Asking:
    """Return how a model is asked: temperature 0 and the strict schema, unless `params` says otherwise.

    A parameter of None is left out of the call.
    """
    wanted = {"temperature": 0, "response_format": response_format, **params}
    sent = {name: value for name, value in wanted.items() if value is not None}
    described = endpoint.describe()
    settings = canon.digest(canon.without_fractions({"model": described, "params": sent}))
    return Asking(endpoint=endpoint, model=str(described["id"]), params=sent, settings=settings, kept=kept)


async def all_of(work: Sequence[Coroutine[Any, Any, None]], report: Callable[[int, int], object]) -> None:
    """Do all of `work` at once; `report` gets (done, in all). The first error ends what is under way and is raised."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        for done, task in enumerate(asyncio.as_completed(tasks), 1):
            await task
            report(done, len(tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def answered(
    how: Asking, wanted: Wanted, messages: Callable[[str], Sequence[Message]], asked: Asked, name: str
) -> bool:
    """Ask once, with a fresh nonce that `messages` puts into the prompt; True when the reply is on disk.

    Where the endpoint gave none, that is noted for `name`. Raises `InputError` when it refuses the key or the budget is
    spent; every reply that came is kept.
    """
    try:
        await _ask(how, wanted, messages, asked)
    except ModelError as error:
        if error.kind == "auth":
            raise InputError(f"the endpoint refuses the key: {legible(error)}") from error
        asked.failed[name] = f"{error.kind}: {legible(error)}"
        return False
    return True


async def _ask(how: Asking, wanted: Wanted, messages: Callable[[str], Sequence[Message]], asked: Asked) -> None:
    nonce = secrets.token_hex(16)
    with metering() as meter:
        try:
            reply = await how.endpoint.complete(messages(nonce), how.params)
        finally:
            asked.calls += meter.attempts
            asked.replies += meter.replies
            if meter.replies:
                asked.input_tokens = _sum(asked.input_tokens, meter.input_tokens)
                asked.output_tokens = _sum(asked.output_tokens, meter.output_tokens)
                asked.cost_microusd = _sum(asked.cost_microusd, meter.cost_microusd)
    text = None if reply.text is None else reply.text.encode("utf-8", "replace").decode()
    stored = StoredReply(
        question=wanted.id,
        material=wanted.material,
        round=wanted.round,
        nonce=nonce,
        prompt=wanted.prompt,
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


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
