"""One cheap call that asks an endpoint for everything at once, and one more for each thing that it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from ragassay.errors import ModelError
from ragassay.plugins.models.openai import Answered, OpenAIModel
from ragassay.plugins.models.openai_refusals import Part, refused_part
from ragassay.records import JSON, Message

Format = Literal["json_schema", "json_object", "none"]
Systems = Literal["several", "several taken, not all seen", "one", "none", "not shown"]

WORDS = ("amber", "basalt")
_SYSTEMS = tuple(f"The {nth} code word is {word}." for nth, word in zip(("first", "second"), WORDS, strict=True))
_ASKED = (
    'Reply with one JSON object that has the members "first" and "second", the two code words that you were given, '
    "and with nothing else."
)
_SCHEMA: JSON = {
    "type": "object",
    "properties": {"first": {"type": "string"}, "second": {"type": "string"}, "complete": {"type": "boolean"}},
    "required": ["first", "second", "complete"],
    "additionalProperties": False,
}
"""Asks for a member that the words do not name: a reply that holds it was made under the schema."""
_MAX_CALLS = 12


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What one call of a check asks for."""

    systems: int = 2
    format: Format = "json_schema"
    temperature: bool = True
    tokens_name: str | None = "max_tokens"


class ChatFindings(msgspec.Struct, frozen=True, kw_only=True):
    """What a chat endpoint supports; `problem` is None where it gives a reply. Tokens None: it did not count."""

    problem: str | None = None
    served: str | None = None
    systems: Systems = "not shown"
    format: Format = "none"
    schema_ignored: bool = False
    temperature_0: bool | None = None
    tokens_name: str | None = None
    streamed: bool = False
    finish_reason: str | None = None
    limits: Mapping[str, str] = {}
    latency_ms: int | None = None
    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0


async def check_chat(model: OpenAIModel, params: Mapping[str, Any]) -> ChatFindings:
    """Return what the endpoint of `model` supports; `params` are those that the board gives it."""
    return await _Check(model, params).run()


class _Check:
    def __init__(self, model: OpenAIModel, params: Mapping[str, Any]) -> None:
        self._model = model
        self._tokens = params.get("max_completion_tokens", params.get("max_tokens"))
        given = "max_completion_tokens" if "max_completion_tokens" in params else "max_tokens"
        self._full = Shape(tokens_name=given if self._tokens is not None else None)
        self._calls = 0
        self._input: int | None = 0
        self._output: int | None = 0

    async def run(self) -> ChatFindings:
        shape, answered = await self._dropping(self._full)
        if isinstance(answered, ModelError) and _is_refusal(answered):
            shape, answered = await self._adding(answered)
        if isinstance(answered, ModelError):
            return self._findings(problem=str(answered))
        ignored = False
        if (
            shape.format == "json_schema"
            and _value(answered) is not None
            and "complete" not in (_value(answered) or {})
        ):
            ignored = True
            other = msgspec.structs.replace(shape, format="json_object")
            again = await self._ask(other)
            taken: Format = "none" if isinstance(again, ModelError) else "json_object"
            shape = msgspec.structs.replace(shape, format=taken)
        reply = answered.reply
        return self._findings(
            served=reply.model,
            systems=_systems(shape, answered),
            format=shape.format,
            schema_ignored=ignored,
            temperature_0=shape.temperature,
            tokens_name=shape.tokens_name,
            streamed=answered.streamed,
            finish_reason=reply.finish_reason,
            limits=answered.limits,
            latency_ms=reply.latency_ms,
        )

    async def _dropping(self, shape: Shape) -> tuple[Shape, Answered | ModelError]:
        """Ask for less as long as the server's words name what it refuses."""
        while True:
            answered = await self._ask(shape)
            if not isinstance(answered, ModelError):
                return shape, answered
            part = refused_part(_cause(answered), systems=shape.systems)
            less = _without(shape, part) if part else None
            if less is None or self._calls >= _MAX_CALLS:
                return shape, answered
            shape = less

    async def _adding(self, refusal: ModelError) -> tuple[Shape, Answered | ModelError]:
        """Ask for nothing special, then for one thing more at a time: the words did not say which was refused."""
        shape = Shape(systems=0, format="none", temperature=False, tokens_name=None)
        best = await self._ask(shape)
        if isinstance(best, ModelError):
            return shape, refusal
        steps: list[dict[str, Any]] = [{"systems": 1}, {"systems": 2}, {"temperature": True}]
        steps += [{"tokens_name": self._full.tokens_name}] if self._full.tokens_name else []
        steps += [{"format": "json_object"}, {"format": "json_schema"}]
        for step in steps:
            more = msgspec.structs.replace(shape, **step)
            answered = await self._ask(more)
            if not isinstance(answered, ModelError):
                shape, best = more, answered
        return shape, best

    async def _ask(self, shape: Shape) -> Answered | ModelError:
        params: dict[str, Any] = {"temperature": 0 if shape.temperature else None}
        params |= {"max_tokens": None, "max_completion_tokens": None}
        if shape.tokens_name:
            params[shape.tokens_name] = self._tokens
        if shape.format != "none":
            schema = {"json_schema": {"name": "check", "strict": True, "schema": _SCHEMA}}
            params["response_format"] = {"type": shape.format, **(schema if shape.format == "json_schema" else {})}
        self._calls += 1
        try:
            answered = await self._model.answered(_messages(shape), params)
        except ModelError as error:
            return error
        usage = answered.reply.usage
        self._input = _sum(self._input, usage.input_tokens)
        self._output = _sum(self._output, usage.output_tokens)
        return answered

    def _findings(self, **found: Any) -> ChatFindings:
        return ChatFindings(calls=self._calls, input_tokens=self._input, output_tokens=self._output, **found)


def _messages(shape: Shape) -> tuple[Message, ...]:
    """Return the two code words in as many system messages as are asked for, or before the question."""
    if shape.systems == 0:
        return (Message(role="user", content=" ".join((*_SYSTEMS, _ASKED))),)
    told = _SYSTEMS if shape.systems == 2 else (" ".join(_SYSTEMS),)
    return (*(Message(role="system", content=text) for text in told), Message(role="user", content=_ASKED))


def _without(shape: Shape, part: Part) -> Shape | None:
    """Return the shape that asks for less of `part`, None where nothing is left to drop."""
    if part == "systems" and shape.systems:
        return msgspec.structs.replace(shape, systems=shape.systems - 1)
    if part == "response_format" and shape.format != "none":
        return msgspec.structs.replace(shape, format="json_object" if shape.format == "json_schema" else "none")
    if part == "temperature" and shape.temperature:
        return msgspec.structs.replace(shape, temperature=False)
    if part == "max_tokens" and shape.tokens_name == "max_tokens":
        return msgspec.structs.replace(shape, tokens_name="max_completion_tokens")
    return None


def _systems(shape: Shape, answered: Answered) -> Systems:
    if shape.systems < 2:
        return "one" if shape.systems else "none"
    text = (answered.reply.text or "").casefold()
    seen = sum(word in text for word in WORDS)
    return "several" if seen == len(WORDS) else "several taken, not all seen" if seen else "not shown"


def _value(answered: Answered) -> JSON | None:
    """Return the one object that the reply is or holds in a code fence, None where it is none."""
    text = (answered.reply.text or "").strip()
    fenced = re.fullmatch(r"```(?:json)?\s*(.*?)\s*```", text, re.DOTALL)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None if not text else {}
    return value if isinstance(value, dict) else {}


def _is_refusal(error: ModelError) -> bool:
    return error.kind == "bad_request" and "HTTP 404" not in str(error) and "HTTP 3" not in str(error)


def _cause(error: ModelError) -> ModelError:
    """Return the refusal in the server's words, without the advice that was added to them."""
    return error.__cause__ if isinstance(error.__cause__, ModelError) else error


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
