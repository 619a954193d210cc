"""What PostgreSQL refuses, in words that say what to do; never with the password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from ragassay.errors import RagassayError, StackError, legible
from ragassay.records import Secret

_PASSING = ("08", "40", "53", "55P03", "57P01", "57P02", "57P03")
"""SQLSTATEs, or their first digits, of what may have passed when it is asked again."""

_ADVICE = {
    "42501": "; give this user the right, or name a schema of its own",
    "3F000": "; make the schema first: CREATE SCHEMA",
    "25006": "; the server is a read-only copy: name the primary one",
    "42P01": "; the table was removed in between: start the row anew",
    "26000": "; a pooler in transaction mode is in between: name the server itself, or a pooler in session mode",
}
_LASTING = (
    ("password authentication failed", "; check the user in url, and the password in the variable that key_env names"),
    ("no password supplied", "; name the environment variable that holds the password: key_env"),
    ("no pg_hba.conf entry", "; the server admits no such user, database, address or encryption"),
    ("does not exist", "; check the user and the database in url"),
    ("not permitted to log in", "; check the user in url"),
    ("certificate", "; check sslmode and sslrootcert in url"),
    ("does not support SSL", "; the url asks for an encryption that the server does not have"),
    ("could not translate host name", "; check the host in url"),
)
"""What a server says when it lets nobody in, and what helps; anything else may pass."""


@contextmanager
def connect_error(key: Secret | None) -> Iterator[None]:
    """Turn a refused connection into a `StackError`, retryable unless asking again cannot help."""
    try:
        yield
    except psycopg.Error as error:
        said = _said(error, key)
        advice = next((help_ for words, help_ in _LASTING if words in said), None)
        raise StackError(f"pgvector cannot connect: {said}{advice or ''}", retryable=advice is None) from None


@contextmanager
def stack_error(doing: str, timeout_s: int, key: Secret | None) -> Iterator[None]:
    """Turn what the client raises while `doing` something into a `StackError`; ours pass as they are."""
    try:
        yield
    except RagassayError:
        raise
    except (TimeoutError, psycopg.errors.QueryCanceled):
        raise StackError(f"pgvector could not {doing} within {timeout_s} s", retryable=True) from None
    except psycopg.Error as error:
        raise _of_client(doing, error, key) from error


def _of_client(doing: str, error: Any, key: Secret | None) -> StackError:
    state = error.sqlstate or ""
    broken = not state and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    words = error.diag.message_primary if state and error.diag.message_primary else error
    said = f"pgvector could not {doing}: {type(error).__name__}: {_said(words, key)}{_ADVICE.get(state, '')}"
    return StackError(said, retryable=broken or state.startswith(_PASSING))


def missing_extension(session: Any) -> StackError:
    """Return the error of a database that has no vectors, with what to type."""
    database = session.info.dbname
    there = session.execute("select 1 from pg_available_extensions where name = 'vector'").fetchone()
    if there:
        todo = "type there, as a user who may: CREATE EXTENSION vector;"
    else:
        todo = "install pgvector on the server, then type in that database: CREATE EXTENSION vector;"
    return StackError(f"pgvector: the database {database!r} has no extension 'vector'; {todo}")


def _said(words: BaseException | str, key: Secret | None) -> str:
    """Return the words on one line, without the password."""
    said = " ".join(legible(words if isinstance(words, BaseException) else Exception(words)).split())
    return key.scrub(said) if key else said
