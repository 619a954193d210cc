"""Chroma as a server: filled on after a kill, listed, its tenant and its graph checked, its key sent as it was told."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("chromadb", reason="pip install 'ragassay[chroma]'")

import httpx

from chroma_server import ChromaServer, running_chroma
from ragassay.errors import StackError
from ragassay.plugins.stacks.chroma import Chroma
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Chunk, Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress

COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"
KEY = "key-of-the-tests-0123456789"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """One server for all tests of this file."""
    with running_chroma(tmp_path_factory.mktemp("chroma")) as running:
        yield running


def many(count: int) -> list[Chunk]:
    """Return as many chunks, all different."""
    return corpus([f"word{at} river fox number{at % 7}" for at in range(count)])


def build(server: ChromaServer, chunks: list[Chunk], progress: Any = ignore_progress, **params: Any) -> VectorIndex:
    """Return the stack over the server."""
    return Chroma(url=server.url, **params).build(chunks, {"embedder": WordEmbedder()}, progress)


def stored(server: ChromaServer, name: str) -> int:
    """Return how many vectors a collection holds, asked without the stack."""
    found = httpx.get(f"{server.url}{COLLECTIONS}/{name}").raise_for_status().json()
    return int(httpx.get(f"{server.url}{COLLECTIONS}/{found['id']}/count").raise_for_status().text)


def test_a_server_killed_while_it_is_filled_is_filled_on(tmp_path: Path) -> None:
    """The build fails, the next one after the restart continues what was stored, and finds what a whole one finds."""
    chunks = many(600)
    with running_chroma(tmp_path) as server:
        whole = build(server, chunks, collection="whole-one")
        wanted = [whole.search(text, 10) for text in ("word7 river", "number3", "word599")]
        count = stored(server, "whole-one")
        whole.close()
        calls: list[Any] = []

        def kill(*at: int) -> None:
            calls.append(at)
            if len(calls) == 4:  # three blocks are embedded, and one is stored
                server.stop()

        with pytest.raises(StackError, match="cannot be reached to write to the collection 'half-one'") as raised:
            build(server, chunks, kill, collection="half-one")
        assert raised.value.retryable
        server.start()
        assert 0 < stored(server, "half-one") < count
        index = build(server, chunks, collection="half-one")
        assert index.stored is not None
        assert not index.stored.reused
        assert stored(server, "half-one") == count < index.count() == 600
        assert [index.search(text, 10) for text in ("word7 river", "number3", "word599")] == wanted
        index.close()


def test_a_build_that_was_stopped_by_hand_is_continued(server: ChromaServer) -> None:
    """Ctrl-C in the middle leaves an index that says that it is not whole."""
    chunks: list[Chunk] = many(600)
    calls: list[Any] = []

    def stop(*at: int) -> None:
        calls.append(at)
        if len(calls) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(server, chunks, stop, exact=False)
    index = build(server, chunks, exact=False)
    assert index.count() == 600
    again = build(server, chunks, exact=False)
    assert [one.stored.reused for one in (index, again) if one.stored] == [False, True]
    index.close()
    again.close()


def test_other_indexes_on_the_server_are_named(server: ChromaServer) -> None:
    """Those of ragassay, under other names, sorted; nobody else's."""
    httpx.post(server.url + COLLECTIONS, json={"name": "somebody-else"}).raise_for_status()
    first, second = build(server, many(3)), build(server, many(4))
    assert first.stored is not None
    assert second.stored is not None
    assert first.stored.name in second.stored.others
    assert second.stored.name not in second.stored.others
    assert all(name.startswith("ragassay_") for name in second.stored.others)
    first.close()
    second.close()


def test_a_row_with_another_setting_has_an_index_of_its_own(server: ChromaServer) -> None:
    """The name says the metric and the graph too."""
    names = set()
    for params in ({}, {"metric": "l2"}, {"exact": False}, {"exact": False, "ef_search": 50}, {"max_neighbors": 32}):
        index = build(server, many(3), **params)
        assert index.stored is not None
        names.add(index.stored.name)
        index.close()
    assert len(names) == 5


def test_a_graph_that_somebody_changed_is_refused(server: ChromaServer) -> None:
    """Of `ef_search`, the one number that can be changed afterwards."""
    build(server, many(3), exact=False, collection="changed").close()
    found = httpx.get(f"{server.url}{COLLECTIONS}/changed").json()["id"]
    change = {"new_configuration": {"hnsw": {"ef_search": 10}}}
    httpx.put(f"{server.url}{COLLECTIONS}/{found}", json=change).raise_for_status()
    with pytest.raises(StackError, match="'changed' has not the ef_search that was asked for"):
        build(server, many(3), exact=False, collection="changed")


def test_vectors_that_somebody_removed_are_missed(server: ChromaServer) -> None:
    """An exact search with one vector less is an error, not a shorter list."""
    index = build(server, many(5), collection="removed")
    found = httpx.get(f"{server.url}{COLLECTIONS}/removed").json()["id"]
    httpx.post(f"{server.url}{COLLECTIONS}/{found}/delete", json={"ids": ["2"]}).raise_for_status()
    with pytest.raises(StackError, match="returned 4 of 5 vectors"):
        index.search("word1", 1)
    index.close()


@pytest.mark.parametrize("where", [{"tenant": "no-such-tenant"}, {"database": "no-such-database"}])
def test_an_unknown_tenant_or_database_is_an_error(server: ChromaServer, where: dict[str, str]) -> None:
    """Nothing is made by mistake."""
    with pytest.raises(StackError, match="no-such-") as raised:
        build(server, many(3), **where)
    assert not raised.value.retryable


def test_the_server_version_is_recorded(server: ChromaServer) -> None:
    """As the server gives it, beside that of the client; where the server is, is not recorded."""
    index = build(server, many(3))
    about = index.describe()
    index.close()
    assert about["server"]
    assert str(server.port) not in str(about)


@contextmanager
def echo(status: int) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yield the address of a server that answers everything with `status` and the key that came, and what came."""
    came: list[dict[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            came.append({name.lower(): value for name, value in self.headers.items()})
            said = f'{{"error": "Whatever", "message": "no entry for {KEY}"}}'.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: Any) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", came
        running.shutdown()


@pytest.mark.parametrize(
    ("params", "header", "value"),
    [({}, "authorization", f"Bearer {KEY}"), ({"key_header": "x-chroma-token"}, "x-chroma-token", KEY)],
)
def test_the_key_is_sent_as_the_board_says_and_never_said(params: dict[str, str], header: str, value: str) -> None:
    """In the header that was chosen; a server that repeats it does not get it into the error."""
    with echo(403) as (url, came), pytest.raises(StackError, match=r"HTTP 403.*key_env") as raised:
        Chroma(url=url, key_env="KEY", key=Secret(KEY), **params).build(
            corpus(), {"embedder": WordEmbedder()}, ignore_progress
        )
    assert came[0][header] == value
    assert KEY not in str(raised.value)
    assert not raised.value.retryable


@pytest.mark.parametrize(("status", "again"), [(500, True), (503, True), (429, True), (400, False), (302, False)])
def test_a_status_says_whether_asking_again_may_help(status: int, again: bool) -> None:
    """Those of an overloaded or broken server do; a redirect is not followed."""
    with echo(status) as (url, _), pytest.raises(StackError, match=f"HTTP {status}") as raised:
        Chroma(url=url, key_env="KEY", key=Secret(KEY)).build(corpus(), {"embedder": WordEmbedder()}, ignore_progress)
    assert raised.value.retryable is again
    assert KEY not in str(raised.value)
