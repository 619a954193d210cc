"""`weaviate` says what a fault of its server means, asks nobody but that server, and shows its key to nobody else."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("weaviate", reason="pip install 'ragassay[weaviate]'")

import weaviate
from weaviate_stand_in import KEY, NAME, QUESTION, built, failed, refused

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.weaviate import Weaviate
from ragassay.plugins.stacks.weaviate import client as weaviate_client
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.rest_server import Answer, Fault
from ragassay.testing.stack_contract import corpus, ignore_progress
from ragassay.testing.weaviate_server import GrpcFault, WeaviateServer


@pytest.fixture
def server() -> Iterator[WeaviateServer]:
    """Give a stand-in of its own."""
    with WeaviateServer(key=KEY) as running:
        yield running


def test_every_problem_of_the_parameters_is_listed_at_once() -> None:
    """And neither an address nor a variable's name is repeated, for it may be a key."""
    with pytest.raises(InputError) as caught:
        Weaviate(
            url="https://me:hunter2@example.org",
            key_env="sk-12345 secret",
            grpc_host="http://example.org/x",
            collection="lower",
            metric="manhattan",
            index="hnsw",
            ef=10,
            alpha="1.5",
            cluster=3,
        )
    said = str(caught.value)
    assert len(caught.value.problems) == 8
    assert "hunter2" not in said
    assert "sk-12345" not in said
    assert "ef = 10 must be at least depth = 100" in said


def test_gRPC_needs_a_port_of_its_own() -> None:
    """Said before anything is asked; a URL without a port has that of its scheme."""
    with pytest.raises(InputError, match="grpc_port must be another"):
        Weaviate(url="https://example.org", grpc_port=443)
    Weaviate(url="https://example.org", grpc_port=443, grpc_host="grpc-example.org")


@pytest.mark.parametrize("url", ["", "example.org:8080", "http://example.org/v1", "ftp://example.org", "http://a b"])
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    """Among others one with a path, which the client would drop without a word."""
    with pytest.raises(InputError, match="url must be"):
        Weaviate(url=url)


def test_nothing_but_the_server_is_asked(server: WeaviateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's check for a newest version of itself is off: no other name is looked up, none connected to."""
    hosts: list[Any] = []
    look_up, connect = socket.getaddrinfo, socket.socket.connect

    def looked_up(host: Any, *more: Any, **how: Any) -> Any:
        hosts.append(host)
        return look_up(host, *more, **how)

    def connected(self: socket.socket, address: Any) -> None:
        hosts.append(address[0])
        connect(self, address)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(socket.socket, "connect", connected)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("GRPC_PROXY", "http://127.0.0.1:9")
    with built(server) as retriever:
        assert retriever.search(QUESTION, 1)
    assert set(hosts) == {"127.0.0.1"}


def test_the_clients_own_check_would_ask_somebody_else(server: WeaviateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: with the client's checks on, a package index is asked for."""
    asked: list[str] = []
    wire, made = weaviate.connect.v4.ConnectionSync, weaviate.WeaviateClient
    monkeypatch.setattr(wire, "_check_package_version", lambda *_: asked.append("a package index"))
    monkeypatch.setattr(wire, "_ping_grpc", lambda *_: None)
    with built(server):
        assert asked == []
    monkeypatch.setattr(weaviate, "WeaviateClient", lambda **how: made(**{**how, "skip_init_checks": False}))
    with built(server):
        assert asked == ["a package index"]


def test_importing_the_client_leaves_the_filter_of_warnings_alone() -> None:
    """Left to itself the client sets it for the whole process, so that every warning of anybody is shown."""
    shown = "warnings.filters[0] == ('default', None, Warning, None, 0)"
    code = f"import warnings, sys, ragassay.plugins.stacks.weaviate; sys.exit({shown})"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_the_key_goes_to_both_doors_and_nowhere_else(server: WeaviateServer) -> None:
    """As a bearer token; what is recorded and what is stored hold none of it."""
    with built(server) as retriever:
        retriever.search(QUESTION, 1)
        assert KEY not in str(retriever.describe())
    assert all(one["authorization"] == f"Bearer {KEY}" for one in server.metadata)
    assert all(asked.headers["authorization"] == f"Bearer {KEY}" for _, asked in server.asked)
    assert KEY not in str(server.collections[NAME].definition)


def test_a_server_without_keys_is_asked_without_one() -> None:
    """And not for how to log in."""
    with WeaviateServer() as open_server:
        keyless = Weaviate(url=open_server.url, grpc_port=open_server.grpc_port)
        retriever = keyless.build(corpus(), {"embedder": WordEmbedder()}, ignore_progress)
        assert retriever.search(QUESTION, 1)
        retriever.close()
        assert {name for name, _ in open_server.asked} <= {"meta", "class", "create", "shards", "list"}


@pytest.mark.parametrize(
    ("code", "said", "again", "advice"),
    [
        ("UNAUTHENTICATED", f"no such key {KEY}", False, "key_env"),
        ("PERMISSION_DENIED", "no rights to read", False, "key_env"),
        ("UNKNOWN", "extract auth: unauthorized: invalid api key", False, "key_env"),
        ("UNKNOWN", "could not find class X in schema", False, "build the index again"),
        ("UNKNOWN", "vector lengths don't match: 3 vs 64", False, "another dimension"),
        ("UNKNOWN", "shard is not ready", True, "shard is not ready"),
        ("UNAVAILABLE", "server is in maintenance mode", True, "start the server"),
        ("RESOURCE_EXHAUSTED", "too many requests", True, "too many"),
        ("INTERNAL", "panic", True, "panic"),
        ("INVALID_ARGUMENT", "bad limit", False, "bad limit"),
        ("UNIMPLEMENTED", "unknown service", False, "unknown service"),
    ],
)
def test_what_grpc_says(server: WeaviateServer, code: str, said: str, again: bool, advice: str) -> None:
    """Whether asking again may help, and what to do, by the code and, for UNKNOWN, by the words."""
    with built(server) as retriever:
        server.grpc_faults["Search"] = GrpcFault(code=code, said=said)
        error = failed(retriever)
    assert error.retryable is again
    assert advice in str(error)
    assert "could not search" in str(error)


@pytest.mark.parametrize(
    ("status", "again", "advice"),
    [(401, False, "key_env"), (403, False, "key_env"), (429, True, ""), (503, True, ""), (302, False, "correct url")],
)
def test_what_rest_says(server: WeaviateServer, status: int, again: bool, advice: str) -> None:
    """The same while the stack connects; a redirect is not followed, so that the key reaches nobody else."""
    answer = Answer(status=status, body={"message": f"not with {KEY}"}, headers={"Location": "http://127.0.0.1:9/"})
    server.fail("meta", Fault(answer=answer))
    error = refused(server)
    assert error.retryable is again
    assert advice in str(error)


@pytest.mark.parametrize("body", [b"<html>welcome</html>", b'{"hello": 1}', b"[]"])
def test_something_else_at_the_address(server: WeaviateServer, body: bytes) -> None:
    """Is said to be something else."""
    server.fail("meta", Fault(answer=Answer(raw=body)))
    error = refused(server)
    assert "a reply that is not Weaviate's" in str(error)
    assert not error.retryable


def test_a_server_that_is_too_old_is_refused(server: WeaviateServer) -> None:
    """By its version, with the one that is needed."""
    server.version = "1.28.4"
    assert "needs 1.29 or newer" in str(refused(server))
    server.version = "1.19.0"
    assert "not supported" in str(refused(server))


def test_one_search_is_one_call(server: WeaviateServer) -> None:
    """The client's six attempts and 63 seconds are off: an unreachable server is told of at once."""
    with built(server) as retriever:
        server.grpc_faults["Search"] = GrpcFault(code="UNAVAILABLE")
        began = time.monotonic()
        failed(retriever)
        assert time.monotonic() - began < 20
    assert server.calls["Search"] == 2  # once more, for a server that was started again in between


def test_a_slow_search_ends_in_time(server: WeaviateServer) -> None:
    """After `timeout_s`, with what to do."""
    with built(server, timeout_s=1) as retriever:
        server.grpc_faults["Search"] = GrpcFault(delay_s=30)
        error = failed(retriever)
    assert error.retryable
    assert "raise timeout_s" in str(error)


def test_a_client_of_another_make_is_named() -> None:
    """Where the client keeps its connection elsewhere, the retries could not be taken out."""
    with pytest.raises(StackError, match=r"install 4\.24"):
        weaviate_client._asking_once(object(), 1)
