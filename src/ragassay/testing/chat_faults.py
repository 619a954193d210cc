"""The ways in which a chat server goes wrong, each by its name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

import msgspec
from aiohttp import web

from ragassay.errors import InputError
from ragassay.records import JSON


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One fault: a status with an error text, another 200 body, or a connection that does not hold."""

    status: int = 200
    headers: Mapping[str, str] = {}
    error: str | None = None
    """An error object with this message is the body; `{authorization}` in it becomes the caller's header."""
    content: str | None = None
    finish_reason: str | None = None
    """With a finish reason the body is a completion with `content` (which may be None)."""
    raw: bytes | None = None
    cut: Literal["no", "body", "connection"] = "no"
    """`body`: the connection ends inside the body; `connection`: it ends without a reply."""
    delay_s: float = 0.0


FAULTS: Mapping[str, Fault] = {
    "429": Fault(status=429, error="rate limit reached", headers={"Retry-After": "0"}),
    "429-wait": Fault(status=429, error="rate limit reached", headers={"Retry-After": "1"}),
    "429-past-date": Fault(
        status=429, error="rate limit reached", headers={"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}
    ),
    "408": Fault(status=408, error="the request took too long"),
    "400": Fault(status=400, error="max_tokens is too large"),
    "400-system": Fault(status=400, error="Only one system message is allowed, at the beginning"),
    "401-echo": Fault(status=401, error="invalid credentials: {authorization}"),
    "404": Fault(status=404, error="the model does not exist"),
    "500": Fault(status=500, error="internal error"),
    "503": Fault(status=503, error="overloaded", headers={"Retry-After": "0"}),
    "200-error": Fault(error="upstream replied with 429"),
    "200-echo": Fault(content="your header was {authorization}", finish_reason="stop"),
    "no-choices": Fault(raw=b'{"id":"x","object":"chat.completion","choices":[]}'),
    "empty": Fault(content="", finish_reason="stop"),
    "content-filter": Fault(content="", finish_reason="content_filter"),
    "null-length": Fault(content=None, finish_reason="length"),
    "no-json": Fault(raw=b"<html>502 Bad Gateway</html>"),
    "truncated": Fault(content="this text never arrives whole", finish_reason="stop", cut="body"),
    "hang-up": Fault(cut="connection"),
    "redirect": Fault(status=302, headers={"Location": "http://127.0.0.1:9/v1/chat/completions"}, raw=b""),
    "slow": Fault(content="late", finish_reason="stop", delay_s=2.0),
}
"""Known faults by name."""


def fault_named(name: str) -> Fault:
    """Return the fault of that name; raises `InputError` for an unknown one."""
    if name not in FAULTS:
        raise InputError(f"there is no fault {name!r}; known are: {', '.join(sorted(FAULTS))}")
    return FAULTS[name]


def completion(content: str | None, model: str, call: int, finish_reason: str = "stop") -> JSON:
    """Return a chat completion with usage counted in words."""
    words = len(content.split()) if content else 0
    return {
        "id": f"chatcmpl-{call}",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": words, "total_tokens": 10 + words},
    }


async def faulty(fault: Fault, request: web.BaseRequest, model: str) -> web.StreamResponse:
    """Send what `fault` says in place of a reply."""
    if fault.delay_s:
        await asyncio.sleep(fault.delay_s)
    if fault.cut == "connection":
        _end(request)
        return web.Response()
    data = _body(fault, request.headers.get("Authorization", ""), model)
    if fault.cut == "no":
        return web.Response(
            status=fault.status, headers=dict(fault.headers), body=data, content_type="application/json"
        )
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(data))})
    await response.prepare(request)
    await response.write(data[: len(data) // 2])
    _end(request)
    return response


def _end(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()


def _body(fault: Fault, authorization: str, model: str) -> bytes:
    if fault.raw is not None:
        return fault.raw
    if fault.error is not None:
        message = fault.error.replace("{authorization}", authorization)
        return msgspec.json.encode({"error": {"message": message, "code": fault.status}})
    content = fault.content.replace("{authorization}", authorization) if fault.content is not None else None
    return msgspec.json.encode(completion(content, model, 0, fault.finish_reason or "stop"))
