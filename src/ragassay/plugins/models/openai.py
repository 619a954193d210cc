"""Any OpenAI-compatible chat endpoint: one attempt per call; retries, slots and budgets are the runner's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragassay import canon
from ragassay.errors import InputError, ModelError
from ragassay.plugins.http import CONNECT_TIMEOUT_S, TIMEOUT_S, HttpClient, HttpReply
from ragassay.plugins.http_faults import excerpt, readable
from ragassay.records import JSON, Message, Reply, Secret, Usage

PATH = "/chat/completions"
_OURS = ("messages", "model", "stream")
_ID_CHARS = 200
MAX_TOKENS = 1_000_000_000
"""A server that counts more tokens in one call has not counted: the figure is unknown, and sums stay exact."""
_SYSTEM_REFUSED = re.compile(
    r"roles (must|should) alternate"
    r"|(multiple|several|more than one|only one|single|consecutive)\s+[`'\"]?system\b"
    r"|system[`'\"]?\s+(messages?|prompts?|roles?)\b.{0,80}?\b(multiple|only|single|once|one|beginning|first|start|not)\b",
    re.IGNORECASE,
)


class OpenAIModel:
    """A chat model behind `<base_url>/chat/completions`; sends the configured parameters and adds none."""

    def __init__(
        self,
        id: str,
        base_url: str,
        *,
        key: Secret | None = None,
        params: Mapping[str, Any] | None = None,
        concurrency: int = 8,
        timeout_s: float = TIMEOUT_S,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
    ) -> None:
        self._id = id
        self._params = dict(params or {})
        _check_params(self._params)
        self._http = HttpClient(
            base_url, key=key, connections=concurrency, timeout_s=timeout_s, connect_timeout_s=connect_timeout_s
        )

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Ask once; `params` are added to the configured ones and win over them.

        A reply without text comes back with `text` None. Raises `ModelError`, each fault by its kind.
        """
        body = {"model": self._id, "messages": messages, **self._params, **params}
        try:
            reply = await self._http.post_json(PATH, body)
        except ModelError as error:
            if (refused := _system_refused(error, messages)) is not None:
                raise refused from error
            raise
        return self._read(reply)

    def _read(self, reply: HttpReply) -> Reply:
        body = reply.body
        choice, message = _choice(body, self._http)
        text = _text(message.get("content"))
        if not text and isinstance(message.get("refusal"), str):
            text = message["refusal"]
        return Reply(
            text=self._http.scrub(text) if text is not None else None,
            finish_reason=self._short(choice.get("finish_reason")),
            usage=_usage(body.get("usage")),
            latency_ms=reply.latency_ms,
            request_id=self._short(reply.request_id or body.get("id")),
            model=self._short(body.get("model")),
        )

    def _short(self, value: object) -> str | None:
        return self._http.scrub(value)[:_ID_CHARS] if isinstance(value, str) and value else None

    def describe(self) -> JSON:
        """Return kind, id, base URL and parameters, without fractional numbers."""
        return {
            "kind": "openai",
            "id": self._id,
            "base_url": self._http.base_url,
            "params": canon.without_fractions(self._params),
        }

    async def close(self) -> None:
        """Close the connections; may be called twice."""
        await self._http.close()


def _check_params(params: Mapping[str, Any]) -> None:
    problems = [f"params.{name} is set by the harness and cannot be given" for name in _OURS if name in params]
    if params.get("n", 1) != 1:
        problems.append("params.n must be 1: one answer is read and judged")
    if problems:
        raise InputError("the parameters of the openai model cannot be used", problems)


def _choice(body: JSON, http: HttpClient) -> tuple[JSON, JSON]:
    """Return the first choice and its message; a body without choices is a provider's error, not an answer."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        said = excerpt(http.scrub(readable(body)), ())
        raise ModelError(f"{http.host} sent no choices: {said}", kind="error_body", retryable=True)
    choice = choices[0]
    if isinstance(choice, dict) and choice.get("error"):
        said = excerpt(http.scrub(readable(choice["error"])), ())
        raise ModelError(f"{http.host} sent an error as its choice: {said}", kind="error_body", retryable=True)
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise ModelError(f"{http.host} sent a choice without a message", kind="malformed_reply", retryable=True)
    content = message.get("content")
    if not isinstance(content, str | list | None):
        raise ModelError(
            f"{http.host} sent a message whose content is neither text nor parts",
            kind="malformed_reply",
            retryable=True,
        )
    return choice, message


def _text(content: str | list[Any] | None) -> str | None:
    """Return the text of a message, joined from its text parts where it is a list; None where it has none."""
    if not isinstance(content, list):
        return content
    parts = [part for part in content if isinstance(part, dict) and part.get("type", "text") == "text"]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "".join(texts) if texts else None


def _usage(usage: object) -> Usage:
    """Return the tokens that the server counted; what it did not say, or said in no number, is None."""
    if not isinstance(usage, dict):
        return Usage()
    return Usage(input_tokens=_count(usage.get("prompt_tokens")), output_tokens=_count(usage.get("completion_tokens")))


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != value // 1:
        return None
    return int(value) if value <= MAX_TOKENS else None


def _system_refused(error: ModelError, messages: Sequence[Message]) -> ModelError | None:
    """Return the error that names the other template, where the endpoint refused several system messages."""
    if error.kind not in ("bad_request", "server_error") or sum(m.role == "system" for m in messages) < 2:
        return None
    if _SYSTEM_REFUSED.search(str(error)) is None:
        return None
    return ModelError(
        "the endpoint does not take several system messages; set template = 'single-system/1' in [answer], or "
        f"'user-context/1' if it takes none at all (the template is part of every row's identity). {error}",
        kind="bad_request",
        retryable=False,
    )
