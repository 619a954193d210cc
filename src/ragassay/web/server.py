"""Runs the local app on 127.0.0.1 until somebody stops it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ragassay.errors import InputError
from ragassay.web.guard import App

HOST = "127.0.0.1"
MAX_CONNECTIONS = 64
LAST_REPLIES_S = 3
WHOLE_HEAD_S = 10
"""Seconds in which the head of a request must be whole: who says nothing may not take the place of who does."""


@contextlib.contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Hold a socket that listens on 127.0.0.1, on a free port where `port` is 0; raises `InputError` if it is taken."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((HOST, port))
            found.listen(MAX_CONNECTIONS)
        except OSError as error:
            raise InputError(
                f"port {port} of {HOST} cannot be used ({error.strerror}); leave --port out for a free one"
            ) from error
        yield found


def server(app: App) -> uvicorn.Server:
    """Return a server for the app: no access log, no forwarded addresses, no web sockets, no start-up events."""
    config = uvicorn.Config(
        app,
        access_log=False,
        http=Impatient,
        lifespan="off",
        limit_concurrency=MAX_CONNECTIONS,
        log_config=None,
        loop="asyncio",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=LAST_REPLIES_S,
        ws="none",
    )
    return uvicorn.Server(config)


class Impatient(H11Protocol):
    """A connection that is closed when no request has come on it for a while, whole to the end of its head."""

    _silence: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait no longer where a request is whole."""
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        self._rest()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._rest()
        elif self._silence is None and not self.transport.is_closing():
            self._silence = self.loop.call_later(WHOLE_HEAD_S, self.transport.close)

    def _rest(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None


def serve(app: App, listener: socket.socket) -> None:
    """Answer requests until Ctrl-C, which lets the replies that are under way come to their end."""
    with contextlib.suppress(KeyboardInterrupt):
        server(app).run(sockets=[listener])
