"""A judge over any chat model: one call per reply, a fresh nonce each time; reading the reply is not its business."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ragassay import canon
from ragassay.judge import profile1, profile2
from ragassay.judge.visible import MAX_CHARS
from ragassay.records import JSON, JudgeItem, Profile, RawVerdict
from ragassay.seams import Model

_PROFILES: Mapping[str, ModuleType] = {"factual-consistency/1": profile1, "factual-consistency/2": profile2}


class LLMJudge:
    """Grades by asking `model` for structured data under `profile`.

    `params` are added to the call's own: temperature 0 and a strict JSON schema as `response_format`. A parameter set
    to None is left out of the call, for a server that refuses it.
    """

    attempts = 3
    needs_literals = False

    def __init__(self, model: Model, profile: Profile, params: Mapping[str, Any] | None = None) -> None:
        self._model = model
        self._profile = profile
        self._prompt = _PROFILES[profile]
        self._schema = self._prompt.schema()
        wanted = {"temperature": 0, "response_format": _response_format(self._schema), **(params or {})}
        self._params = {name: value for name, value in wanted.items() if value is not None}
        self.id = str(model.describe()["id"])

    async def grade(self, item: JudgeItem) -> RawVerdict:
        """Return one reply under a fresh nonce, unparsed, from one model call; raises `ModelError` without one."""
        nonce = secrets.token_hex(16)
        reply = await self._model.complete(self._prompt.messages(item, nonce), self._params)
        return RawVerdict(
            nonce=nonce,
            text=reply.text,
            usage=reply.usage,
            latency_ms=reply.latency_ms,
            request_id=reply.request_id,
            model=reply.model,
        )

    def describe(self) -> JSON:
        """Return kind, id, profile, attempts, model, parameters, shown characters, prompt and schema digests."""
        described: JSON = canon.without_fractions(
            {
                "kind": "llm",
                "id": self.id,
                "profile": self._profile,
                "attempts": self.attempts,
                "model": self._model.describe(),
                "params": self._params,
                "max_chars": MAX_CHARS,
                "prompt": self._prompt.prompt_digest(),
                "schema": canon.digest(self._schema),
            }
        )
        return described


def _response_format(schema: JSON) -> JSON:
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}
