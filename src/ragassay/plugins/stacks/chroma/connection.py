"""Chroma's API, in this process or over HTTP: time-outs set, no environment read, and every failure told apart."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
from chromadb.api import ServerAPI
from chromadb.config import Settings as ClientSettings
from chromadb.config import System
from chromadb.errors import ChromaError

from ragassay.errors import InputError, RagassayError, StackError, legible
from ragassay.plugins.stacks.chroma.settings import Address
from ragassay.plugins.stacks.connection_each import connection_each
from ragassay.plugins.stacks.stored_index import PREFIX

_EMBEDDED = "chromadb.api.rust.RustBindingsAPI"
_OVER_HTTP = "chromadb.api.fastapi.FastAPI"
_REFUSED = (401, 403)
_TEMPORARY = (408, 429, 500, 502, 503, 504)


class _OwnSettings(ClientSettings):  # type: ignore[misc]  # the client's types are not checked here
    """Settings from what is given alone: neither environment variables nor a `.env` file change a run."""

    @classmethod
    def settings_customise_sources(cls, *_: Any, init_settings: Any, **__: Any) -> tuple[Any, ...]:
        """Return the one source that is read."""
        return (init_settings,)


class Connection:
    """One Chroma, closed with `close`: with `url` a server, without it an engine of its own in memory."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._system = System(self._settings())
        try:
            self.api = self._system.instance(ServerAPI)
            if address.url:
                self._session = _bounded(self.api, address)
            self._system.start()
        except BaseException:
            self.close()
            raise

    @property
    def where(self) -> dict[str, str]:
        """The tenant and the database, as every call of the API takes them."""
        return {"tenant": self._address.tenant, "database": self._address.database}

    @property
    def place(self) -> str:
        """The same in words."""
        return f"the database {self._address.database!r} of the tenant {self._address.tenant!r}"

    def server_version(self) -> str:
        """Return what the server calls its version; raises `StackError` for one that is down."""
        with self.failing("say which version it is"):
            return str(self.api.get_version())

    def others(self, name: str) -> tuple[str, ...]:
        """Return the collections of ragassay under other names than `name`, sorted."""
        with self.failing("list its collections"):
            names = [str(one.name) for one in self.api.list_collections(**self.where)]
        return tuple(sorted(one for one in names if one.startswith(PREFIX) and one != name))

    @contextmanager
    def failing(self, doing: str) -> Iterator[None]:
        """Turn what goes wrong while `doing` something into a `StackError` without the key."""
        try:
            yield
        except RagassayError:
            raise
        except Exception as error:  # noqa: BLE001  the client's own kinds, httpx's, and plain ones for a status
            raise self._as_stack_error(doing, error) from None

    def close(self) -> None:
        """Close the connections, and let the engine go with all that it holds."""
        if session := getattr(self, "_session", None):
            session.close()
        self._system.stop()

    def _settings(self) -> ClientSettings:
        given: dict[str, Any] = {"anonymized_telemetry": False}
        if not self._address.url:
            return _OwnSettings(chroma_api_impl=_EMBEDDED, is_persistent=False, **given)
        port = urlsplit(self._address.url).port or 8000  # wanted by the client, and not used with a whole address
        return _OwnSettings(
            chroma_api_impl=_OVER_HTTP, chroma_server_host=self._address.url, chroma_server_http_port=port, **given
        )

    def _as_stack_error(self, doing: str, error: Exception) -> StackError:
        host = urlsplit(self._address.url).netloc
        who = f"chroma at {host}" if host else "chroma"
        if isinstance(error, httpx.TimeoutException):
            return StackError(f"{who} did not {doing} within {self._address.timeout_s} s", retryable=True)
        if isinstance(error, httpx.TransportError):
            what = self._scrubbed(error) or type(error).__name__
            return StackError(f"{who} cannot be reached to {doing}: {what}; is it running?", retryable=True)
        status = _status(error)
        if status in _REFUSED:
            return StackError(
                f"{who} refused to {doing} (HTTP {status}); check the key in the variable that `key_env` names, "
                "`key_header`, `tenant` and `database`"
            )
        said = f"HTTP {status}: " if status is not None else f"{type(error).__name__}: "
        return StackError(f"{who} could not {doing}: {said}{self._scrubbed(error)}", retryable=status in _TEMPORARY)

    def _scrubbed(self, error: Exception) -> str:
        text = legible(error)
        return self._address.key.scrub(text) if self._address.key is not None else text


def _bounded(api: Any, address: Address) -> httpx.Client:
    """Give the client a session that waits at most `timeout_s` and carries the key; its own waits for ever."""
    own = getattr(api, "_session", None)
    if not isinstance(own, httpx.Client):
        raise StackError("this version of chromadb has no session that a time-out can be set on; install chromadb 1.5")
    headers = dict(own.headers)
    own.close()
    if address.key is not None:
        key = address.key.reveal()
        if not key.isascii() or not key.isprintable() or " " in key:
            raise InputError("chroma: the key holds a space, line break or non-ASCII character; check `key_env`")
        headers[address.key_header] = f"Bearer {key}" if address.key_header == "authorization" else key
    transport = connection_each(ssl.create_default_context())
    session = httpx.Client(headers=headers, timeout=address.timeout_s, transport=transport, trust_env=False)
    api._session = session
    return session


def _status(error: Exception) -> int | None:
    """Return the HTTP status behind an error: the client keeps it in its own kinds, or in what came before."""
    for one in (error.__context__, error):
        if isinstance(one, httpx.HTTPStatusError):
            return int(one.response.status_code)
    return error.code() if isinstance(error, ChromaError) else None
