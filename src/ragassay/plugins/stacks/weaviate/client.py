"""Weaviate's own client: one attempt per call, no call to anybody but the server, every fault a `StackError`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any, TypeVar

import grpc

from ragassay.errors import StackError
from ragassay.plugins.http_faults import key_forms
from ragassay.plugins.stacks.weaviate.faults import as_stack_error
from ragassay.plugins.stacks.weaviate.settings import Settings, http_place
from ragassay.records import JSON, Secret

with warnings.catch_warnings():  # imported, the client sets the whole process's filter to show every warning
    import weaviate
    from weaviate.auth import Auth
    from weaviate.config import AdditionalConfig, GrpcConfig, Timeout
    from weaviate.connect.base import ConnectionParams

OLDEST = (1, 29)
"""The first server that counts objects over gRPC."""

_CHANNEL = [
    ("grpc.enable_http_proxy", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5000),  # how long one attempt to connect may take
    ("grpc.max_reconnect_backoff_ms", 200),
]
_AGAIN_S = 0.5
"""How long a call waits for a server that has just broken the connection off, as one does that is started again."""

ATTEMPTS = 5
"""How often a build asks for one thing; a search is asked for once."""

_PAUSE_S = 0.5

T = TypeVar("T")


def client_version() -> str:
    """Return the version of the client."""
    return version("weaviate-client")


class BatchRefused(Exception):
    """Objects of one batch that the server did not store: what it said, by their place in the batch."""

    def __init__(self, errors: Mapping[int, str]) -> None:
        self.errors = dict(errors)
        super().__init__(f"{len(errors)} objects of a batch, the first: {next(iter(errors.values()), '')}")


class WeaviateConnection:
    """Asks one server, from any thread; proxies named by the environment are not used, redirects not followed."""

    def __init__(self, settings: Settings, key: Secret | None) -> None:
        host, port = http_place(settings.url)
        self._host = f"{host}:{port}"
        self._secrets = key_forms(key)
        self._wait_s = settings.wait_s
        self.client = weaviate.WeaviateClient(
            connection_params=ConnectionParams.from_params(
                http_host=host,
                http_port=port,
                http_secure=settings.url.startswith("https://"),
                grpc_host=settings.grpc_host,
                grpc_port=settings.grpc_port,
                grpc_secure=settings.grpc_secure,
            ),
            auth_client_secret=Auth.api_key(key.reveal()) if key else None,
            additional_config=AdditionalConfig(
                timeout=Timeout(query=settings.timeout_s, insert=settings.timeout_s, init=settings.timeout_s),
                grpc_config=GrpcConfig(channel_options=_CHANNEL),
                trust_env=False,
            ),
            skip_init_checks=True,  # with its checks the client asks a package index for its newest version
        )
        self._wire = _asking_once(self.client, settings.timeout_s)

    def open(self) -> str:
        """Connect, and return the server's version; raises `StackError` for one that is too old or no Weaviate."""
        self.asked("say its version", self.client.connect)
        said = str(self._wire.server_version)
        numbers = tuple(int(part) for part in said.split(".")[:2] if part.isdecimal())
        if numbers < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise StackError(f"{self._host} is Weaviate {said}; this stack needs {oldest} or newer")
        return said

    def asked(self, doing: str, request: Callable[[], T]) -> T:
        """Return what a request returns; raises `StackError`, `retryable` where asking again may help."""
        try:
            return request()
        except Exception as error:  # noqa: BLE001 - kinds of its own, gRPC's, httpx's, and whatever a strange reply leads to
            fault = as_stack_error(error, doing, self._host, self._secrets)
        raise fault  # outside: the client's errors hold the request with its key

    def patiently(self, doing: str, request: Callable[[], T]) -> T:
        """Return as `asked`; a fault that may pass is waited out, for `wait_s` in all."""
        until, pause_s = time.monotonic() + self._wait_s, _PAUSE_S
        for _ in range(ATTEMPTS - 1):
            try:
                return self.asked(doing, request)
            except StackError as error:
                if not error.retryable or time.monotonic() + pause_s > until:
                    raise
            time.sleep(pause_s)
            pause_s *= 2
        return self.asked(doing, request)

    def class_of(self, name: str) -> JSON | None:
        """Return the definition of a collection as the server holds it, None where there is none of that name."""
        found = self._get(f"/schema/{name}", (200, 404))
        return None if found is None else dict(found)

    def class_names(self) -> list[str]:
        """Return the names of all collections."""
        return [str(one["class"]) for one in (self._get("/schema", (200,)) or {}).get("classes") or []]

    def shards(self, name: str) -> list[JSON]:
        """Return what the server says of the shards of a collection."""
        return list(self._get(f"/schema/{name}/shards", (200,)) or [])

    def close(self) -> None:
        """Close all connections."""
        self.client.close()

    def _get(self, path: str, wanted: tuple[int, ...]) -> Any:
        def get() -> Any:
            reply = self._wire.get(path=path)
            if reply.status_code not in wanted:
                raise weaviate.exceptions.UnexpectedStatusCodeError(f"GET {path}", reply)
            return None if reply.status_code == 404 else reply.json()

        return self.asked(f"answer GET /v1{path}", get)


def _asking_once(client: Any, timeout_s: float) -> Any:
    """Take the retries out of a client and return its connection; the client offers no setting for them.

    It asks six times, and waits 63 seconds in all, before it says that a server cannot be reached: a search would be
    given up by the runner while it is still under way. What it then raises has lost the code of the failure.
    """
    wire = getattr(client, "_connection", None)
    needed = ("grpc_search", "grpc_aggregate", "grpc_batch_objects", "grpc_headers", "grpc_stub", "get")
    if wire is None or not all(hasattr(type(wire), name) for name in needed):
        raise StackError(
            f"weaviate-client {client_version()} keeps its connection elsewhere than version 4.24 does; install 4.24"
        )

    def call(method: str, request: Any) -> Any:
        ask = partial(getattr(wire.grpc_stub, method), request, metadata=wire.grpc_headers())
        try:
            return ask(timeout=timeout_s)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            broken = error
        try:
            return ask(timeout=min(_AGAIN_S, timeout_s), wait_for_ready=True)
        except grpc.RpcError as error:
            raise (broken if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED else error) from None

    def write(request: Any, **_limits: object) -> dict[int, str]:
        errors = {error.index: error.error for error in call("BatchObjects", request).errors}
        if errors:  # before the client writes them, with the objects, into its log
            raise BatchRefused(errors)
        return errors

    wire.grpc_search = partial(call, "Search")
    wire.grpc_aggregate = partial(call, "Aggregate")
    wire.grpc_batch_objects = write
    return wire
