"""Any OpenAI-compatible chat endpoint: one attempt per call; retries, slots and budgets are the runner's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ragassay import canon
from ragassay.errors import InputError, ModelError
from ragassay.plugins.http import CONNECT_TIMEOUT_S, TIMEOUT_S, HttpClient, HttpReply
from ragassay.plugins.http_body import Malformed
from ragassay.plugins.models.openai_refusals import advised, refused_part
from ragassay.plugins.models.openai_reply import reply_of
from ragassay.plugins.models.openai_stream import joined
from ragassay.records import JSON, Message, Reply, Secret

PATH = "/chat/completions"
_OURS = ("messages", "model", "stream", "stream_options")


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A reply, the headers that say limits, and whether the answer came as a stream."""

    reply: Reply
    limits: Mapping[str, str]
    streamed: bool


class OpenAIModel:
    """A chat model behind `<base_url>/chat/completions`; sends the configured parameters and adds none.

    A stream is asked for only from a server that says it answers in no other way: that is found out once, by a refusal
    or by a stream that nobody asked for, and changes nothing of what the model is asked.
    """

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
        self._streaming: JSON = {}
        """What is sent besides, once the server has said that it answers in a stream only."""

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Ask once; `params` are added to the configured ones and win over them.

        A reply without text comes back with `text` None. Raises `ModelError`, each fault by its kind.
        """
        return (await self.answered(messages, params)).reply

    async def answered(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Answered:
        """Ask as `complete` does; a parameter that is None in `params` is left out."""
        body = {"model": self._id, "messages": messages, **self._params, **params}
        systems = sum(message.role == "system" for message in messages)
        try:
            reply = await self._asked({name: value for name, value in body.items() if value is not None})
        except ModelError as error:
            if (better := advised(error, systems=systems)) is error:
                raise
            raise better from error
        return Answered(
            reply=reply_of(
                self._completion(reply),
                host=self._http.host,
                scrub=self._http.scrub,
                latency_ms=reply.latency_ms,
                request_id=reply.request_id,
            ),
            limits=reply.limits,
            streamed=reply.events is not None,
        )

    async def _asked(self, body: Mapping[str, Any]) -> HttpReply:
        """Post once, and once more in the way that the server asks for: in a stream, or without its options."""
        sent = self._streaming
        try:
            return await self._http.post_json(PATH, {**body, **sent})
        except ModelError as error:
            refused = refused_part(error)
            if refused == "stream" and not sent:
                self._streaming = self._streaming or {"stream": True, "stream_options": {"include_usage": True}}
            elif refused == "stream_options" and "stream_options" in sent:
                self._streaming = {"stream": True}
            else:
                raise
        return await self._asked(body)

    def _completion(self, reply: HttpReply) -> JSON:
        if reply.events is None:
            return reply.body
        try:
            return joined(reply.events)
        except Malformed as error:
            raise ModelError(f"{self._http.host}: {error}", kind="malformed_reply", retryable=True) from error

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
