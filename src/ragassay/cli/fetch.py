"""Gets bytes from an http(s) address, under limits of size and of time as a whole; nothing of it reaches the disk."""

from __future__ import annotations

import http.client
import io
import re
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.error import URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from ragassay import __version__
from ragassay.errors import InputError, PluginError

MAX_REDIRECTS = 5
_PIECE = 1 << 16
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})


class TooLarge(PluginError):
    """The address sends more bytes than are taken."""


class Absent(PluginError):
    """The server says that it has nothing at the address (404 or 410)."""


class _TooLate(OSError):
    """The time for the whole is over."""


class _Deadline:
    def __init__(self, timeout_s: float) -> None:
        self._at = time.monotonic() + timeout_s

    def remaining(self) -> float:
        """Return the seconds that are left; raises `_TooLate` where there are none."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise _TooLate("the time is over")
        return left


def is_address(text: str) -> bool:
    """Tell whether `text` is meant as an address and not as a path: it begins with a scheme and `//`."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) is not None


def shown(url: str) -> str:
    """Return an address as it may be printed: without name, password, query and fragment, in printable ASCII."""
    bare = re.sub(r"//[^/?#]*@", "//", re.split(r"[?#]", url, maxsplit=1)[0])
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in bare)[:200]


def fetch(url: str, *, max_bytes: int, timeout_s: float) -> bytes:
    """Return the bytes at `url`: at most `max_bytes`, within `timeout_s` seconds for everything together.

    At most five redirects are followed, to http(s) only and never from https to http. Proxies are those that the usual
    variables name. Raises `InputError` for an address that is none, that is neither http nor https, or that holds a
    name or password; `TooLarge` for more than `max_bytes`; `Absent` for 404 and 410; `PluginError` for every other
    failure of network or server, and for any other answer but 200. Messages name the address without its query. The
    look-up of the host's name is bounded by the system's own limit.
    """
    if (problem := _problem(url)) is not None:
        raise InputError(f"{shown(url)}: {problem}")
    deadline = _Deadline(timeout_s)
    opener = _opener(deadline)
    here = url
    for _ in range(MAX_REDIRECTS + 1):
        try:
            with opener.open(_request(here), timeout=deadline.remaining()) as response:
                if response.status not in _REDIRECTS:
                    return _body(response, here, max_bytes)
                there = response.headers.get("Location")
        except _TooLate as error:
            raise _late(here, timeout_s) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _failure(error, here, timeout_s) from error
        here = _redirected(here, there)
    raise PluginError(f"{shown(url)} redirects more than {MAX_REDIRECTS} times")


def _problem(url: str) -> str | None:
    """Return what keeps an address from being fetched, or None."""
    if not url.isascii() or not url.isprintable() or " " in url:
        return "an address is printable ASCII without spaces; write other characters percent-encoded"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "this is no address"
    if parts.scheme not in ("http", "https"):
        return "an address begins with http:// or https://"
    if parts.username is not None or parts.password is not None:
        return "an address with a name or password in it is not used; leave them out"
    if not parts.hostname or port == 0:
        return "the address names no host"
    return None


def _redirected(here: str, there: str | None) -> str:
    if there is None:
        raise PluginError(f"{shown(here)} redirects without saying where to")
    try:
        target = urljoin(here, there)
    except ValueError:
        target = there
    if (problem := _problem(target)) is not None:
        raise PluginError(f"{shown(here)} redirects to {shown(target)}: {problem}")
    if urlsplit(here).scheme == "https" and urlsplit(target).scheme != "https":
        raise PluginError(f"{shown(here)} redirects from https to http, which is not followed")
    return target


def _request(url: str) -> Request:
    headers = {"User-Agent": f"ragassay/{__version__}", "Accept-Encoding": "identity", "Connection": "close"}
    return Request(url, headers=headers)


def _body(response: http.client.HTTPResponse, url: str, max_bytes: int) -> bytes:
    if response.status != 200:
        kind = Absent if response.status in (404, 410) else PluginError
        message = f"{shown(url)} answers with status {response.status}"
        raise kind(message, retryable=response.status in _RETRYABLE)
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise PluginError(f"{shown(url)} sends its body compressed ({coding[:40]!a}), though asked not to")
    said = response.headers.get("Content-Length", "")
    expected = int(said) if re.fullmatch("[0-9]{1,18}", said) and not _is_chunked(response) else None
    if expected is not None and expected > max_bytes:
        raise TooLarge(f"{shown(url)} sends {expected} bytes; at most {max_bytes} are taken")
    body = bytearray()
    while piece := response.read1(min(_PIECE, max_bytes + 1 - len(body))):
        body += piece
        if len(body) > max_bytes:
            raise TooLarge(f"{shown(url)} sends more than the {max_bytes} bytes that are taken")
    if expected is not None and len(body) != expected:
        raise PluginError(f"{shown(url)} broke off after {len(body)} of {expected} bytes", retryable=True)
    return bytes(body)


def _is_chunked(response: http.client.HTTPResponse) -> bool:
    return "chunked" in response.headers.get("Transfer-Encoding", "").lower()


def _late(url: str, timeout_s: float) -> PluginError:
    return PluginError(f"{shown(url)} took longer than {timeout_s:g} seconds", retryable=True)


def _failure(error: Exception, url: str, timeout_s: float) -> PluginError:
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, (TimeoutError, _TooLate)):
        return _late(url, timeout_s)
    if isinstance(reason, OSError):
        why = reason.strerror or type(reason).__name__
    elif isinstance(reason, http.client.IncompleteRead):
        why = "it broke off"
    elif isinstance(reason, http.client.HTTPException):
        why = f"its answer is no HTTP ({type(reason).__name__})"
    else:
        why = "its host is no name of a host"
    return PluginError(f"{shown(url)} cannot be read: {why}", retryable=True)


class _TimedReader(io.RawIOBase):
    """Reads a response's bytes and gives each single read no more time than the whole has left."""

    def __init__(self, sock: socket.socket, deadline: _Deadline) -> None:
        self._sock = sock
        self._file = sock.makefile("rb", buffering=0)
        self._deadline = deadline

    def readable(self) -> bool:
        """It is read from."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read once."""
        self._sock.settimeout(self._deadline.remaining())
        count: int | None = self._file.readinto(buffer)
        return count

    def close(self) -> None:
        """Let go of the socket."""
        self._file.close()
        super().close()


def _opener(deadline: _Deadline) -> OpenerDirector:
    """Return an opener for http and https that follows nothing by itself and raises for no status."""

    def response_class(sock: socket.socket, *args: Any, **options: Any) -> http.client.HTTPResponse:
        response = http.client.HTTPResponse(sock, *args, **options)
        response.fp.close()
        response.fp = io.BufferedReader(_TimedReader(sock, deadline))
        return response

    def timed(kind: Callable[..., http.client.HTTPConnection]) -> Callable[..., http.client.HTTPConnection]:
        def connect(*args: Any, **options: Any) -> http.client.HTTPConnection:
            connection = kind(*args, **options)
            connection.response_class = response_class  # type: ignore[assignment]
            return connection

        return connect

    class Http(HTTPHandler):
        def http_open(self, req: Request) -> http.client.HTTPResponse:
            return self.do_open(timed(http.client.HTTPConnection), req)

    class Https(HTTPSHandler):
        def https_open(self, req: Request) -> http.client.HTTPResponse:
            return self.do_open(timed(http.client.HTTPSConnection), req)

    opener = OpenerDirector()
    opener.addheaders = []
    for handler in (ProxyHandler(), Http(), Https()):
        opener.add_handler(handler)
    return opener
