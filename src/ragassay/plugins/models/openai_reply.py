"""A chat completion's body becomes a reply, without I/O: what is no answer is never read as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ragassay.errors import ModelError
from ragassay.plugins.http_faults import excerpt, readable
from ragassay.plugins.models.openai_logprobs import first_tokens_of
from ragassay.records import JSON, Reply, Usage

_ID_CHARS = 200
MAX_TOKENS = 1_000_000_000
"""A server that counts more tokens in one call has not counted: the figure is unknown, and sums stay exact."""

FILTERED = frozenset(
    {
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "image_safety",
        "image_prohibited_content",
        "image_recitation",
    }
)
"""Google's finish reasons that stand for a filter; its OpenAI-compatible endpoint passes them on in capitals."""


def reply_of(
    body: JSON, *, host: str, scrub: Callable[[str], str], latency_ms: int, request_id: str | None = None
) -> Reply:
    """Return the reply that a completion holds; `scrub` takes the key out of what the server wrote.

    `text` is None where there is none; a tool call in its place has the finish reason `tool_calls`. Raises `ModelError`
    `error_body` for a body without choices, `malformed_reply` for one of another shape.
    """
    choice, message = _choice(body, host, scrub)
    text = _text(message.get("content"))
    if not text and isinstance(message.get("refusal"), str):
        text = message["refusal"]
    reason = _finish_reason(choice.get("finish_reason"))
    if not text and (message.get("tool_calls") or message.get("function_call")):
        reason = "tool_calls"

    def short(value: object) -> str | None:
        return scrub(value)[:_ID_CHARS] if isinstance(value, str) and value else None

    return Reply(
        text=scrub(text) if text is not None else None,
        finish_reason=short(reason),
        usage=usage_of(body.get("usage")),
        latency_ms=latency_ms,
        request_id=short(request_id or body.get("id")),
        model=short(body.get("model")),
        first_tokens=first_tokens_of(choice.get("logprobs"), scrub),
    )


def usage_of(usage: object) -> Usage:
    """Return the tokens that the server counted; what it did not say, or said in no number, is None.

    Where the total is larger than prompt and completion together, the rest are thoughts that the provider counts
    apart and bills as output, as Google does: they belong to the output.
    """
    if not isinstance(usage, dict):
        return Usage()
    given, made = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    total = _count(usage.get("total_tokens"))
    if given is not None and made is not None and total is not None:
        made = max(made, total - given)
    return Usage(input_tokens=given, output_tokens=made)


def _choice(body: JSON, host: str, scrub: Callable[[str], str]) -> tuple[JSON, JSON]:
    """Return the first choice and its message; a body without choices is a provider's error, not an answer."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        said = excerpt(scrub(readable(body)), ())
        raise ModelError(
            f"{host} sent no choices, as providers do for a prompt that they block: {said}",
            kind="error_body",
            retryable=True,
        )
    choice = choices[0]
    if isinstance(choice, dict) and choice.get("error"):
        said = excerpt(scrub(readable(choice["error"])), ())
        raise ModelError(f"{host} sent an error as its choice: {said}", kind="error_body", retryable=True)
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise _malformed(f"{host} sent a choice without a message")
    if not isinstance(message.get("content"), str | list | None):
        raise _malformed(f"{host} sent a message whose content is neither text nor parts")
    return choice, message


def _malformed(message: str) -> ModelError:
    return ModelError(message, kind="malformed_reply", retryable=True)


def _text(content: str | list[Any] | None) -> str | None:
    """Return the text of a message, joined from its text parts where it is a list; None where it has none."""
    if not isinstance(content, list):
        return content
    parts = [part for part in content if isinstance(part, dict) and part.get("type", "text") == "text"]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "".join(texts) if texts else None


def _finish_reason(value: object) -> object:
    """Return a finish reason as OpenAI names it, where the server has another name for a filter or a spent budget."""
    if not isinstance(value, str):
        return None
    name = value.casefold()
    if name in FILTERED or name.startswith("content_filter"):
        return "content_filter"
    return "length" if name == "max_tokens" else value


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != value // 1:
        return None
    return int(value) if value <= MAX_TOKENS else None
