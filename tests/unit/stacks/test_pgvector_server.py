"""A PostgreSQL that is down, locked, slow or another one by now: an error that says what to do, never no hits."""

from __future__ import annotations

import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from postgres_server import NEEDS, PASSWORD, PostgresServer
from ragassay.errors import StackError
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress

pytest.importorskip("psycopg", reason=NEEDS)

import psycopg

from ragassay.plugins.stacks.pgvector import Pgvector

CHUNKS = corpus()


def built(url: str, **params: Any) -> VectorIndex:
    """Return the stack built over the small corpus."""
    return Pgvector(url=url, **params).build(CHUNKS, {"embedder": WordEmbedder()}, ignore_progress)


def refused(url: str, **params: Any) -> StackError:
    """Return the error that building over that address is."""
    with pytest.raises(StackError) as caught:
        built(url, **params).close()
    return caught.value


def test_a_server_that_is_down_may_be_asked_again(postgres: PostgresServer) -> None:
    """Nobody listens on that port: retryable."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        error = refused(postgres.url(port=closed.getsockname()[1]))
    assert error.retryable
    assert "pgvector cannot connect" in str(error)


def test_a_server_that_accepts_and_says_nothing_is_left() -> None:
    """The time limit holds for connecting too."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        error = refused(f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/docs?sslmode=disable", timeout_s=1)
    assert error.retryable
    assert time.monotonic() - began < 20


def test_a_server_that_is_stopped_in_the_middle_is_asked_again_when_it_is_back(postgres: PostgresServer) -> None:
    """While it is away every search raises a retryable error; then all threads find what they found before."""
    retriever = built(postgres.url())
    questions = ["retries", "fox river", "alpha beta"] * 8
    with ThreadPoolExecutor(8) as pool:
        before = list(pool.map(lambda one: retriever.search(one, 5), questions))
        postgres.stop()
        try:
            for _ in range(3):
                with pytest.raises(StackError) as caught:
                    retriever.search("retries", 5)
                assert caught.value.retryable
        finally:
            postgres.start()
        assert list(pool.map(lambda one: retriever.search(one, 5), questions)) == before
    assert retriever.count() == len(CHUNKS)
    retriever.close()


def test_a_server_restarted_between_two_searches_costs_one_error(postgres: PostgresServer) -> None:
    """All idle connections are given up with the first that is found broken."""
    retriever = built(postgres.url())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: retriever.search(one, 5), ["retries"] * 40))
    postgres.stop()
    postgres.start()
    with pytest.raises(StackError, match="could not search") as caught:
        retriever.search("retries", 5)
    assert caught.value.retryable
    assert retriever.search("retries", 5)
    retriever.close()


def test_a_wrong_password_is_refused_for_good_and_never_shown(postgres: PostgresServer) -> None:
    """The advice names `key_env`; no password, none needed and the right one are told apart."""
    url = postgres.url(user="guarded")
    error = refused(url, key_env="PG", key=Secret("hunter2secret"))
    assert not error.retryable
    assert "key_env" in str(error)
    assert "hunter2" not in str(error)
    assert "name the environment variable" in str(refused(url))
    postgres.run("GRANT CREATE ON SCHEMA public TO guarded")
    try:
        retriever = built(url, key_env="PG", key=Secret(PASSWORD), table="of_guarded")
        assert retriever.search("retries", 3)
        assert PASSWORD not in repr(retriever.describe())
        retriever.close()
    finally:
        postgres.run("DROP TABLE IF EXISTS of_guarded", "REVOKE CREATE ON SCHEMA public FROM guarded")


def test_a_password_of_the_environment_is_not_taken(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the client reads of the environment by itself does not enter."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("PGOPTIONS", "-c no_such_setting=1")
    assert "no password" in str(refused(postgres.url(user="guarded")))
    built(postgres.url()).close()


def test_a_user_without_the_right_is_told(postgres: PostgresServer) -> None:
    """Making a table in a schema takes a right."""
    error = refused(postgres.url(user="guarded"), key_env="PG", key=Secret(PASSWORD), table="not_allowed")
    assert "give this user the right" in str(error)
    assert not error.retryable


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"database": "nowhere"}, "check the user and the database in url"),
        ({"user": "nobody"}, "check the user and the database in url"),
        ({"database": "bare"}, "CREATE EXTENSION vector;"),
    ],
)
def test_what_is_missing_on_the_server_is_named(postgres: PostgresServer, changed: dict[str, Any], words: str) -> None:
    """A database, a user, the extension: asking again does not help."""
    error = refused(postgres.url(**changed))
    assert words in str(error)
    assert not error.retryable


def test_a_schema_that_is_missing_is_named(postgres: PostgresServer) -> None:
    """The advice is what to type."""
    assert "CREATE SCHEMA" in str(refused(postgres.url(), schema="nowhere"))


def test_a_search_that_takes_too_long_is_ended(postgres: PostgresServer) -> None:
    """The server ends a statement that waits for a lock; the next search works."""
    retriever = built(postgres.url(), table="slow", timeout_s=1)
    with psycopg.connect(postgres.url()) as other:
        other.execute("LOCK TABLE slow IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StackError, match="could not search within 1 s") as caught:
            retriever.search("retries", 3)
    assert caught.value.retryable
    assert retriever.search("retries", 3)
    retriever.close()


def test_a_server_that_hangs_is_left(postgres: PostgresServer) -> None:
    """Where the server does not even end the statement, the client leaves it."""
    retriever = built(postgres.url(), table="hung", timeout_s=1)
    assert retriever.search("retries", 3)
    ask = "SELECT pid FROM pg_stat_activity WHERE application_name = 'ragassay'"
    pids = [int(pid) for (pid,) in postgres.run(ask)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(StackError, match="could not search within 1 s") as caught:
            retriever.search("retries", 3)
        assert time.monotonic() - began < 20
        assert caught.value.retryable
        assert retriever.search("retries", 3), "a new connection is answered"
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    retriever.close()


def test_settings_that_were_lost_on_the_way_are_noticed(postgres: PostgresServer) -> None:
    """A pooler that hands out another session between two statements would search with other settings."""
    retriever = built(postgres.url(), index="hnsw")
    engine: Any = retriever._engine
    with engine._pool.session("play the pooler") as session:
        session.execute("DISCARD ALL")
    with pytest.raises(StackError, match="pooler in transaction mode"):
        retriever.search("retries", 3)
    assert retriever.search("retries", 3)
    retriever.close()


def test_a_server_that_becomes_another_one_in_between_is_noticed(postgres: PostgresServer) -> None:
    """The record names one version of the extension; results of two do not mix."""
    retriever = built(postgres.url(), table="changing")
    ((version,),) = postgres.run("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    change = "UPDATE pg_extension SET extversion = '{}' WHERE extname = 'vector'"
    engine: Any = retriever._engine
    engine._pool._forget()
    postgres.run(change.format("0.5.9"))
    try:
        with pytest.raises(StackError, match=r"and is now .* with 0\.5\.9"):
            retriever.search("retries", 3)
    finally:
        postgres.run(change.format(version))
    assert retriever.search("retries", 3)
    retriever.close()


def test_an_extension_in_a_schema_of_its_own_is_found(postgres: PostgresServer) -> None:
    """Type and operators are taken from where the extension is."""
    postgres.run("CREATE DATABASE apart")
    home = ("CREATE SCHEMA extensions", "CREATE SCHEMA mine", "CREATE EXTENSION vector SCHEMA extensions")
    postgres.run(*home, database="apart")
    for params in ({}, {"index": "hnsw", "text": True}):
        retriever = built(postgres.url(database="apart"), schema="mine", **params)
        assert retriever.search("retries", 3)
        assert str(retriever.stored).startswith("Stored(name='mine.ragassay_")
        retriever.close()
    postgres.run("DROP DATABASE apart")


def test_a_closed_stack_says_so(postgres: PostgresServer) -> None:
    """Searching and counting after `close` are errors, and no connection stays open."""
    retriever = built(postgres.url())
    retriever.search("retries", 3)
    retriever.close()
    with pytest.raises(StackError, match="after it was closed"):
        retriever.search("retries", 3)
    for _ in range(50):
        left = postgres.run("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ragassay'")
        if left == [(0,)]:
            break
        time.sleep(0.1)
    assert left == [(0,)]
