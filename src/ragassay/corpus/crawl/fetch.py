"""One request and its reply under caps: every way in which it can go wrong is a `Fault` or an `Unwanted`."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Literal

import aiohttp
import msgspec
from multidict import CIMultiDictProxy
from yarl import URL

from ragassay.corpus.crawl import inflate
from ragassay.corpus.crawl.connect import PrivateAddress
from ragassay.corpus.crawl.folder import Reason
from ragassay.corpus.crawl.guard import url_problem
from ragassay.corpus.crawl.pace import retry_after_s

FaultKind = Literal["rate", "server", "timeout", "connection", "truncated", "malformed", "certificate"]
_SHOWN_CHARS = 200
_AGAIN_LATER = (408, 425)
_OK = (200, 203)


def written(text: str) -> str:
    """Return what a server said as text that can be written: headers may hold bytes that are no text."""
    return text.encode("utf-8", "backslashreplace").decode()


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a server answered; `data` are the decoded bytes of a 200, empty for every other status."""

    url: str
    status: int
    headers: CIMultiDictProxy[str]
    data: bytes


class Unwanted(Exception):
    """The server answered, and the answer is nothing to keep; asking again would not change that."""

    def __init__(self, reason: Reason, detail: str, status: int | None = None) -> None:
        self.reason: Reason = reason
        self.detail = written(detail)
        self.status = status
        super().__init__(f"{reason}: {detail}")


class Fault(Exception):
    """There was no usable answer this time; asking again may help, more or less so by `kind`."""

    def __init__(
        self, kind: FaultKind, detail: str, *, status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        self.kind: FaultKind = kind
        self.detail = written(detail)
        self.status = status
        self.retry_after_s = retry_after_s
        super().__init__(f"{kind}: {detail}")


Wanted = Callable[[CIMultiDictProxy[str]], None]
"""Looks at the headers of a 200 and raises `Unwanted` before its body is read."""


class Fetcher:
    """Asks for one address at a time a caller; follows no redirect."""

    def __init__(self, session: aiohttp.ClientSession, *, timeout_s: float, allow_private: bool) -> None:
        self._session = session
        self._timeout_s = timeout_s
        self._allow_private = allow_private
        self.requests = 0
        """Requests that were sent."""

    async def get(
        self,
        url: str,
        *,
        cap: int,
        cut: bool = False,
        wanted: Wanted | None = None,
        conditions: Mapping[str, str] | None = None,
    ) -> Reply:
        """Return the reply to one GET, read in full within the time-out; raises `Fault`, `Unwanted`.

        What has more than `cap` bytes is refused, or ends there with `cut`.
        """
        if problem := url_problem(url, allow_private=self._allow_private):
            raise Unwanted("private address", problem)
        self.requests += 1
        headers = {"Accept-Encoding": inflate.ACCEPTED, **(conditions or {})}
        try:
            async with asyncio.timeout(self._timeout_s):
                address = URL(url, encoded=True)
                async with self._session.get(address, headers=headers, allow_redirects=False) as response:
                    return await self._reply(url, response, cap, cut, wanted)
        except TimeoutError:
            raise Fault("timeout", f"no whole answer within {self._timeout_s:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError, EOFError) as error:
            raise _fault(error) from error

    async def _reply(
        self, url: str, response: aiohttp.ClientResponse, cap: int, cut: bool, wanted: Wanted | None
    ) -> Reply:
        status, headers = response.status, response.headers
        if status == 429 or status in _AGAIN_LATER or status >= 500:
            kind: FaultKind = "rate" if status == 429 else "server"
            again = retry_after_s(headers.get("Retry-After"), date=headers.get("Date"), now=time.time())
            raise Fault(kind, f"status {status}", status=status, retry_after_s=again)
        data = b""
        if status in _OK:
            if wanted is not None:
                wanted(headers)
            data = await _body(response, cap, cut=cut)
        return Reply(url=url, status=status, headers=headers, data=data)


async def _body(response: aiohttp.ClientResponse, cap: int, *, cut: bool) -> bytes:
    if (response.content_length or 0) > cap and not cut:
        raise Unwanted("too large", f"{response.content_length:,} bytes, {cap:,} are allowed", response.status)
    try:
        body = inflate.Body(", ".join(response.headers.getall("Content-Encoding", [])), cap)
    except inflate.UnknownCoding as error:
        raise Unwanted("content type", str(error), response.status) from error
    try:
        async for piece in response.content.iter_any():
            body.add(piece)
        return body.finish()
    except inflate.TooLarge:
        if cut:
            return body.so_far()
        raise Unwanted("too large", f"more than the {cap:,} bytes allowed", response.status) from None
    except inflate.Damaged as error:
        raise Fault("truncated", str(error), status=response.status) from error


def _fault(error: Exception) -> Exception:
    """Return the fault that an error of the client means."""
    detail = " ".join(str(error).split())[:_SHOWN_CHARS]
    refused = _cause(error)
    if refused is not None:
        return Unwanted("private address", str(refused))
    if isinstance(error, aiohttp.ClientPayloadError):
        return Fault("truncated", "the body ends before its length")
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return Fault("certificate", detail)
    if isinstance(error, aiohttp.ClientConnectorDNSError | socket.gaierror):
        return Fault("connection", f"its name cannot be resolved ({detail})")
    if isinstance(error, aiohttp.ClientResponseError | aiohttp.InvalidURL | ValueError):
        return Fault("malformed", f"the answer is no HTTP ({detail})")
    if isinstance(error, aiohttp.ClientConnectorError):
        why = os.strerror(error.os_error.errno) if error.os_error.errno else str(error.os_error)
        return Fault("connection", f"no connection to {error.host}:{error.port} ({why})"[:_SHOWN_CHARS])
    return Fault("connection", detail or type(error).__name__)


def _cause(error: BaseException) -> PrivateAddress | None:
    """Return the guard's refusal among the causes of an error."""
    seen: BaseException | None = error
    for _ in range(8):
        if seen is None:
            return None
        if isinstance(seen, PrivateAddress):
            return seen
        inner = getattr(seen, "os_error", None)
        if isinstance(inner, PrivateAddress):
            return inner
        seen = seen.__cause__ or seen.__context__
    return None
