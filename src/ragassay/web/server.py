"""Runs the local app on 127.0.0.1 until somebody stops it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import uvicorn

from ragassay.errors import InputError
from ragassay.web.guard import App

HOST = "127.0.0.1"
MAX_CONNECTIONS = 64
LAST_REPLIES_S = 3


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
        http="h11",
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


def serve(app: App, listener: socket.socket) -> None:
    """Answer requests until Ctrl-C, which lets the replies that are under way come to their end."""
    with contextlib.suppress(KeyboardInterrupt):
        server(app).run(sockets=[listener])
