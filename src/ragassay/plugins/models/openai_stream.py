"""The chunks of a streamed chat completion become the one completion that they amount to, without I/O."""

from __future__ import annotations

from typing import Any

from ragassay.plugins.http_body import Events, Malformed
from ragassay.records import JSON


def joined(events: Events) -> JSON:
    """Return a completion of the form that comes without a stream.

    Contents are joined in order; usage, finish reason and whatever says an error are the last that were sent, the log
    probabilities the first: they are those of the first tokens. Raises
    `Malformed` where the stream ends before its choice has: half an answer is none. Only a finish reason ends a choice;
    `[DONE]` alone does not, as a gateway writes it after an upstream server that broke off.
    """
    top: JSON = {}
    choice: JSON = {}
    message: JSON = {"content": None}
    logprobs: Any = None
    for chunk in events.objects:
        top |= {name: chunk[name] for name in ("id", "model", "usage") if chunk.get(name) is not None}
        for part in _choices(chunk):
            choice |= {name: part[name] for name in ("finish_reason", "error") if part.get(name)}
            logprobs = logprobs or part.get("logprobs")
            _add(message, part.get("delta"))
    if not message.pop("begun", False) and not choice:
        return {**top, "choices": []}
    if not choice:
        raise Malformed("the stream was torn: it ended without a finish reason")
    return {**top, "choices": [{**choice, "message": message, **({"logprobs": logprobs} if logprobs else {})}]}


def _choices(chunk: JSON) -> list[JSON]:
    """Return the parts of the one choice that was asked for."""
    found = chunk.get("choices") or []
    if not isinstance(found, list) or not all(isinstance(part, dict) for part in found):
        raise Malformed("a chunk of the stream has choices of another shape")
    if any(part.get("index", 0) != 0 for part in found):
        raise Malformed("the stream holds a second choice; one was asked for")
    return found


def _add(message: JSON, delta: Any) -> None:
    """Add what a delta says to the message so far; thoughts are left out."""
    if not isinstance(delta, dict):
        return
    message["begun"] = True
    content = delta.get("content")
    if isinstance(content, str):
        message["content"] = [*(message["content"] or []), {"type": "text", "text": content}]
    elif isinstance(content, list):
        message["content"] = [*(message["content"] or []), *content]
    elif content is not None:
        raise Malformed("a chunk of the stream has a content that is neither text nor parts")
    if isinstance(delta.get("refusal"), str):
        message["refusal"] = message.get("refusal", "") + delta["refusal"]
    for name in ("tool_calls", "function_call"):
        if delta.get(name):
            message[name] = delta[name]
