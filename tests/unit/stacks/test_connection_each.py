"""Threads that ask with one client do not meet in its connections, whatever they do at the same time."""

from __future__ import annotations

import ssl
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("httpx", reason="pip install 'ragassay[qdrant]'")

import httpx

from ragassay.plugins.stacks.connection_each import ConnectionEach, connection_each

THREADS = 12


class Lent(httpx.BaseTransport):  # type: ignore[misc]  # the client's types are not checked here
    """Answers at once, and counts what is done with it."""

    def __init__(self, made: list[Lent]) -> None:
        self.requests = self.closed = 0
        self.fails = False
        made.append(self)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return a short body, or fail."""
        self.requests += 1
        if self.fails:
            raise httpx.ReadError("broken")
        return httpx.Response(200, stream=httpx.ByteStream(b"yes"))

    def close(self) -> None:
        """Count."""
        self.closed += 1


@pytest.fixture
def made() -> list[Lent]:
    """Hold the transports that were made, in order."""
    return []


@pytest.fixture
def client(made: list[Lent]) -> Iterator[httpx.Client]:
    """Ask over transports that count."""
    with httpx.Client(transport=ConnectionEach(lambda: Lent(made))) as client:
        yield client


def test_one_after_the_other_share_a_connection(client: httpx.Client, made: list[Lent]) -> None:
    """A connection is lent again once the response before is closed."""
    assert [client.get("http://a.test").text for _ in range(3)] == ["yes"] * 3
    assert [one.requests for one in made] == [3]


def test_two_at_once_have_one_each(client: httpx.Client, made: list[Lent]) -> None:
    """While a response is open its connection is lent to nobody, and a response that is closed twice gives it once."""
    with client.stream("GET", "http://a.test") as first:
        client.get("http://a.test")
        assert [one.requests for one in made] == [1, 1]
        first.read()
    first.stream.close()
    with client.stream("GET", "http://a.test"), client.stream("GET", "http://a.test"):
        assert [one.requests for one in made] == [2, 2]


def test_a_connection_is_lent_again_after_a_fault(client: httpx.Client, made: list[Lent]) -> None:
    """What a transport raises comes out as it is, and the transport back."""
    client.get("http://a.test")
    made[0].fails = True
    with pytest.raises(httpx.ReadError, match="broken"):
        client.get("http://a.test")
    made[0].fails = False
    client.get("http://a.test")
    assert [one.requests for one in made] == [3]


def test_closing_leaves_a_lent_connection_to_its_request(client: httpx.Client, made: list[Lent]) -> None:
    """It is closed when it comes back; one that is free at once."""
    with client.stream("GET", "http://a.test") as first:
        client.get("http://a.test")
        client.close()
        assert [one.closed for one in made] == [0, 1]
        assert first.read() == b"yes"
    assert [one.closed for one in made] == [1, 1]


class Quick(BaseHTTPRequestHandler):
    """Answers with the path, and keeps the connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the path back."""
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize("keep", [True, False])
def test_threads_get_their_own_answers(keep: bool) -> None:
    """Threads that take turns as often as they can all get what they asked for, from a real server."""
    before = sys.getswitchinterval()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Quick)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    url = f"http://127.0.0.1:{server.server_port}/"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    paths = [f"{at}" for at in range(THREADS * 8)]
    try:
        sys.setswitchinterval(1e-5)
        with (
            httpx.Client(transport=connection_each(context, keep=keep), timeout=30, trust_env=False) as client,
            ThreadPoolExecutor(THREADS) as pool,
        ):
            assert list(pool.map(lambda path: client.get(url + path).text, paths)) == [f"/{path}" for path in paths]
    finally:
        sys.setswitchinterval(before)
        server.shutdown()
        serving.join()
        server.server_close()
