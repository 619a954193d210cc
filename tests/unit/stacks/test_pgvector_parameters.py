"""What a board may say of a PostgreSQL row: checked without a server, never with a password in a message."""

from __future__ import annotations

from typing import Any

import pytest

from postgres_server import NEEDS
from ragassay.errors import InputError
from ragassay.records import Secret

pytest.importorskip("psycopg", reason=NEEDS)

from ragassay.plugins.parameters_of import parameters_of
from ragassay.plugins.stacks.pgvector import Pgvector

URL = "postgresql://reader@db.example:5432/docs"


def refused(**params: Any) -> InputError:
    """Return the error that these parameters are."""
    with pytest.raises(InputError) as caught:
        Pgvector(**{"url": URL, **params})
    return caught.value


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "postgres://reader@db.example/docs",
        "postgresql://reader@/docs?host=/run/postgresql&port=5433",
        "postgresql://reader:@one.example:1,two.example:2/docs?target_session_attrs=read-write",
        "postgresql://reader@db.example/docs?sslmode=verify-full&sslrootcert=system",
    ],
)
def test_an_address_is_taken_as_the_client_takes_it(url: str) -> None:
    """Server, socket, several hosts and encryption can be named."""
    Pgvector(url=url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader:hunter2secret@db.example/docs",
        "postgresql://reader@db.example/docs?password=hunter2secret",
        "postgresql://reader@db.example/docs?sslkey=k&sslpassword=hunter2secret",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(url: str) -> None:
    """The advice names `key_env`; the password stands nowhere."""
    error = refused(url=url)
    assert "key_env" in str(error)
    assert "hunter2" not in str(error)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (None, "must be the address of a database"),
        (5, "must be the address of a database"),
        ("mysql://reader@db.example/docs", "must be the address of a database"),
        ("postgresql://reader:se%zzcret@db.example/docs", "must be the address of a database"),
        ("postgresql://db.example/docs", "it names no user"),
        ("postgresql://reader@db.example", "it names no dbname"),
        ("postgresql:///docs?user=reader", "it names no host"),
        ("postgresql://reader@db.example/docs?options=-cjit%3Doff", "url sets options"),
        ("postgresql://reader@db.example/docs?passfile=/tmp/x", "url sets passfile"),
        ("postgresql://reader@db.example/docs?connect_timeout=1", "url sets connect_timeout"),
    ],
)
def test_an_address_that_lacks_something_is_refused(url: object, words: str) -> None:
    """Nothing of it is taken from the environment instead."""
    error = refused(url=url)
    assert words in str(error)
    assert "cret" not in str(error)


def test_the_name_of_the_variable_is_never_the_password() -> None:
    """A wrong `key_env` is not repeated."""
    error = refused(key_env="hunter2 secret!")
    assert "never the password" in str(error)
    assert "hunter2" not in str(error)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"metric": "dot"}, "cosine, l2, ip"),
        ({"index": "flat"}, "exact, hnsw, ivfflat"),
        ({"m": 1}, "from 2 to 100"),
        ({"index": "hnsw", "m": 40, "ef_construction": 64}, "at least twice m = 40"),
        ({"index": "hnsw", "text": True, "depth": 50}, "at most ef_search = 40"),
        ({"index": "ivfflat", "lists": 4, "probes": 5}, "at most lists = 4"),
        ({"iterative_scan": True}, 'beside index = "hnsw"'),
        ({"iterative_scan": True, "index": "ivfflat"}, 'beside index = "hnsw"'),
        ({"schema": 'a"b'}, "lower-case letters"),
        ({"table": "t" * 51}, "at most 50"),
        ({"text": True, "text_config": "english'); drop"}, "must be a name"),
        ({"text": True, "text_query": "or"}, "any, all, websearch"),
        ({"timeout_s": 51}, "from 1 to 50"),
        ({"collection": "x"}, "unknown parameter 'collection'"),
    ],
)
def test_each_wrong_parameter_is_named(params: dict[str, Any], words: str) -> None:
    """Range, choice, and two that do not go together."""
    assert words in str(refused(**params))


def test_all_problems_are_listed_at_once() -> None:
    """The hidden ones, the ranges, the names and the unknown."""
    error = refused(url="x", m=0, table="T", index="ivfflat", lists=1, probes=2, colour="red")
    assert len(error.problems) == 5


def test_the_parameters_can_be_listed() -> None:
    """`ragassay stacks describe` shows them, `url` as the one that is required, and not the password."""
    found = {one.name: one for one in parameters_of(Pgvector)}
    assert [name for name, one in found.items() if one.required] == ["url"]
    assert found["ef_search"].default == 40
    assert "key" not in found


def test_a_key_is_not_shown() -> None:
    """Not by the stack."""
    assert "sesame" not in repr(vars(Pgvector(url=URL, key_env="PG", key=Secret("open sesame"))))
