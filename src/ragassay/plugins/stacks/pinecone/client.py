"""Pinecone's own client, held to one attempt per call, with every fault of it as a `StackError` without the key."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import pinecone

from ragassay.errors import StackError
from ragassay.plugins.http_faults import excerpt, key_forms
from ragassay.plugins.stacks.connection_each import connection_each
from ragassay.records import Secret

ATTEMPTS = 5
_POLL_S = (0.05, 5.0)
# Without a header of ours the client takes headers from the variable PINECONE_ADDITIONAL_HEADERS.
_HEADERS = {"Accept": "application/json"}

T = TypeVar("T")


def client_version() -> str:
    """Return the version of the client."""
    return version("pinecone")


class PineconeClient:
    """Asks one project, from any thread; connections are kept until `close`.

    `once` makes a call one time; `patiently` repeats it while asking again may help, for `wait_s` in all.
    """

    def __init__(self, url: str, key: Secret, *, timeout_s: int, wait_s: int) -> None:
        self._key = key
        self._secrets = key_forms(key)
        self._timeout_s = timeout_s
        self._wait_s = wait_s
        self._named = urlsplit(url).netloc
        self._lock = threading.Lock()
        self._indexes: dict[str, Any] = {}
        self._control = pinecone.Pinecone(
            key.reveal(),
            host=url,
            additional_headers=_HEADERS,
            timeout=timeout_s,
            retry_config=pinecone.RetryConfig(max_retries=0),
        )

    def names(self) -> list[str]:
        """Return the names of all indexes of the project."""
        return [str(index.name) for index in self.patiently(self._control.indexes.list)]

    def described(self, name: str) -> Any:
        """Return the client's model of an index, None where there is none of that name."""

        def describe() -> Any:
            try:
                return self._control.indexes.describe(name)
            except pinecone.NotFoundError:
                return None

        return self.patiently(describe)

    def create(self, name: str, dimension: int, metric: str, cloud: str, region: str) -> None:
        """Make a serverless index; one that somebody made in the meantime is left as it is."""

        def make() -> None:
            try:
                spec = pinecone.ServerlessSpec(cloud=cloud, region=region)
                self._control.indexes.create(name=name, spec=spec, dimension=dimension, metric=metric, timeout=-1)
            except pinecone.ConflictError:
                return

        self.patiently(make)

    def ready(self, name: str) -> Any:
        """Return the model of an index when it can be used; raises `StackError` after `wait_s`."""

        def check() -> Any:
            model = self.described(name)
            if model is None:
                raise StackError(f"{self._named} has no index {name!r}")
            if model.status.state in ("InitializationFailed", "Terminating", "Disabled"):
                raise StackError(f"the index {name!r} is in the state {model.status.state} on {self._named}")
            return model if model.status.ready and model.host else None

        return self.waited_for(check, f"the index {name!r} was not ready")

    def index(self, name: str) -> Any:
        """Return the client of one index; its host is asked for once."""
        with self._lock:
            if name not in self._indexes:
                host = self.ready(name).host
                made = pinecone.Index(
                    host=host, api_key=self._key.reveal(), additional_headers=_HEADERS, timeout=self._timeout_s
                )
                self._indexes[name] = _asking_once(made)
            return self._indexes[name]

    def once(self, call: Callable[[], T]) -> T:
        """Return what a call of the client returns, or raise its fault."""
        try:
            return call()
        except pinecone.PineconeError as error:
            fault = self._fault(error)  # raised below, outside: what the client raises may hold its request
        raise fault

    def patiently(self, call: Callable[[], T]) -> T:
        """Return what a call of the client returns; rate limits and faults that may pass are waited out."""
        until = time.monotonic() + self._wait_s
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return call()
            except pinecone.PineconeError as error:
                fault, asked_s = self._fault(error), getattr(error, "retry_after", None)
            pause_s = asked_s if asked_s is not None else 0.25 * 2**attempt
            if not fault.retryable or attempt == ATTEMPTS or time.monotonic() + pause_s > until:
                raise fault
            time.sleep(pause_s)
        raise AssertionError("unreachable")

    def waited_for(self, check: Callable[[], T | None], otherwise: str) -> T:
        """Return what `check` returns when it is not None; raises `StackError` after `wait_s`."""
        until, (pause_s, longest_s) = time.monotonic() + self._wait_s, _POLL_S
        while (found := check()) is None:
            if time.monotonic() + pause_s > until:
                raise StackError(
                    f"pinecone: {otherwise} within {self._wait_s} s. Run again: it goes on from there", retryable=True
                )
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, longest_s)
        return found

    def close(self) -> None:
        """Close all connections; may be called twice."""
        with self._lock:
            indexes, self._indexes = self._indexes, {}
        for index in indexes.values():
            index.close()
        self._control.close()

    def _fault(self, error: Exception) -> StackError:
        status = getattr(error, "status_code", 0)
        said = excerpt(str(error), self._secrets) or type(error).__name__
        if isinstance(error, pinecone.PineconeTimeoutError):
            return StackError(f"{self._named}: no reply within {self._timeout_s} s ({said})", retryable=True)
        if isinstance(error, pinecone.PineconeConnectionError):
            return StackError(f"{self._named}: the connection failed: {said}", retryable=True)
        if isinstance(error, pinecone.ResponseParsingError):
            return StackError(f"{self._named} sent a reply outside the client's form: {said}")
        passing = status in (408, 429) or status >= 500
        return StackError(f"{self._named}: {said}{_ADVICE.get(status, '')}", retryable=passing)


_ADVICE: Mapping[int, str] = {
    401: "; check the key in the environment variable that `key_env` names",
    403: "; check the key in the environment variable that `key_env` names, and the limits of the project's plan",
    404: "; check url, index and namespace",
}


def _asking_once(index: Any) -> Any:
    """Take the retries out of an index's client, and give each request a connection: it offers settings for neither.

    With its own four attempts, each of them waiting up to a minute and a half as the service asks, a search would be
    given up by the runner while it is still under way.
    """
    try:
        transport = index._http._client._transport
        transport._config = replace(transport._config, max_retries=0)
        shared = transport._transport
        options = shared._pool._socket_options or ()
        transport._transport = connection_each(httpx.create_ssl_context(), socket_options=options)
        shared.close()
    except (AttributeError, TypeError) as error:
        index.close()
        raise StackError(
            f"pinecone {client_version()} keeps its retries elsewhere than version 9.1 does; install pinecone 9.1"
        ) from error
    return index
