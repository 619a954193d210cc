"""One client of a Qdrant server: its requests, and what the server says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

import httpx
from qdrant_client import QdrantClient

from ragassay.errors import StackError
from ragassay.plugins.http_faults import key_forms
from ragassay.plugins.stacks.connection_each import connection_each
from ragassay.plugins.stacks.qdrant.address import Address
from ragassay.plugins.stacks.qdrant.faults import RAISED, as_stack_error, is_not_found

OLDEST = (1, 16)
"""The first server whose collections hold metadata, where an index's digest is kept."""

_CHANNEL = {
    "grpc.enable_http_proxy": 0,
    # A server that is started again is found again at once: by default a channel waits up to two minutes for it.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.min_reconnect_backoff_ms": 5000,  # how long one attempt to connect may take
    "grpc.max_reconnect_backoff_ms": 200,
}

_HERE = ("localhost", "127.0.0.1")
"""Where the client keeps no connection for the next request, to save a delay; this stack leaves it at that."""

T = TypeVar("T")


class Connection:
    """Asks one server, from any thread; proxies named by the environment are not used, redirects not followed."""

    def __init__(self, address: Address) -> None:
        self._host = urlsplit(address.url).netloc
        self._secrets = key_forms(address.key)
        # The key goes as a header and not as `api_key`, which warns of every http address, those of this machine too.
        self.client = QdrantClient(
            url=address.url,
            grpc_port=address.grpc_port,
            prefer_grpc=address.transport == "grpc",
            headers={"api-key": address.key.reveal()} if address.key else None,
            timeout=address.timeout_s,
            check_compatibility=False,
            grpc_options=dict(_CHANNEL),  # the client writes into it
            trust_env=False,
            transport=connection_each(
                httpx.create_ssl_context(trust_env=False), keep=urlsplit(address.url).hostname not in _HERE
            ),
        )

    def asked(self, doing: str, request: Callable[[], T]) -> T:
        """Return what a request returns; raises `StackError`, `retryable` where asking again may help."""
        try:
            return request()
        except RAISED as error:
            fault = as_stack_error(error, doing, self._host, self._secrets)
        raise fault  # outside: the client's errors hold the request with its key

    def found(self, doing: str, request: Callable[[], T]) -> T | None:
        """Return as `asked`, None where the server has no such collection."""
        try:
            return request()
        except RAISED as error:
            if is_not_found(error):
                return None
            fault = as_stack_error(error, doing, self._host, self._secrets)
        raise fault

    def server_version(self) -> str:
        """Return the version that the server's root says; raises `StackError` for one that is too old."""
        info = self.asked("say its version", self.client.info)
        if "qdrant" not in info.title.lower():
            raise StackError(f"{self._host} is no Qdrant server: it calls itself {info.title[:80]!r}; check url")
        numbers = tuple(int(part) for part in info.version.split(".")[:2] if part.isdecimal())
        if numbers < OLDEST:
            raise StackError(
                f"qdrant at {self._host} is version {info.version[:40]!r}; an index's digest is kept in the metadata "
                "of its collection, which servers have from 1.16 on: use a newer server"
            )
        return str(info.version)

    def collections(self) -> list[str]:
        """Return the names of all collections that the key may see."""
        listed = self.asked("list its collections", self.client.get_collections)
        return [one.name for one in listed.collections]

    def close(self) -> None:
        """Close all connections."""
        self.client.close()
