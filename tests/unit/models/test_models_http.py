"""The HTTP client: every fault by its kind, one attempt per call, the key nowhere but in its header."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import traceback
from email.utils import formatdate
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.errors import InputError, ModelError
from ragassay.plugins.http import HttpClient, HttpReply
from ragassay.plugins.http_faults import EXCERPT_CHARS, excerpt, key_forms, readable, retry_after_s, without
from ragassay.records import JSON, Secret
from ragassay.testing.chat_faults import Fault
from ragassay.testing.chat_replies import echo
from ragassay.testing.chat_server import ChatServer

KEY = "sk-te/st+key=9f8e7d6c"
BODY: JSON = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def ask(fault: Fault | str | None, *, timeout_s: float = 5.0, max_response_bytes: int = 1 << 20) -> HttpReply:
    """Ask a server once whose first call gets `fault`."""

    async def run() -> HttpReply:
        async with ChatServer(echo, faults={1: fault} if fault else None) as server:
            client = HttpClient(
                server.base_url, key=Secret(KEY), timeout_s=timeout_s, max_response_bytes=max_response_bytes
            )
            try:
                return await client.post_json("/chat/completions", BODY)
            finally:
                await client.close()
                assert server.calls == 1

    return asyncio.run(run())


def failure(fault: Fault | str, **options: float) -> ModelError:
    """Return the error of the one attempt."""
    with pytest.raises(ModelError) as caught:
        ask(fault, **options)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    ("fault", "kind", "retryable", "wait_s"),
    [
        ("429", "rate_limited", True, 0.0),
        ("429-wait", "rate_limited", True, 1.0),
        ("429-past-date", "rate_limited", True, 0.0),
        ("408", "timeout", True, None),
        ("500", "server_error", True, None),
        ("503", "server_error", True, 0.0),
        ("400", "bad_request", False, None),
        ("404", "bad_request", False, None),
        ("redirect", "bad_request", False, None),
        ("401-echo", "auth", False, None),
        ("200-error", "error_body", True, None),
        ("no-json", "malformed_reply", True, None),
        ("truncated", "malformed_reply", True, None),
        ("hang-up", "connection", True, None),
    ],
)
def test_each_fault_has_its_kind(fault: str, kind: str, retryable: bool, wait_s: float | None) -> None:
    """A fault is named, says whether asking again may help, and was tried once."""
    error = failure(fault)
    assert (error.kind, error.retryable, error.retry_after_s) == (kind, retryable, wait_s)


def test_a_slow_reply_times_out() -> None:
    """A reply that does not come within the total time is a timeout that may be asked again."""
    error = failure("slow", timeout_s=0.2)
    assert (error.kind, error.retryable) == ("timeout", True)
    assert "0.2 s" in str(error)


def test_a_refused_connection_is_retryable() -> None:
    """Nobody listening is a connection fault."""

    async def run() -> None:
        client = HttpClient("http://127.0.0.1:1/v1")
        try:
            await client.post_json("/chat/completions", BODY)
        finally:
            await client.close()

    with pytest.raises(ModelError) as caught:
        asyncio.run(run())
    assert (caught.value.kind, caught.value.retryable) == ("connection", True)


def test_an_oversized_reply_is_cut_off() -> None:
    """A body above the cap is not read to its end, and not asked for again."""
    error = failure(Fault(content="x" * 100_000, finish_reason="stop"), max_response_bytes=50_000)
    assert (error.kind, error.retryable) == ("malformed_reply", False)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b'{"choices"',
        b'{"a":"\xff"}',
        b'{"a":"\\ud800"}',
        b"[" * 100_000,
        b"\xef\xbb\xbf",
    ],
)
def test_a_body_that_is_no_object_is_malformed(raw: bytes) -> None:
    """Whatever the bytes are, the error is typed."""
    assert failure(Fault(raw=raw)).kind == "malformed_reply"


def test_a_null_error_is_no_error() -> None:
    """Servers that send `"error": null` beside their choices are understood."""
    assert ask(Fault(raw=b'{"error":null,"choices":[]}')).body == {"error": None, "choices": []}


def test_the_key_stands_in_its_header_alone() -> None:
    """The server gets the key as a bearer; redirects, cookies and proxies are not used."""

    async def run() -> None:
        async with ChatServer(echo, faults={1: Fault(raw=b"{}", headers={"Set-Cookie": "a=b"})}) as server:
            client = HttpClient(server.base_url, key=Secret(KEY))
            for _ in range(2):
                await client.post_json("/chat/completions", BODY)
            await client.close()
            assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
            assert all("Cookie" not in headers for headers in server.headers)
            assert KEY not in json.dumps(server.requests)
            assert KEY not in repr(client)

    asyncio.run(run())


ECHOES = {
    "plain": KEY,
    "url-encoded": quote(KEY, safe=""),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of the header": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "base64url after one byte": base64.urlsafe_b64encode(f"x{KEY}yz".encode()).decode(),
    "hex": KEY.encode().hex(),
}


@pytest.mark.parametrize("name", sorted(ECHOES))
@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_an_echoed_key_is_never_repeated(name: str, status: int, caplog: pytest.LogCaptureFixture) -> None:
    """In no error, nor in its traceback or log, stands the key or a readable part of it, however it was written."""
    caplog.set_level(logging.DEBUG)
    error = failure(Fault(status=status, error=f"denied for {ECHOES[name]} here"))
    shown = "".join(traceback.format_exception(error)) + repr(error) + caplog.text
    assert KEY not in shown
    assert ECHOES[name] not in shown
    assert "***" in str(error)
    assert error.__context__ is None or KEY not in repr(error.__context__)


def test_an_escaped_or_interrupted_key_is_found() -> None:
    """JSON escapes and invisible characters do not carry a key past the filter."""
    escaped = b'{"error":"' + "".join(f"\\u{ord(c):04x}" for c in KEY).encode() + b'"}'
    broken = f"key {KEY[:5]}\u200b{KEY[5:]}".encode()
    for raw in (escaped, broken):
        assert "***" in (shown := excerpt(readable(raw), key_forms(Secret(KEY))))
        assert KEY not in shown


def test_a_key_across_the_cut_is_removed_first() -> None:
    """The excerpt is cut after the key is gone, so that no half of it stays."""
    shown = excerpt("x" * (EXCERPT_CHARS - 10) + KEY, key_forms(Secret(KEY)))
    assert KEY[:5] not in shown
    assert len(shown) <= EXCERPT_CHARS


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_an_excerpt_is_one_short_visible_line(data: bytes) -> None:
    """Whatever a server sends, what is repeated is short, on one line and without control characters."""
    shown = excerpt(readable(data), ())
    assert len(shown) <= EXCERPT_CHARS
    assert shown.isprintable()


@settings(deadline=None)
@given(
    st.binary(min_size=0, max_size=8),
    st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=12),
    st.binary(max_size=8),
)
def test_base64_around_a_key_is_found(before: bytes, key: str, after: bytes) -> None:
    """At every alignment a key inside a longer base64 text is recognised."""
    whole = base64.b64encode(before + key.encode() + after).decode()
    assert without(whole, key_forms(Secret(key))) != whole


NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("text", "wait_s"),
    [
        ("0", 0.0),
        ("20", 20.0),
        (" 1.5 ", 1.5),
        (formatdate(NOW + 30, usegmt=True), 30.0),
        (formatdate(NOW - 30, usegmt=True), 0.0),
        ("Sun Nov  6 08:49:37 1994", 0.0),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("9" * 40, None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(text: str, wait_s: float | None) -> None:
    """Seconds, an HTTP date, a past date (0), or nothing that can be used (None)."""
    assert retry_after_s({"Retry-After": text}, NOW) == wait_s


def test_retry_after_in_milliseconds_wins() -> None:
    """`retry-after-ms` is exact where a server sends it."""
    assert retry_after_s({"retry-after-ms": "250", "Retry-After": "1"}, NOW) == 0.25


@pytest.mark.parametrize(
    "base_url",
    [
        f"https://user:{KEY}@models.example/v1",
        f"https://{KEY}@models.example/v1",
        f"https://models.example/v1?key={KEY}",
        f"https://models.example/v1#{KEY}",
        f"ftp://{KEY}.example",
        f"https:///{KEY}",
        f"http://[{KEY}",
        f"http://models.example:99999/{KEY}",
        f"http://models.example/\n{KEY}",
        "",
    ],
)
def test_a_base_url_that_could_hold_a_key_is_refused(base_url: str) -> None:
    """Userinfo, query and fragment are refused, and the message does not repeat them."""
    with pytest.raises(InputError) as caught:
        HttpClient(base_url)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", ["", " ", f"{KEY}\n", f"{KEY}\r\nX: y", "clé-secrète", f"a {KEY}"])
def test_a_key_that_breaks_a_header_is_refused(key: str) -> None:
    """Line breaks, spaces and non-ASCII characters in a key are an input error that does not show it."""
    with pytest.raises(InputError) as caught:
        HttpClient("http://127.0.0.1:1", key=Secret(key))
    assert KEY not in str(caught.value)
    assert "key_env" in str(caught.value)


@pytest.mark.parametrize("connections", [1, 8, 300])
def test_the_pool_follows_its_limit(connections: int) -> None:
    """With n connections and more callers, the server sees n calls at once: not fewer, never more."""

    async def run() -> int:
        async with ChatServer(echo, latency_ms=100, keep_requests=False) as server:
            client = HttpClient(server.base_url, connections=connections, timeout_s=60)
            calls = connections + 8 if connections > 8 else connections * 3
            await asyncio.gather(*(client.post_json("/chat/completions", BODY) for _ in range(calls)))
            await client.close()
            assert server.calls == calls
            return server.peak

    assert asyncio.run(run()) == connections


def test_one_client_serves_two_event_loops() -> None:
    """A client made outside any loop can be used in one loop after another."""
    client: list[HttpClient] = []

    async def run() -> tuple[int, int]:
        async with ChatServer(echo) as server:
            if not client:
                client.append(HttpClient(server.base_url))
            client[0].base_url = server.base_url
            reply = await client[0].post_json("/chat/completions", BODY)
            await client[0].close()
            await client[0].close()
            return server.calls, len(reply.body["choices"])

    assert asyncio.run(run()) == (1, 1)
    assert asyncio.run(run()) == (1, 1)
