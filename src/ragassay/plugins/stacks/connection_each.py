"""Connections of an `httpx` client that many threads ask with: each is in the hands of one request at a time.

Threads that share httpx's own pool meet each other there: it may close a connection as idle, surplus or expired that it
has just given to another thread (encode/httpcore#1110). That thread's request then fails with a bad file descriptor, or
waits until its time is up. A pool that no two requests hold at once cannot do that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from ssl import SSLContext

import httpx


class ConnectionEach(httpx.BaseTransport):  # type: ignore[misc]  # the client's types are not checked here
    """Lends each request one of its transports until the response is closed; makes one where all are lent.

    The one that came back last is lent first. `close` leaves those that are lent alone: they are closed when they come
    back.
    """

    def __init__(self, make: Callable[[], httpx.BaseTransport]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._free: list[httpx.BaseTransport] = []
        self._closed = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response; its connection comes back when it is closed."""
        lent = self._lend()
        try:
            response = lent.handle_request(request)
        except BaseException:
            self._take_back(lent)
            raise
        response.stream = _Returning(response.stream, lambda: self._take_back(lent))
        return response

    def close(self) -> None:
        """Close every connection that is not lent."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
        for transport in free:
            transport.close()

    def _lend(self) -> httpx.BaseTransport:
        with self._lock:
            if self._free:
                return self._free.pop()
        return self._make()

    def _take_back(self, transport: httpx.BaseTransport) -> None:
        with self._lock:
            if not self._closed:
                self._free.append(transport)
                return
        transport.close()


class _Returning(httpx.SyncByteStream):  # type: ignore[misc]
    """The body of a response; gives the connection back once, when it is closed."""

    def __init__(self, body: httpx.SyncByteStream, give_back: Callable[[], None]) -> None:
        self._body = body
        self._give_back: Callable[[], None] | None = give_back

    def __iter__(self) -> Iterator[bytes]:
        yield from self._body

    def close(self) -> None:
        give_back, self._give_back = self._give_back, None
        try:
            self._body.close()
        finally:
            if give_back is not None:
                give_back()


def connection_each(
    context: SSLContext, *, keep: bool = True, socket_options: Sequence[tuple[int, int, int]] = ()
) -> ConnectionEach:
    """Return a transport over connections of HTTP/1.1; they are closed after each request where `keep` is false."""
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1 if keep else 0)

    def make() -> httpx.HTTPTransport:
        return httpx.HTTPTransport(
            verify=context, trust_env=False, limits=limits, socket_options=list(socket_options) or None
        )

    return ConnectionEach(make)
