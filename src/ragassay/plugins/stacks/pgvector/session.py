"""Connections to one PostgreSQL database: opened when needed, set up alike, given up when they break."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import msgspec
import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql

from ragassay.errors import StackError
from ragassay.plugins.stacks.pgvector.errors import connect_error, missing_extension, stack_error
from ragassay.plugins.stacks.pgvector.url import connection_of
from ragassay.records import Secret

MARK = "ragassay.settings"
"""A setting of the session that names all the others: where it is gone, they are."""

_FACTS = """
select current_setting('server_version') as postgresql, current_setting('server_encoding') as encoding,
       d.datctype as ctype, e.extversion as extension, n.nspname as home
from pg_database d
left join pg_extension e on e.extname = 'vector'
left join pg_namespace n on n.oid = e.extnamespace
where d.datname = current_database()
"""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """What answers: versions, and what else of the database can change a result."""

    postgresql: str
    extension: str
    """The version of the extension `vector`."""
    home: str
    """The schema that the extension is in."""
    encoding: str
    ctype: str

    def at_least(self, major: int, minor: int) -> bool:
        """Tell whether the extension is of this version or a later one."""
        found = [int(part) for part in self.extension.split(".")[:2] if part.isdigit()]
        return found >= [major, minor]


class Session(psycopg.Connection):  # type: ignore[misc]  # the client's types are not followed
    """A connection on which no wait outlasts `deadline`: a server that hangs is left, not only one that answers."""

    deadline = math.inf

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """Do what the connection does, until the deadline."""
        return super().wait(_until(gen, self.deadline), *args, **kwargs)


def _until(gen: Generator[Any, Any, Any], deadline: float) -> Generator[Any, Any, Any]:
    """Pass everything on; raise TimeoutError where nothing was ready and the time is over."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > deadline:
                raise TimeoutError
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value


class Pool:
    """Sessions on one database; each thread that asks has one to itself while it asks.

    `settings` says what is set in every session of a server. A session that met an error is closed; where its
    connection broke, all idle ones are too, so that the next search connects anew.
    """

    def __init__(
        self, url: str, key: Secret | None, timeout_s: int, settings: Callable[[Server], Mapping[str, str]]
    ) -> None:
        self._connection = connection_of(url)
        self._key = key
        self._timeout_s = timeout_s
        self._settings = settings
        self._idle: list[Session] = []
        self._lock = threading.Lock()
        self._closed = False
        self._server: Server | None = None
        self.mark = ""
        """The short name of what is set in every session."""

    @contextmanager
    def session(self, doing: str) -> Iterator[Session]:
        """Give an idle session or a new one, for `timeout_s` seconds; what it raises becomes a `StackError`."""
        deadline = time.monotonic() + self._timeout_s
        found = self._taken() or self._opened(deadline, self._timeout_s)
        found.deadline = deadline
        try:
            with self.guard(doing):
                yield found
        except BaseException:
            if found.broken or found.closed:
                self._forget()
            found.close()
            raise
        with self._lock:
            if not self._closed:
                self._idle.append(found)
                return
        found.close()

    @contextmanager
    def alone(self, doing: str, timeout_s: int) -> Iterator[Session]:
        """Give a new session in which one statement may take `timeout_s` seconds, and close it afterwards."""
        found = self._opened(time.monotonic() + self._timeout_s, timeout_s)
        found.deadline = math.inf  # a build has many statements; the server ends each that takes too long
        try:
            with self.guard(doing, timeout_s):
                yield found
        finally:
            found.close()

    def guard(self, doing: str, timeout_s: int | None = None) -> AbstractContextManager[None]:
        """Turn what the client raises while `doing` something into a `StackError`."""
        return stack_error(doing, timeout_s or self._timeout_s, self._key)

    def known(self) -> Server:
        """Return the server that answered first; one that answers otherwise later is an error."""
        if self._server is None:
            with self.session("say what it is"):
                pass
        assert self._server is not None
        return self._server

    def close(self) -> None:
        """Close what is idle; what is in use closes when it is given back."""
        self._closed = True
        self._forget()

    def _taken(self) -> Session | None:
        if self._closed:
            raise StackError("pgvector was asked after it was closed")
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _forget(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.close()

    def _opened(self, deadline: float, timeout_s: int) -> Session:
        password = {"password": self._key.reveal()} if self._key else {}
        left = max(2, math.ceil(deadline - time.monotonic()))
        with connect_error(self._key):
            found: Session = Session.connect(
                **{**self._connection, **password, "connect_timeout": left},
                autocommit=True,
                prepare_threshold=None,  # a pooler in between may hand the next statement to another session
            )
        found.deadline = deadline
        try:
            with self.guard("open a session"):
                self._set_up(found, timeout_s)
        except BaseException:
            found.close()
            raise
        return found

    def _set_up(self, session: Session, timeout_s: int) -> None:
        server = self._asked(session)
        if self._server is None:
            self._server, self.mark = server, mark_of(self._settings(server))
        if server != self._server:
            raise StackError(
                f"pgvector: the server was PostgreSQL {self._server.postgresql} with vector {self._server.extension} "
                f"and is now {server.postgresql} with {server.extension}; start the row anew"
            )
        settings = {**self._settings(server), "statement_timeout": f"{timeout_s}s", MARK: self.mark}
        each = sql.SQL(", ").join([sql.SQL("set_config(%s, %s, false)")] * len(settings))
        session.execute(sql.SQL("select {}").format(each), [part for item in settings.items() for part in item])
        register_vector(session)

    def _asked(self, session: Session) -> Server:
        row = session.execute(_FACTS).fetchone()
        facts = dict(zip(("postgresql", "encoding", "ctype", "extension", "home"), row, strict=True))
        if facts["extension"] is None:
            raise missing_extension(session)
        return Server(**facts)


def mark_of(settings: Mapping[str, str]) -> str:
    """Return a short name of the settings, the same for the same ones."""
    return hashlib.sha256(repr(sorted(settings.items())).encode()).hexdigest()[:16]
