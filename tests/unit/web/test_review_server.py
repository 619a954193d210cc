"""The server behind the pages: who says nothing is not waited for."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from ragassay.web.app import Page, create_app
from ragassay.web.guard import Session
from ragassay.web.server import MAX_CONNECTIONS, listening, server


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server of no pages that waits a second and a half for the head of a request."""
    monkeypatch.setattr("ragassay.web.server.WHOLE_HEAD_S", 1.5)
    with listening(0) as listener:
        found: int = listener.getsockname()[1]
        running = server(create_app([Page(path="/x", routes=())], Session(found)))
        thread = threading.Thread(target=lambda: running.run(sockets=[listener]))
        thread.start()
        yield found
        running.should_exit = True
        thread.join(10)


def _status(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/", headers={"connection": "close"})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_silent_connections_do_not_keep_others_out(port: int, said: bytes) -> None:
    """While as many as there may be say nothing nobody is served; a moment later they are closed, and all are."""
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(MAX_CONNECTIONS)]
    try:
        for one in silent:
            one.sendall(said)
        end = time.monotonic() + 20
        while (status := _status(port)) != 403:
            assert status == 503
            assert time.monotonic() < end
            time.sleep(0.05)
        for one in silent:
            one.settimeout(20)
            assert one.recv(10) == b""
    finally:
        for one in silent:
            one.close()


def test_a_connection_that_is_used_stays(port: int) -> None:
    """One request after another on one connection, in all for longer than a head is waited for."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    for _ in range(8):
        connection.request("GET", "/")
        reply = connection.getresponse()
        assert (reply.status, reply.read() != b"") == (403, True)
        time.sleep(0.25)
    connection.close()
