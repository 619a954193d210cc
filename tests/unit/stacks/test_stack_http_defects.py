"""A retrieval service that breaks the contract is an error that says what is wrong, each defect by its name."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from ragassay import canon
from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.http import Http
from ragassay.plugins.stacks.http.check import check_service
from ragassay.records import Secret
from ragassay.retrieve import search
from ragassay.run.build import StackBuilder, check_stack, needed_keys
from ragassay.testing.stack_contract import ignore_progress

KEY = "a-key-of-the-tests"
GOOD = {"id": "a", "text": "Passage a.", "score": 0.5}
JSON_TYPE = {"Content-Type": "application/json"}


def _hits(*hits: Mapping[str, Any]) -> bytes:
    return json.dumps({"hits": hits}).encode()


class Service(ThreadingHTTPServer):
    """Gives one reply to every POST and another to every GET; counts, and keeps the headers of the last."""

    daemon_threads = True

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes, wait_s: float = 0) -> None:
        self.post = (status, headers, body, wait_s)
        self.get: tuple[int, Mapping[str, str], bytes, float] = (404, {}, b"", 0)
        self.seen: list[tuple[str, str, Mapping[str, str]]] = []
        self.ending = Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """The address to search at."""
        return f"http://127.0.0.1:{self.server_port}/search"


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        """Give the reply."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self._reply(*self.server.post)

    def do_GET(self) -> None:
        """Give the description."""
        self._reply(*self.server.get)

    def _reply(self, status: int, headers: Mapping[str, str], body: bytes, wait_s: float) -> None:
        self.server.seen.append((self.command, self.path, dict(self.headers)))
        if self.server.ending.wait(wait_s):
            return
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            return  # the client has seen enough

    def log_message(self, *line: object) -> None:
        """Print nothing."""


@contextmanager
def serving(status: int, headers: Mapping[str, str], body: bytes, wait_s: float = 0) -> Iterator[Service]:
    """Serve from a thread."""
    server = Service(status, headers, body, wait_s)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ending.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _error(body: bytes, status: int = 200, headers: Mapping[str, str] = JSON_TYPE, **params: Any) -> StackError:
    """Return the error with which a search for two hits ends."""
    with serving(status, headers, body) as server:
        retriever = Http(url=server.url, **params).build((), {}, ignore_progress)
        try:
            with pytest.raises(StackError) as caught:
                retriever.search("question", 2)
        finally:
            retriever.close()
    assert str(caught.value).startswith("127.0.0.1:")
    return caught.value


BAD_BODIES: Mapping[str, tuple[bytes, str]] = {
    "no hits": (b'{"results": []}', "the reply has no member 'hits' (it has 'results')"),
    "nothing": (b"{}", "the reply has no member 'hits' (it has nothing)"),
    "hits is null": (b'{"hits": null}', "'hits' is null, not a list"),
    "hits is an object": (b'{"hits": {"0": 1}}', "'hits' is an object, not a list"),
    "more than k": (_hits(GOOD, GOOD | {"id": "b"}, GOOD | {"id": "c"}), "3 hits came where at most 2 were asked for"),
    "a hit that is a text": (b'{"hits": ["a"]}', "hit 1 is the text 'a', not an object"),
    "no text": (_hits({"id": "a", "score": 0.5}), "hit 1: it has no text"),
    "text is null": (_hits(GOOD | {"text": None}), "hit 1: its text is null, not a text"),
    "text is empty": (_hits(GOOD | {"text": ""}), "hit 1: its text is empty"),
    "text is long": (_hits(GOOD | {"text": "x" * 51}), "hit 1: its text has 51 characters, more than 50"),
    "no id": (_hits({"text": "t", "score": 0.5}), "hit 1: it has no id"),
    "id is a number": (_hits(GOOD | {"id": 7}), "hit 1: its id is the number 7, not a text"),
    "id is long": (_hits(GOOD | {"id": "x" * 501}), "hit 1: its id has 501 characters, more than 500"),
    "an id twice": (_hits(GOOD, GOOD), "hit 2: the id 'a' stands twice"),
    "no score": (_hits({"id": "a", "text": "t"}), "hit 1: it has no score"),
    "score is a text": (_hits(GOOD | {"score": "0.5"}), "hit 1: its score is the text '0.5', not a number"),
    "score is true": (_hits(GOOD | {"score": True}), "hit 1: its score is true, not a number"),
    "score above 1": (_hits(GOOD | {"score": 1.0001}), "hit 1: its score 1.0001 is outside 0 to 1"),
    "score below 0": (_hits(GOOD | {"score": -0.1}), "hit 1: its score -0.1 is outside 0 to 1"),
    "score rises": (
        _hits(GOOD, {"id": "b", "text": "t", "score": 0.75}),
        "hit 2: the score rises from 0.5 to 0.75; hits come best first",
    ),
    "several at once": (
        _hits({"id": 1, "text": 2}, {"id": 1, "text": 2}),
        "hit 1: its id is the number 1, not a text; hit 1: its text is the number 2, not a text; "
        "hit 1: it has no score; and 3 more",
    ),
}


@pytest.mark.parametrize("defect", BAD_BODIES)
def test_a_reply_against_the_contract_is_final_and_says_why(defect: str) -> None:
    """The same reply would come again, so it is not asked again."""
    body, said = BAD_BODIES[defect]
    error = _error(body, max_text_chars=50)
    assert str(error).partition(": ")[2] == said
    assert not error.retryable


UNREADABLE: Mapping[str, tuple[bytes, str]] = {
    "not JSON": (b"hits!", "the reply is no JSON"),
    "empty": (b"", "the reply is no JSON"),
    "a list": (b"[1, 2]", "the reply is JSON but no object"),
    "NaN": (b'{"hits": [{"id": "a", "text": "t", "score": NaN}]}', "the reply is no JSON (NaN is no number of JSON)"),
    "minus infinity": (b'{"hits": [{"score": -Infinity}]}', "the reply is no JSON (-Infinity is no number of JSON)"),
    "beyond every number": (b'{"hits": [{"id": "a", "text": "t", "score": 1e999}]}', "the reply is no JSON"),
    "a key twice": (b'{"hits": [], "hits": []}', "the key 'hits' stands twice"),
    "not UTF-8": (b'{"hits": [{"id": "\xff", "text": "t", "score": 1}]}', "the reply is no JSON"),
    "half a character": (b'{"hits": [{"id": "a", "text": "\\ud800", "score": 1}]}', "the reply is no JSON"),
    "an HTML page": (b"<!doctype html><title>Welcome</title>", "is an HTML page and no JSON (Welcome); check url"),
    "an error under 200": (b'{"error": "index is closed"}', "sent an error object: index is closed"),
}


@pytest.mark.parametrize("defect", UNREADABLE)
def test_an_unreadable_reply_may_be_asked_for_again(defect: str) -> None:
    """It is an error all the same, and names what came."""
    body, said = UNREADABLE[defect]
    error = _error(body)
    assert said in str(error)
    assert error.retryable


STATUSES = {400: False, 401: False, 403: False, 404: False, 408: True, 413: False, 429: True, 500: True, 503: True}


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_that_is_not_2xx_is_an_error_by_its_kind(status: int) -> None:
    """Even with a body that would be a good reply; the key's variable is named for a refused key."""
    error = _error(_hits(GOOD), status)
    assert f"HTTP {status}" in str(error)
    assert error.retryable is STATUSES[status]
    assert ("`key_env`" in str(error)) is (status in (401, 403))
    assert "base_url" not in str(error)
    assert "model" not in str(error)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    """The key reaches no other server."""
    with serving(200, JSON_TYPE, _hits(GOOD)) as other:
        error = _error(b"", status, {"Location": other.url}, key=Secret(KEY))
        assert other.seen == []
    assert "redirects are not followed" in str(error)
    assert "correct url" in str(error)
    assert not error.retryable


def test_a_large_reply_is_cut_off() -> None:
    """By bytes, whatever is in it, and not asked for again."""
    error = _error(_hits(GOOD | {"text": "x" * 5000}), max_response_bytes=2048)
    assert "more than 2048 bytes" in str(error)
    assert not error.retryable


def test_a_reply_that_ends_early_is_an_error() -> None:
    """Half a list of hits is no list of hits."""
    error = _error(_hits(GOOD)[:20], headers={"Content-Length": "500"})
    assert "ended before its body was complete" in str(error)
    assert error.retryable


def test_a_stream_of_events_is_an_error() -> None:
    """One object is wanted."""
    assert "a stream of events" in str(_error(b'data: {"hits": []}\n\n', headers={"Content-Type": "text/event-stream"}))


def test_a_slow_service_is_an_error_within_its_time() -> None:
    """It may be asked again."""
    with serving(200, JSON_TYPE, _hits(GOOD), wait_s=30) as server:
        retriever = Http(url=server.url, timeout_s=1).build((), {}, ignore_progress)
        started = time.perf_counter()
        with pytest.raises(StackError, match="no complete reply within 1 s") as caught:
            retriever.search("question", 2)
        retriever.close()
        assert time.perf_counter() - started < 15
    assert caught.value.retryable


@pytest.mark.parametrize(
    "body", [_hits(GOOD | {"text": f"Bearer {KEY}"}), _hits(GOOD | {"id": KEY}), _hits({"id": KEY}), KEY.encode()]
)
def test_a_key_that_comes_back_is_never_recorded(body: bytes) -> None:
    """Neither as a passage nor in a message."""
    error = _error(body, key=Secret(KEY))
    assert KEY not in str(error)


@pytest.mark.parametrize(
    ("header", "sent"),
    [
        (None, ("Authorization", f"Bearer {KEY}")),
        ("authorization", ("Authorization", f"Bearer {KEY}")),
        ("X-API-Key", ("X-API-Key", KEY)),
    ],
)
def test_the_key_stands_in_one_header(header: str | None, sent: tuple[str, str]) -> None:
    """As a bearer, or alone in the header that is named; with GET and POST, at the path that was given."""
    with serving(200, JSON_TYPE, _hits(GOOD)) as server:
        more = {"key_header": header} if header else {}
        retriever = Http(url=server.url + "/", key=Secret(KEY), **more).build((), {}, ignore_progress)
        (hit,) = retriever.search("question", 2)
        retriever.close()
    assert (hit.chunk, hit.text, hit.score) == ("a", "Passage a.", 0.5)
    assert [(method, path) for method, path, _ in server.seen] == [("GET", "/search/"), ("POST", "/search/")]
    for _, _, headers in server.seen:
        assert [(name, value) for name, value in headers.items() if KEY in value] == [sent]
        assert not any(name.lower() == "cookie" for name in headers)


def test_an_empty_list_is_the_legal_empty_retrieval_and_scores_are_recorded_as_text() -> None:
    """Through the checked door."""
    with serving(200, JSON_TYPE, b'{"hits": [], "took_ms": 3}') as server:
        retriever = Http(url=server.url).build((), {}, ignore_progress)
        told: dict[str, Any] = {"chunks": {}, "owns_corpus": True, "top_k": 2, "threshold": None}
        assert search(retriever, "question", **told).state == "empty"
        server.post = (200, JSON_TYPE, b'{"hits": [{"id": "a", "text": "t", "score": 1, "page": 4}]}', 0)
        (delivered,) = search(retriever, "question", **told).delivered
        retriever.close()
    assert (delivered.chunk, delivered.text, delivered.score, delivered.page) == ("a", "t", "1", None)


DESCRIPTIONS = {
    b'{"name": "n"}': "GET gives no usable 'version'",
    b'{"name": "", "version": "1"}': "GET gives no usable 'name'",
    b'{"name": "n", "version": 1.5}': "GET gives no usable 'version'",
    b'{"name": "a\\u001b[31m", "version": "1"}': "GET gives no usable 'name'",
    b"<html><body>docs</body></html>": "HTML page",
}


@pytest.mark.parametrize("body", DESCRIPTIONS)
def test_a_description_that_cannot_be_recorded_is_an_error(body: bytes) -> None:
    """What changes a row's identity is not guessed; the check says the same."""
    with serving(200, JSON_TYPE, _hits(GOOD)) as server:
        server.get = (200, JSON_TYPE, body, 0)
        with pytest.raises(StackError) as caught:
            Http(url=server.url).build((), {}, ignore_progress)
        assert check_service(server.url) == [f"GET: {caught.value}"]
    assert DESCRIPTIONS[body] in str(caught.value)


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_service_without_a_description_is_described_by_its_address(status: int) -> None:
    """Nothing stands for what is not there; any other status is an error."""
    with serving(200, JSON_TYPE, _hits(GOOD)) as server:
        server.get = (status, {}, b"", 0)
        retriever = Http(url=server.url).build((), {}, ignore_progress)
        assert retriever.describe() == {"kind": "http", "contract": "1", "url": server.url}
        canon.canonical(retriever.describe())
        retriever.close()
        server.get = (503, {}, b"starting", 0)
        with pytest.raises(StackError, match="HTTP 503: starting") as caught:
            Http(url=server.url).build((), {}, ignore_progress)
    assert caught.value.retryable


def test_the_check_names_each_fault_once() -> None:
    """A service that gives the same two hits whatever k is, and one that finds nothing, and one that is no service."""
    two = _hits(GOOD, GOOD | {"id": "b"}, GOOD | {"id": "c"})
    with serving(200, JSON_TYPE, two) as server:
        problems = check_service(server.url, questions=["What is a?"])
        assert len(problems) == len(set(problems)) == 8
        assert problems[0].startswith("question 'What is a?', k = 2: 127.0.0.1:")
        assert problems[0].endswith("3 hits came where at most 2 were asked for")
        server.post = (200, JSON_TYPE, b'{"hits": []}', 0)
        (problem,) = check_service(server.url)
        assert problem.startswith("no question found anything")
        server.post = (500, {}, b"boom", 0)
        (problem,) = check_service(server.url)
        assert "HTTP 500: boom" in problem


def test_the_check_sees_an_order_that_changes_and_a_text_that_changes() -> None:
    """What no single reply shows."""
    with serving(200, JSON_TYPE, b"") as server:
        count = iter(range(10**6))

        class Changing(_Handler):
            def _reply(self, status: int, headers: Mapping[str, str], body: bytes, wait_s: float) -> None:
                at = next(count)
                body = _hits({"id": "a", "text": f"text {at}", "score": 0.5})
                super()._reply(status if self.command == "POST" else 404, headers, body, wait_s)

        server.RequestHandlerClass = Changing
        problems = check_service(server.url, questions=["one"])
    assert "question 'one': asked twice, it got different hits" in problems
    assert "the id 'a' came with two different texts; an id names one passage" in problems
    assert "question 'one': the hits for k = 2 are not the first of those for k = 5" in problems
    assert "question 'one': with 8 asked at a time it got different hits" in problems


PARAMETERS: Mapping[str, tuple[dict[str, Any], str]] = {
    "no url": ({}, "url must be the http or https address"),
    "another scheme": ({"url": "ftp://a.example/"}, "url must be the http or https address"),
    "a password": ({"url": f"http://me:{KEY}@a.example/"}, "url holds a user name, password, query or fragment"),
    "a query": ({"url": f"http://a.example/?key={KEY}"}, "url holds a user name, password, query or fragment"),
    "a port that is none": ({"url": "http://a.example:99999/"}, "url must be the http or https address"),
    "a key for its name": ({"url": "http://a.example", "key_env": f"{KEY} "}, "never the key"),
    "a key for a header": ({"url": "http://a.example", "key_header": f"X: {KEY}"}, "key_header must be the name"),
    "a header of HTTP": ({"url": "http://a.example", "key_header": "Host"}, "key_header must be the name"),
    "longer than a search": ({"url": "http://a.example", "timeout_s": 60}, "timeout_s = 60 must be"),
    "a typo": ({"url": "http://a.example", "top_k": 3}, "unknown parameter 'top_k' (known: key_env, key_header, max_"),
}


@pytest.mark.parametrize("defect", PARAMETERS)
def test_parameters_are_checked_and_no_key_is_repeated(defect: str) -> None:
    """One problem each, before anything is asked."""
    params, said = PARAMETERS[defect]
    with pytest.raises(InputError) as caught:
        check_stack({"kind": "http", **params}, "row 'r'")
    (problem,) = caught.value.problems
    assert said in problem
    assert KEY not in str(caught.value)


def test_the_runner_gives_a_stack_the_key_that_it_names(tmp_path: Path) -> None:
    """Also inside another stack; the variable is among those that a board needs."""
    with serving(200, JSON_TYPE, _hits(GOOD)) as server:
        entry = {"kind": "http", "url": server.url, "key_env": "MY_KEY"}
        fused = {"kind": "hybrid", "depth": 2, "of": [entry, {"kind": "bm25"}]}
        assert needed_keys([], [fused]) == needed_keys([], [entry]) == ["MY_KEY"]
        told: dict[str, Any] = {"evidence": {}, "report": lambda what: ignore_progress}
        builder = StackBuilder([], cache=tmp_path, weights_cache=tmp_path, keys={"MY_KEY": Secret(KEY)}, **told)
        builder.build(entry, "row 'r'").close()
    assert server.seen[0][2]["Authorization"] == f"Bearer {KEY}"
