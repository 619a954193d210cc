"""A judge over any chat model: one call per reply, a fresh nonce each time; reading the reply is not its business."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from ragassay import canon
from ragassay.errors import ModelError
from ragassay.judge import profile1, profile2
from ragassay.judge.visible import ENCODING, MAX_CHARS
from ragassay.records import JSON, JudgeItem, Message, Profile, RawVerdict, Reply
from ragassay.seams import Model

_FALLBACKS = ("json_object", "none")
AHEAD_S = 0.2
"""How long the first call may keep others waiting: a parameter is refused before anything is generated."""
_PROFILES: Mapping[str, ModuleType] = {"factual-consistency/1": profile1, "factual-consistency/2": profile2}


_FORMAT_WORDS = re.compile(r"response[_ ]format|json_schema|json_object|structured output|grammar", re.IGNORECASE)
_NOT_ABOUT_FORMAT = re.compile(r"HTTP (3\d\d|404|405|413)\b")


class LLMJudge:
    """Grades by asking `model` for structured data under `profile`.

    `params` are added to the call's own: temperature 0 and a strict JSON schema as `response_format`. A parameter set
    to None is left out of the call, for a server that refuses it.

    Where `params` say nothing of the response format and the endpoint refuses the schema, the same prompt is asked with
    JSON mode, then without a format. What the endpoint takes is found out once, by its first usable reply; only calls
    that the first one keeps waiting too long find out for themselves. Each reply that was asked for in another format
    than the schema says so in `format`, and `notes` say it once.
    """

    attempts = 3
    needs_literals = False

    def __init__(self, model: Model, profile: Profile, params: Mapping[str, Any] | None = None) -> None:
        self._model = model
        self._profile = profile
        self._prompt = _PROFILES[profile]
        self._schema = self._prompt.schema()
        self._formats = _FALLBACKS if "response_format" not in (params or {}) else ()
        wanted = {"temperature": 0, "response_format": _response_format(self._schema), **(params or {})}
        self._params = {name: value for name, value in wanted.items() if value is not None}
        self._fallen = 0
        """How many formats the endpoint has refused; 0: it gets what `params` say."""
        self._taken = False
        self._first: asyncio.Event | None = None
        """Set when the first call has ended: others wait for it a moment, so that one of them finds out."""
        self.notes: tuple[str, ...] = ()
        """What a reader has to know of how the judge was asked."""
        self.id = str(model.describe()["id"])

    async def grade(self, item: JudgeItem) -> RawVerdict:
        """Return one reply under a fresh nonce, unparsed, from one model call; raises `ModelError` without one."""
        nonce = secrets.token_hex(16)
        reply, fallen = await self._in_turn(self._prompt.messages(item, nonce))
        return RawVerdict(
            nonce=nonce,
            text=reply.text,
            usage=reply.usage,
            latency_ms=reply.latency_ms,
            request_id=reply.request_id,
            model=reply.model,
            format=self._formats[fallen - 1] if fallen else None,
        )

    async def _in_turn(self, messages: Sequence[Message]) -> tuple[Reply, int]:
        """Ask; while nobody knows what the endpoint takes, the first call a moment ahead of the others."""
        if self._first is None:
            self._first = asyncio.Event()
            try:
                return await self._asked(messages)
            finally:
                self._first.set()
        if not self._first.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._first.wait(), AHEAD_S)
        return await self._asked(messages)

    async def _asked(self, messages: Sequence[Message]) -> tuple[Reply, int]:
        """Return the reply and the number of formats that were refused before; raises the first refusal, if any."""
        fallen, first = self._fallen, None
        while True:
            try:
                reply = await self._model.complete(messages, self._sent(fallen))
            except ModelError as error:
                if not _may_be_the_format(error):
                    raise
                first = first or error
                if fallen < self._fallen:
                    fallen = self._fallen  # another call has found out meanwhile
                elif not self._taken and fallen < len(self._formats):
                    fallen += 1
                else:
                    raise first from None
            else:
                self._settle(fallen, first)
                return reply, fallen

    def _sent(self, fallen: int) -> Mapping[str, Any]:
        if not fallen:
            return self._params
        others = {name: value for name, value in self._params.items() if name != "response_format"}
        name = self._formats[fallen - 1]
        return others if name == "none" else {**others, "response_format": {"type": name}}

    def _settle(self, fallen: int, refusal: ModelError | None) -> None:
        """Keep to the format that was taken first: calls that began together may have fallen further meanwhile."""
        if self._taken or fallen < self._fallen:
            return
        self._taken = True
        if fallen > self._fallen:
            self._fallen = fallen
            asked = "without a response format" if self._formats[fallen - 1] == "none" else "in JSON mode (json_object)"
            self.notes = (
                f"the judge {self.id} was asked {asked}: the endpoint refused json_schema ({refusal}); "
                "`ragassay models check` says what to write on the board, so that the row names what was asked",
            )

    def describe(self) -> JSON:
        """Return kind, id, profile, attempts, model, parameters, encoding of what is shown, prompt and schema digests.

        `fallback` names the formats that are asked for where the endpoint refuses the schema; a judge whose parameters
        say the format has none.
        """
        described: JSON = canon.without_fractions(
            {
                "kind": "llm",
                "id": self.id,
                "profile": self._profile,
                "attempts": self.attempts,
                "model": self._model.describe(),
                "params": self._params,
                "max_chars": MAX_CHARS,
                "encoding": ENCODING,
                "prompt": self._prompt.prompt_digest(),
                "schema": canon.digest(self._schema),
                **({"fallback": list(self._formats)} if self._formats else {}),
            }
        )
        return described


def _may_be_the_format(error: ModelError) -> bool:
    """Tell whether asking in another format could help: servers refuse one in many words, and some in none."""
    if error.kind == "server_error":
        return _FORMAT_WORDS.search(str(error)) is not None
    return error.kind == "bad_request" and _NOT_ABOUT_FORMAT.search(str(error)) is None


def _response_format(schema: JSON) -> JSON:
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}
