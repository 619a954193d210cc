"""Six providers imitated in what differs on the wire. All of it is wire form only: nothing was run against a service.

Where each form is from:

- Cloudflare Workers AI: its pages on OpenAI-compatible endpoints, JSON mode and errors (the envelope
  `{"success": false, "errors": [{"code", "message"}]}`, codes 3036, 3040 and 5007). How its chat endpoint sends the
  thoughts of a reasoning model is not documented; here it does as vLLM does.
- Google Gemini: the page on OpenAI compatibility and users' reports: errors in a list, finish reasons in capitals,
  `choices` absent for a blocked prompt, thinking tokens only in `total_tokens`, `RetryInfo` in the error.
- OpenAI: the API reference and its errors for reasoning models (`max_tokens`, `temperature`), rate-limit headers.
- Ollama: the page on OpenAI compatibility; thoughts in `reasoning`; a key is not needed and not looked at.
- vLLM: errors as `{"object": "error", …}`, chat templates that take one system message, thoughts in
  `reasoning_content`.
- llama.cpp server: 503 while the model loads, chat templates that fail with status 500 ("Jinja Exception"), `timings`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragassay.records import JSON
from ragassay.testing import chat_replies
from ragassay.testing.provider_servers import Asked, Imitation, Said

_WORD = re.compile(r"code word is (\w+)")


def mind(body: JSON) -> str:
    """Return what a model might say: to a check its code words, to a judge's prompt a verdict, else the question."""
    words = _WORD.findall(" ".join(str(m["content"]) for m in body["messages"] if m["role"] != "user"))
    if "code words" in chat_replies.echo(body):
        found = dict(zip(("first", "second"), words, strict=False))
        form = body.get("response_format") or {}
        complete = {"complete": True} if form.get("type") == "json_schema" else {}
        return json.dumps({**found, **complete})
    return chat_replies.judge(body)


def completion(body: JSON, text: str | None, **message: Any) -> JSON:
    """Return a completion with usage counted in words."""
    words = len(text.split()) if text else 0
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": body["model"],
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 20, "completion_tokens": words, "total_tokens": 20 + words},
    }


def vector(text: str, dimension: int) -> list[float]:
    """Return numbers that depend on the text alone, not of unit length."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return [float(number) for number in np.random.default_rng(seed).normal(size=dimension).astype(np.float32)]


def embeddings(body: JSON, dimension: int, *, backwards: bool = False) -> JSON:
    """Return an embeddings reply; `backwards` lists the vectors last first, each under its right index."""
    inputs = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data: list[JSON] = []
    for at, text in enumerate(inputs):
        numbers: Any = vector(text, dimension)
        if body.get("encoding_format") == "base64":
            numbers = base64.b64encode(np.array(numbers, dtype="<f4").tobytes()).decode()
        data.append({"object": "embedding", "index": at, "embedding": numbers})
    usage = {"prompt_tokens": sum(len(text.split()) for text in inputs), "total_tokens": 0}
    return {"object": "list", "data": data[::-1] if backwards else data, "model": body["model"], "usage": usage}


def openai_error(message: str, *, status: int = 400, code: str | None = None, **headers: str) -> Said:
    """Return an error as OpenAI writes it."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return Said(status=status, body={"error": error}, headers=headers)


def systems(body: JSON) -> int:
    """Return the number of system messages."""
    return sum(message["role"] == "system" for message in body["messages"])


def cloudflare(asked: Asked) -> Said:
    """Imitate Workers AI: its error envelope, thoughts beside the answer, 768 dimensions of embeddinggemma."""
    known = ("@cf/zai-org/glm-5.3-flash", "@cf/google/embeddinggemma-300m", "@cf/deepseek-ai/deepseek-v4-flash-0731")
    if asked.body["model"] not in known:
        errors = [{"code": 5007, "message": f"No such model {asked.body['model']} or task"}]
        return Said(status=400, body={"success": False, "errors": errors, "messages": [], "result": {}})
    if asked.path == "/embeddings":
        return Said(body=embeddings(asked.body, 768))
    return Said(body=completion(asked.body, mind(asked.body), reasoning_content="Let me see what is asked."))


def gemini(asked: Asked) -> Said:
    """Imitate the OpenAI-compatible endpoint of Gemini: finish reasons in capitals, thoughts in the total alone."""
    if asked.path == "/embeddings":
        return Said(body=embeddings(asked.body, 3072))
    body = completion(asked.body, mind(asked.body))
    body["choices"][0]["finish_reason"] = "STOP"
    body["usage"]["total_tokens"] += 400
    return Said(body=body)


def gemini_blocked(asked: Asked) -> Said:
    """Imitate a prompt that Gemini blocks: a completion without choices, with usage."""
    usage = {"prompt_tokens": 1396, "completion_tokens": 0, "total_tokens": 1396}
    return Said(body={"object": "chat.completion", "model": asked.body["model"], "usage": usage})


_RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.2s"}
_QUOTA = "You exceeded your current quota, please check your plan and billing details."
GEMINI_LIMITED = Said(
    status=429,
    body=[{"error": {"code": 429, "message": _QUOTA, "status": "RESOURCE_EXHAUSTED", "details": [_RETRY]}}],
)
"""Gemini over its limit: the error in a list, how long to wait in its details."""


def openai_reasoning(asked: Asked) -> Said:
    """Imitate an OpenAI reasoning model: no temperature but 1, max_completion_tokens, rate-limit headers."""
    if "max_tokens" in asked.body:
        return openai_error(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
    if asked.body.get("temperature", 1) != 1:
        return openai_error(
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is "
            "supported.",
            code="unsupported_value",
        )
    body = completion(asked.body, mind(asked.body), refusal=None)
    body["usage"]["completion_tokens_details"] = {"reasoning_tokens": 0}
    limits = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59"}
    return Said(body=body, headers={**limits, "x-ratelimit-reset-requests": "1s", "x-request-id": "req_1"})


def openai_embeddings(asked: Asked) -> Said:
    """Imitate OpenAI's embeddings: text-embedding-3-small, base64 where it is asked for, shorter where asked."""
    return Said(body=embeddings(asked.body, asked.body.get("dimensions", 1536)))


def ollama(asked: Asked) -> Said:
    """Imitate Ollama: takes everything, keeps thoughts in `reasoning`, 404 for a model that was not pulled."""
    if asked.body["model"] == "absent":
        return openai_error('model "absent" not found, try pulling it first', status=404)
    if asked.path == "/embeddings":
        return Said(body=embeddings(asked.body, 768))
    return Said(body=completion(asked.body, mind(asked.body), reasoning="Two words were given."))


def vllm(asked: Asked) -> Said:
    """Imitate vLLM with a chat template that takes one system message, at the beginning."""
    if asked.path == "/embeddings":
        return Said(body=embeddings(asked.body, 384))
    if systems(asked.body) > 1:
        message = "System message must be at the beginning."
        error = {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}
        return Said(status=400, body=error)
    return Said(body=completion(asked.body, mind(asked.body), reasoning_content=None, tool_calls=[]))


def llamacpp(asked: Asked) -> Said:
    """Imitate the llama.cpp server: a template that fails on several system messages does so with status 500."""
    if asked.path == "/embeddings":
        return Said(body=embeddings(asked.body, 384))
    if systems(asked.body) > 1:
        error = {"code": 500, "message": "Jinja Exception: System message must be at the beginning.", "type": "server"}
        return Said(status=500, body={"error": error})
    return Said(body={**completion(asked.body, mind(asked.body)), "timings": {"prompt_n": 20, "prompt_ms": 12.5}})


LLAMACPP_LOADING = Said(
    status=503, body={"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
)
"""The llama.cpp server while it loads its model."""


PROVIDERS: Mapping[str, Imitation] = {
    "cloudflare": cloudflare,
    "gemini": gemini,
    "openai": openai_reasoning,
    "ollama": ollama,
    "vllm": vllm,
    "llamacpp-server": llamacpp,
}
"""One imitation for each provider that has a page."""


def in_turn(said: Sequence[Said | Imitation]) -> Imitation:
    """Return an imitation that says one thing after the other, and the last of them from then on."""

    def next_of(asked: Asked) -> Said:
        chosen = said[min(asked.call, len(said)) - 1]
        return chosen if isinstance(chosen, Said) else chosen(asked)

    return next_of
