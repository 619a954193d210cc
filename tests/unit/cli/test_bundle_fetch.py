"""Fetching an address: limits of size and time hold against whatever a server sends."""

from __future__ import annotations

import datetime
import gzip
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from ragassay.cli.fetch import Absent, TooLarge, fetch, is_address, shown
from ragassay.errors import InputError, PluginError

Answer = Callable[[BaseHTTPRequestHandler], None]
LIMIT = 100_000


def send(
    handler: BaseHTTPRequestHandler, body: bytes, *, status: int = 200, length: bool = True, **headers: str
) -> None:
    """Answer with a body; underscores in header names stand for hyphens."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    if length and "Content_Length" not in headers:
        handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Send one byte of the body now and then, so that no single read waits long."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b"x")
        time.sleep(0.05)


def drip_head(handler: BaseHTTPRequestHandler) -> None:
    """Send one byte of the head now and then."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    for _ in range(100):
        handler.wfile.write(b"x")
        time.sleep(0.05)


def endless(handler: BaseHTTPRequestHandler) -> None:
    """Send bytes for as long as they are taken."""
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(bytes(1 << 16))


def endless_chunks(handler: BaseHTTPRequestHandler) -> None:
    """Send chunks for as long as they are taken."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    while True:
        handler.wfile.write(b"10000\r\n" + bytes(1 << 16) + b"\r\n")


def endless_redirect(handler: BaseHTTPRequestHandler) -> None:
    """Redirect, with a body that never ends."""
    handler.send_response(302)
    handler.send_header("Location", "/good")
    handler.end_headers()
    while True:
        handler.wfile.write(bytes(1 << 16))


def chunked(handler: BaseHTTPRequestHandler) -> None:
    """Send a body in two chunks, with a length that lies."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.send_header("Content-Length", "1")
    handler.end_headers()
    handler.wfile.write(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")


def hop(handler: BaseHTTPRequestHandler) -> None:
    """Redirect from /hop/N to /hop/N-1, and from /hop/0 to /good."""
    left = int(handler.path.rpartition("/")[2])
    send(handler, b"", status=307, Location=f"/hop/{left - 1}" if left else "good" if handler.path == "/" else "/good")


def no_http(handler: BaseHTTPRequestHandler) -> None:
    """Speak another protocol."""
    handler.wfile.write(b"SSH-2.0-x\r\n")


def endless_trailer(handler: BaseHTTPRequestHandler) -> None:
    """End the body, and then send trailer lines without end."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"0\r\n")
    while True:
        handler.wfile.write(b"X: y\r\n" * 1000)


def endless_continue(handler: BaseHTTPRequestHandler) -> None:
    """Say that the request may go on, without end."""
    while True:
        handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


ANSWERS: dict[str, Answer] = {
    "/good": lambda h: send(h, b"hello"),
    "/full": lambda h: send(h, bytes(LIMIT)),
    "/over": lambda h: send(h, bytes(LIMIT + 1)),
    "/over-without-length": lambda h: send(h, bytes(LIMIT + 1), length=False),
    "/says-huge": lambda h: send(h, b"x", Content_Length="999999999999"),
    "/says-more": lambda h: send(h, b"abc", Content_Length="10"),
    "/says-nonsense": lambda h: send(h, b"abc", Content_Length="many"),
    "/says-negative": lambda h: send(h, b"abc", Content_Length="-1"),
    "/no-length": lambda h: send(h, b"abc", length=False),
    "/empty": lambda h: send(h, b""),
    "/missing": lambda h: send(h, b"no", status=404),
    "/broken": lambda h: send(h, b"no", status=503),
    "/part": lambda h: send(h, b"no", status=206),
    "/nothing": lambda h: send(h, b"", status=304),
    "/gzip": lambda h: send(h, gzip.compress(b"hello"), Content_Encoding="gzip"),
    "/loop": lambda h: send(h, b"", status=302, Location="/loop"),
    "/nowhere": lambda h: send(h, b"", status=302),
    "/to-file": lambda h: send(h, b"", status=302, Location="file:///etc/passwd"),
    "/to-ftp": lambda h: send(h, b"", status=301, Location="ftp://127.0.0.1/x"),
    "/to-password": lambda h: send(h, b"", status=301, Location="http://user:secret@127.0.0.1/x"),
    "/to-bracket": lambda h: send(h, b"", status=301, Location="http://[::1"),
    "/drip": drip,
    "/drip-head": drip_head,
    "/endless": endless,
    "/endless-chunks": endless_chunks,
    "/endless-redirect": endless_redirect,
    "/endless-trailer": endless_trailer,
    "/endless-continue": endless_continue,
    "/chunked": chunked,
    "/cut-chunk": lambda h: send(h, b"5\r\nab", length=False, Transfer_Encoding="chunked"),
    "/bad-chunk": lambda h: send(h, b"zz\r\nab", length=False, Transfer_Encoding="chunked"),
    "/no-http": no_http,
    "/silent": lambda h: None,
}


class Handler(BaseHTTPRequestHandler):
    """Answers by path and remembers what it was asked with."""

    protocol_version = "HTTP/1.1"
    asked: list[dict[str, str]] = []  # noqa: RUF012 - one list for the whole server is meant

    def do_GET(self) -> None:
        """Answer one request and close."""
        self.close_connection = True
        Handler.asked.append(dict(self.headers))
        try:
            (hop if self.path.startswith("/hop/") else ANSWERS[self.path.partition("?")[0]])(self)
        except OSError:
            self.close_connection = True  # the reader went away

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{made.server_address[1]}"
        made.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def get(url: str, timeout_s: float = 10) -> bytes:
    """Fetch under the limit of these tests."""
    return fetch(url, max_bytes=LIMIT, timeout_s=timeout_s)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/good", b"hello"),
        ("/good?token=1", b"hello"),
        ("/full", bytes(LIMIT)),
        ("/empty", b""),
        ("/no-length", b"abc"),
        ("/chunked", b"abcde"),
        ("/says-nonsense", b"abc"),
        ("/says-negative", b"abc"),
        ("/hop/4", b"hello"),
        ("/endless-redirect", b"hello"),
    ],
)
def test_a_body_within_the_limits_is_returned(server: str, path: str, body: bytes) -> None:
    """Exactly the limit is taken; chunks, missing and senseless lengths, and five redirects do not matter."""
    assert get(server + path) == body


def test_the_request_tells_nothing_but_what_it_is(server: str) -> None:
    """The headers are four, and name the program and its version."""
    Handler.asked.clear()
    get(f"{server}/good")
    (headers,) = Handler.asked
    assert headers.keys() == {"Host", "User-Agent", "Accept-Encoding", "Connection"}
    assert headers["User-Agent"].startswith("ragassay/")
    assert headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("path", ["/over", "/over-without-length", "/says-huge", "/endless", "/endless-chunks"])
def test_more_than_the_limit_is_never_taken(server: str, path: str) -> None:
    """The limit holds whether the length is told, hidden, or the body has no end."""
    with pytest.raises(TooLarge, match=str(LIMIT)):
        get(server + path)


@pytest.mark.parametrize("path", ["/drip", "/drip-head", "/endless-trailer", "/endless-continue"])
def test_the_time_is_for_the_whole(server: str, path: str) -> None:
    """A server that never comes to an end is left after the time that was given, whatever it sends."""
    begun = time.monotonic()
    with pytest.raises(PluginError, match=r"took longer than 0\.3 seconds"):
        get(server + path, timeout_s=0.3)
    assert time.monotonic() - begun < 4


def test_a_server_that_says_nothing_is_left() -> None:
    """A connection that is accepted and never answered ends after the time that was given."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(PluginError, match=r"took longer than 0\.2 seconds"):
            get(url, timeout_s=0.2)


@pytest.mark.parametrize(
    ("path", "words", "retryable"),
    [
        ("/missing", "answers with status 404", False),
        ("/broken", "answers with status 503", True),
        ("/part", "answers with status 206", False),
        ("/nothing", "answers with status 304", False),
        ("/gzip", "compressed .'gzip'., though asked not to", False),
        ("/says-more", "broke off after 3 of 10 bytes", True),
        ("/cut-chunk", "broke off", True),
        ("/bad-chunk", "broke off", True),
        ("/no-http", "its answer is no HTTP", True),
        ("/silent", "cannot be read", True),
        ("/loop", "redirects more than 5 times", False),
        ("/hop/5", "redirects more than 5 times", False),
        ("/nowhere", "without saying where to", False),
        ("/to-file", "redirects to file:///etc/passwd: an address begins with http", False),
        ("/to-ftp", "an address begins with http", False),
        ("/to-password", "redirects to http://127.0.0.1/x: an address with a name or password", False),
        ("/to-bracket", "this is no address", False),
    ],
)
def test_whatever_else_a_server_does_is_its_fault(server: str, path: str, words: str, retryable: bool) -> None:
    """Every failure is an error of the service, exit code 3, with what happened and whether asking again may help."""
    with pytest.raises(PluginError, match=words) as caught:
        get(server + path)
    assert caught.value.exit_code == 3
    assert caught.value.retryable is retryable
    assert "secret" not in str(caught.value)


def test_what_is_not_there_can_be_told_from_what_failed(server: str) -> None:
    """404 has a type of its own, so that a reader of many files can go on without one; 503 has not."""
    with pytest.raises(Absent):
        get(f"{server}/missing")
    with pytest.raises(PluginError) as caught:
        get(f"{server}/broken")
    assert not isinstance(caught.value, Absent)


def test_a_refused_connection_is_the_services_fault() -> None:
    """Nobody listens: exit code 3, and the address is named."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        port = made.getsockname()[1]
    with pytest.raises(PluginError, match=f"http://127.0.0.1:{port}/x cannot be read: Connection refused"):
        get(f"http://127.0.0.1:{port}/x")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://host/x",
        "data://text",
        "http://",
        "http:///x",
        "http://user:secret@host/x",
        "https://secret@host/x",
        "http://host:99999/x",
        "http://host:port/x",
        "http://[::1/x",
        "http://host/a b",
        "http://host/\r\nX: y",
        "http://höst/",
        "http://host/\u202e",
        "host/x.zip",
        "",
    ],
)
def test_what_is_no_address_is_a_wrong_input(url: str) -> None:
    """Exit code 2 before anything is asked; no password is repeated."""
    with pytest.raises(InputError) as caught:
        get(url)
    assert "secret" not in str(caught.value)
    assert str(caught.value).isascii()


def _certificate() -> bytes:
    """Return a key and a certificate for 127.0.0.1 that it signs itself, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(hours=1))
    host = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = builder.add_extension(host, critical=False).sign(key, hashes.SHA256())
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return secret + made.public_bytes(Encoding.PEM)


def test_https_needs_a_certificate_that_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over TLS the same limits hold; a certificate of nobody's is refused; https never leads to http."""
    path = tmp_path / "server.pem"
    path.write_bytes(_certificate())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.socket = context.wrap_socket(made.socket, server_side=True)
        monkeypatch.setattr(made, "handle_error", lambda *_: None)
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        url = f"https://127.0.0.1:{made.server_address[1]}"
        monkeypatch.setitem(ANSWERS, "/down", lambda h: send(h, b"", status=302, Location="http://127.0.0.1/good"))
        try:
            with pytest.raises(PluginError, match="certificate verify failed"):
                get(f"{url}/good")
            monkeypatch.setenv("SSL_CERT_FILE", str(path))
            assert get(f"{url}/hop/2") == b"hello"
            with pytest.raises(PluginError, match="from https to http"):
                get(f"{url}/down")
            with pytest.raises(TooLarge):
                get(f"{url}/endless")
            with pytest.raises(PluginError, match="took longer"):
                get(f"{url}/drip", timeout_s=0.3)
        finally:
            made.shutdown()
            thread.join()


def test_an_address_is_shown_without_its_secrets() -> None:
    """Name, password, query and fragment are left out; control characters too."""
    assert shown("https://user:secret@host:8/run.zip?sig=secret#secret") == "https://host:8/run.zip"
    assert shown("http://host/\x1b[2J\u202e") == "http://host/?[2J?"
    assert shown("http://a@b@host/x") == "http://host/x"


def test_an_address_is_told_from_a_path() -> None:
    """A scheme and two slashes make an address; a Windows path does not."""
    assert is_address("https://host/x.zip")
    assert is_address("file:///x")
    assert not any(map(is_address, ["runs/x.zip", "C:\\runs", "C:/runs", "./http:/x", "-", ""]))
