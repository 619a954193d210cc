"""Stands before every page of the local app: who may ask, how much may be sent, what every reply says to the browser.

A page on the web can make a browser send requests to 127.0.0.1, and a name of its own can be made to point there
(DNS rebinding). So a request needs the host that we listen on, the session's cookie, and, where it changes something,
our own origin; the cookie is given only for the token of the printed address.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import parse_qs

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY_BYTES = 16 << 10
BODY_S = 2
"""Seconds in which a body must be whole: it comes from this machine, and nobody may keep the server from ending."""
DEFAULT_PORT = 80
"""A browser names no other port than this in `Host` and `Origin` by leaving it out."""
METHODS = ("GET", "HEAD", "POST")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-embedder-policy", b"require-corp"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
"""On every reply, refusals included. There is no header that would open anything to another origin."""

POLICY_OF = "ragassay.policy"
"""Under this name a route leaves, in the scope of a request, a stricter or other policy for its one reply."""


class Session:
    """The secrets of one server: the token of the printed address, and the cookie that is given for it."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)
        self.name = f"ragassay-{port}"
        """A cookie is sent to every port of a host, so each server has a name of its own."""
        at = "" if port == DEFAULT_PORT else f":{port}"
        self.hosts = (f"127.0.0.1{at}", f"localhost{at}")

    @property
    def address(self) -> str:
        """Return the address to print."""
        return f"http://{self.hosts[0]}/?token={self.token}"

    @property
    def set_cookie(self) -> str:
        """Return the header's value: out of reach of scripts, and sent from our own pages alone."""
        return f"{self.name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"

    def knows_token(self, text: str) -> bool:
        """Tell whether this is the token, in a time that does not depend on how much of it is right."""
        return hmac.compare_digest(text.encode("utf-8", "replace"), self.token.encode())

    def knows_cookie(self, header: str) -> bool:
        """Tell whether a Cookie header holds this session's cookie."""
        pairs = [part.strip().partition("=") for part in header.split(";")]
        values = [value.encode("utf-8", "replace") for name, _, value in pairs if name == self.name]
        return any(hmac.compare_digest(value, self._cookie.encode()) for value in values)


class Guard:
    """An ASGI application around another: refuses with 403 (or 405, 413, 415) before the inner one hears of it."""

    def __init__(self, app: App, session: Session) -> None:
        self._app = app
        self._session = session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return  # no web sockets and no start-up events: the server sends neither
        send = _with_headers(send, scope)
        headers = _joined(scope["headers"])
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal)
        elif self._brings_token(scope):
            await _redirect(send, self._session.set_cookie)
        elif not self._session.knows_cookie(headers.get("cookie", "")):
            await _refuse(send, 403, "open the address that the terminal shows, with its token")
        else:
            await self._pass_on(scope, receive, send)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return status and reason where a request is refused whatever session it brings."""
        host = headers.get("host", "")
        if host not in self._session.hosts:
            return 403, "this address is served under another name"
        if scope["method"] not in METHODS:
            return 405, f"only {', '.join(METHODS)} are answered"
        if scope["method"] != "POST":
            return None
        if headers.get("origin") != f"http://{host}" or headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return 403, "this was not sent by a page of this address"
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "only application/json is taken"
        return None

    def _brings_token(self, scope: Scope) -> bool:
        if scope["method"] != "GET" or scope["path"] != "/":
            return False
        try:
            given = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=8).get("token", [])
        except ValueError:
            return False
        return len(given) == 1 and self._session.knows_token(given[0])

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await asyncio.wait_for(_body(receive), BODY_S) if scope["method"] == "POST" else b""
        except TimeoutError:
            await _refuse(send, 408, f"a request must be whole within {BODY_S} seconds")
            return
        if body is None:
            await _refuse(send, 413, f"a request has at most {MAX_BODY_BYTES} bytes")
            return
        await self._app(scope, _replayed(body, receive), send)


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request, None where it is larger than allowed or never came to its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if sum(map(len, parts)) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _with_headers(send: Send, scope: Scope) -> Send:
    """Return `send` with our headers in every reply, in place of any that the inner application gave."""
    ours = {name for name, _ in HEADERS}

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in ours]
            message = {**message, "headers": [*kept, *_headers(scope.get(POLICY_OF))]}
        await send(message)

    return sending


def _headers(policy: str | None) -> Sequence[tuple[bytes, bytes]]:
    if policy is None:
        return HEADERS
    return [(name, policy.encode() if name == b"content-security-policy" else value) for name, value in HEADERS]


async def _refuse(send: Send, status: int, why: str) -> None:
    body = json.dumps({"problem": why}).encode()
    await _reply(send, status, [(b"content-type", b"application/json")], body)


async def _redirect(send: Send, cookie: str) -> None:
    await _reply(send, 303, [(b"location", b"/"), (b"set-cookie", cookie.encode())], b"")


async def _reply(send: Send, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


def _joined(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by name; one that stands twice keeps both values, so that neither can hide the other."""
    found: dict[str, str] = {}
    for raw, value in headers:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        separator = "; " if name == "cookie" else ", "
        found[name] = f"{found[name]}{separator}{text}" if name in found else text
    return found
