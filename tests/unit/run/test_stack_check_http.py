"""`ragassay stacks check-http`: a service that keeps the contract, one that does not, and one that is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from click.testing import CliRunner, Result

from ragassay.cli.stacks import command
from ragassay.errors import InputError

KEY = "a-key-of-this-test"


@contextmanager
def served(scores: list[float], key: str | None = None) -> Iterator[str]:
    """Serve hits of these scores, at most k, to whoever brings the key; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(404, {})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if key is not None and self.headers.get("X-Key") != key:
                self._reply(401, {})
                return
            hits = [{"id": f"p-{n}", "text": f"Passage {n}.", "score": score} for n, score in enumerate(scores)]
            self._reply(200, {"hits": hits[: asked["k"]]})

        def _reply(self, status: int, body: object) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/search"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def typed(*words: str) -> Result:
    """Type `ragassay stacks check-http`; errors come through as they are raised."""
    return CliRunner().invoke(command, ["check-http", *words], catch_exceptions=False, standalone_mode=False)


def test_a_service_that_keeps_the_contract() -> None:
    """Is told so, with exit code 0."""
    with served([0.9, 0.5, 0.5]) as url:
        done = typed(url)
    assert (done.return_value, done.output) == (0, "it keeps the contract\n")


def test_a_service_whose_scores_are_out_of_range() -> None:
    """Every problem is a line, the exit code 1, and the same stands in the JSON."""
    with served([9.0, 8.0]) as url:
        done, told = typed(url), typed(url, "--json")
    assert done.return_value == told.return_value == 1
    problems = json.loads(told.stdout)["problems"]
    assert problems
    assert "score" in problems[0]
    assert done.output.count("\n- ") + 1 == len(problems)
    assert done.output.splitlines()[-1].endswith("it cannot be a row as it is")


def test_a_service_that_finds_nothing_was_not_checked() -> None:
    """Empty replies alone are a problem, not a pass."""
    with served([]) as url:
        assert typed(url, "--question", "anything").return_value == 1


def test_nobody_listens() -> None:
    """The connection is the problem; nothing passes for an empty answer."""
    done = typed("http://127.0.0.1:9/search")
    assert done.return_value == 1
    assert "connection" in done.output


def test_the_key_comes_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """With it the service answers, without it refuses, and it is never printed; an unset variable is wrong input."""
    monkeypatch.setenv("LAB_KEY", KEY)
    with served([0.5], key=KEY) as url:
        done = typed(url, "--key-env", "LAB_KEY", "--key-header", "X-Key")
        assert (done.return_value, done.output) == (0, "it keeps the contract\n")
        refused = typed(url)
    assert refused.return_value == 1
    assert KEY not in refused.output
    monkeypatch.delenv("LAB_KEY")
    with pytest.raises(InputError, match="LAB_KEY is not set"):
        typed("http://127.0.0.1:9/search", "--key-env", "LAB_KEY")


def test_an_address_that_is_none() -> None:
    """Is wrong input, and not repeated, as it may hold a key."""
    with pytest.raises(InputError) as caught:
        typed(f"http://me:{KEY}@127.0.0.1/search")
    assert KEY not in str(caught.value)
