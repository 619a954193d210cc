"""The one HTTP client of all plugins: one attempt per call, every fault a `ModelError` with its kind.

No cookies, no redirects, no proxy from the environment. The key stands in one header (Authorization, unless another is
named) and nowhere else: it is removed from every message, in the forms in which servers echo it.
"""

from __future__ import annotations

import asyncio
import io
import os
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec
from yarl import URL

from ragassay.errors import InputError, ModelError, ModelErrorKind
from ragassay.plugins.address import checked_base_url
from ragassay.plugins.http_body import Events, Malformed, decoded
from ragassay.plugins.http_faults import (
    error_in,
    excerpt,
    key_forms,
    limit_headers,
    readable,
    retry_after_s,
    spent_for_good,
    status_fault,
    unmet_this_time,
    without,
)
from ragassay.records import JSON, Secret

CONNECT_TIMEOUT_S = 10.0
TIMEOUT_S = 300.0
MAX_RESPONSE_BYTES = 16 * 1024 * 1024
_HEADER_CHARS = 100
_ONE_PIECE_BYTES = 1024 * 1024
_KEPT_URLS = 8
_NOT_SERVED = (404, 405, 501)


class _NotServed(Exception):
    """A GET that the server has nothing for."""


class HttpReply(msgspec.Struct, frozen=True, kw_only=True):
    """What came with a 2xx status: an object, or the events of a stream; `limits` are the headers that say limits."""

    body: JSON
    """Empty where a stream came."""
    events: Events | None
    request_id: str | None
    latency_ms: int
    limits: Mapping[str, str]


class HttpClient:
    """Asks one server; the connection pool holds `connections`, opened at the first call.

    The key is sent as `Authorization: Bearer KEY`, or alone in the header that `key_header` names. `advice` gives what
    an error's message ends with, from the status and the kind of the error. With `list_name` a reply that is a list is
    taken as an object with that list as its one member.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: Secret | None = None,
        key_header: str = "Authorization",
        advice: Callable[[int, ModelErrorKind], str] | None = None,
        connections: int = 8,
        timeout_s: float = TIMEOUT_S,
        read_timeout_s: float | None = None,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        list_name: str | None = None,
    ) -> None:
        self.base_url = checked_base_url(base_url)
        self.host = urlsplit(self.base_url).netloc
        self._key = _checked_key(key)
        self._key_header = key_header
        self._advice = advice or hint
        self._secrets = key_forms(key)
        self._connections = connections
        self._max_bytes = max_response_bytes
        self._list_name = list_name
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=connect_timeout_s, sock_read=read_timeout_s)
        self._sent: dict[str, dict[str, str]] = {}
        """The headers of a request, by the content type."""
        self._urls: dict[str, URL] = {}
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"HttpClient({self.base_url!r})"

    async def post_json(self, path: str, body: Mapping[str, Any]) -> HttpReply:
        """Post `body` to base URL + `path` once and return the decoded object.

        Raises `ModelError`: `rate_limited`, `server_error`, `timeout`, `connection`, `malformed_reply` (an
        undecodable, truncated or oversized body), `error_body` (an error object under a 2xx status), `auth` and
        `bad_request` (these two are final). `retry_after_s` is what the server asked us to wait.
        """
        return await self.post_bytes(path, msgspec.json.encode(body), "application/json")

    async def post_bytes(self, path: str, payload: bytes, content_type: str) -> HttpReply:
        """Post `payload` as it is to base URL + `path` once; the reply and the errors are those of `post_json`."""
        return await self._reply("POST", path, payload, content_type)

    async def get_json(self, path: str) -> HttpReply | None:
        """Get base URL + `path` once; None where nothing is served there (404, 405, 501), else as `post_json`."""
        try:
            return await self._reply("GET", path, None)
        except _NotServed:
            return None

    async def _reply(
        self, method: str, path: str, payload: bytes | None, content_type: str = "application/json"
    ) -> HttpReply:
        started = time.perf_counter()
        try:
            data, headers = await self._exchange(method, path, payload, content_type)
            found = decoded(data, headers.get("Content-Type", ""), self._list_name)
        except (aiohttp.ClientError, OSError, Malformed) as error:
            fault = self._fault(error)  # raised below, outside: aiohttp's errors carry the request's headers
        else:
            objects = found.objects if isinstance(found, Events) else (found,)
            errors = [wrong for one in objects if (wrong := error_in(one)) is not None]
            if not errors:
                return HttpReply(
                    body={} if isinstance(found, Events) else found,
                    events=found if isinstance(found, Events) else None,
                    request_id=headers.get("x-request-id"),
                    latency_ms=round((time.perf_counter() - started) * 1000),
                    limits={name: self.scrub(value)[:_HEADER_CHARS] for name, value in limit_headers(headers).items()},
                )
            said = excerpt(readable(errors[0]), self._secrets)
            fault = ModelError(f"{self.host} sent an error object: {said}", kind="error_body", retryable=True)
        raise fault

    def scrub(self, text: str) -> str:
        """Return `text` without the key, whichever way it was written."""
        return without(text, self._secrets)

    async def close(self) -> None:
        """Close all connections; may be called twice."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _exchange(
        self, method: str, path: str, payload: bytes | None, content_type: str
    ) -> tuple[bytes, Mapping[str, str]]:
        """Send one request; return body and headers of a 2xx reply, or raise the fault that its status stands for."""
        # aiohttp sends bytes in one piece, which holds the event loop up where they are many.
        data = io.BytesIO(payload) if payload is not None and len(payload) > _ONE_PIECE_BYTES else payload
        async with self._open().request(
            method, self._url(path), data=data, headers=self._headers(content_type), allow_redirects=False
        ) as response:
            if method == "GET" and response.status in _NOT_SERVED:
                raise _NotServed
            body = await self._read(response)
            if 200 <= response.status < 300:
                return body, response.headers
            raise self._refusal(response.status, body, response.headers)

    def _refusal(self, status: int, data: bytes, headers: Mapping[str, str]) -> ModelError:
        """Return the error that a status and its body stand for."""
        kind, retryable = status_fault(status)
        words = readable(data)
        hint = self._advice(status, kind)
        if status == 429 and spent_for_good(words):
            retryable, hint = False, "; the account's allowance is used up, so it is not asked again"
        elif kind == "bad_request" and unmet_this_time(words):
            kind, retryable = "malformed_reply", True
        said = excerpt(words, self._secrets) or "no text"
        return ModelError(
            f"{self.host} replied with HTTP {status}: {said}{hint}",
            kind=kind,
            retryable=retryable,
            retry_after_s=retry_after_s(headers, time.time(), _object(data)) if retryable else None,
        )

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        blocks: list[bytes] = []
        size = 0
        async for block in response.content.iter_any():
            size += len(block)
            if size > self._max_bytes:
                response.close()
                raise Malformed(f"a reply of more than {self._max_bytes} bytes", retryable=False)
            blocks.append(block)
        return blocks[0] if len(blocks) == 1 else b"".join(blocks)

    def _headers(self, content_type: str) -> dict[str, str]:
        if (headers := self._sent.get(content_type)) is None:
            headers = self._sent[content_type] = {"Content-Type": content_type, "Accept": "application/json"}
            if self._key is not None:
                bearer = "Bearer " if self._key_header == "Authorization" else ""
                headers[self._key_header] = bearer + self._key.reveal()
        return headers

    def _url(self, path: str) -> URL:
        """Return the address of a path, read once: a plugin asks few paths, and its first ones most."""
        address = self.base_url + path
        if (url := self._urls.get(address)) is None:
            url = URL(address)
            if len(self._urls) < _KEPT_URLS:
                self._urls[address] = url
        return url

    def _open(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop:
            self._loop = loop
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections, ttl_dns_cache=300, keepalive_timeout=30),
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                headers={"User-Agent": "ragassay", "Accept-Encoding": "identity"},
            )
        return self._session

    def _fault(self, error: Exception) -> ModelError:
        kind, retryable, said = self._classified(error)
        return ModelError(f"{self.host}: {excerpt(said, self._secrets)}", kind=kind, retryable=retryable)

    def _classified(self, error: Exception) -> tuple[ModelErrorKind, bool, str]:
        if isinstance(error, Malformed):
            return "malformed_reply", error.retryable, str(error)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return "timeout", True, f"no connection within {self._timeout.sock_connect:g} s"
        if isinstance(error, TimeoutError):
            return "timeout", True, f"no complete reply within {self._timeout.total:g} s"
        if isinstance(error, aiohttp.ClientPayloadError):
            return "malformed_reply", True, "the reply ended before its body was complete"
        if isinstance(error, aiohttp.ClientResponseError):
            return "malformed_reply", True, f"the reply is no HTTP: {error.message}"
        if isinstance(error, aiohttp.ClientSSLError):
            return "connection", False, f"TLS failed: {error}"
        if isinstance(error, aiohttp.ClientConnectorError):
            why = _why(error.os_error)
            return "connection", True, f"the connection failed: {why}; is it running, and the address right?"
        return "connection", True, f"the connection failed: {str(error) or type(error).__name__}"


def _why(error: OSError) -> str:
    """Return what the system says of a connection that was not made; a name that is not found has no number of its."""
    known = error.errno is not None and error.errno > 0
    return os.strerror(error.errno) if known and error.errno is not None else error.strerror or str(error)


def _object(data: bytes) -> JSON:
    """Return the object of an error's body, an empty one where it holds none."""
    try:
        found = decoded(data)
    except Malformed:
        return {}
    return {} if isinstance(found, Events) else found


def hint(status: int, kind: ModelErrorKind) -> str:
    """Return what is said of a status where a plugin says nothing of its own."""
    if 300 <= status < 400:
        return "; redirects are not followed, so that the key reaches no other server: correct base_url"
    if status in (404, 405):
        return "; check base_url (most servers need /v1 at its end) and the model's id"
    return "; check the key in the environment variable that `key_env` names" if kind == "auth" else ""


def _checked_key(key: Secret | None) -> Secret | None:
    text = key.reveal() if key else "-"
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise InputError("the key is empty or holds a space, line break or non-ASCII character; check `key_env`")
    return key
