"""Milvus's client without what it does on the side: no `.env` file is read into the environment, nothing is printed."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import grpc

from ragassay.errors import RagassayError, StackError, legible
from ragassay.plugins.stacks.milvus.settings import Address
from ragassay.plugins.stacks.stored_index import PREFIX

_LOGGERS = ("pymilvus", "pymilvus.milvus_client", "pymilvus.bulk_writer", "milvus_lite")
_NOT_LOADED = (101, 103)
_UNREACHED = 2
"""The client's own number, which it gives without the status behind it."""
_TEMPORARY = (3, 4, 8, 9, 502, 503, 901)
"""Numbers of Milvus's errors: out of memory, too many requests, limited, moving."""
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
_PASSING = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.UNKNOWN,
)
_OPTIONS = {
    "grpc.enable_http_proxy": 0,  # the address is the board's, not the environment's
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
}


def _imported() -> Any:
    """Return the package `pymilvus`.

    On import it would put the lines of a `.env` file above it into the environment, and send its log, with every
    failed call in it, to the screen.
    """
    dotenv: Any = importlib.import_module("dotenv")
    theirs = dotenv.load_dotenv
    dotenv.load_dotenv = _nothing_loaded
    try:
        package = importlib.import_module("pymilvus")
    finally:
        dotenv.load_dotenv = theirs
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [one for one in logger.handlers if not isinstance(one, logging.StreamHandler)]
        logger.addHandler(logging.NullHandler())
    return package


def _nothing_loaded(*_: Any, **__: Any) -> bool:
    return False


pymilvus = _imported()


class Connection:
    """One client of one Milvus at `uri`, the server's or the engine's in this process; closed with `close`."""

    def __init__(self, address: Address, uri: str) -> None:
        self.address = address
        self._where = urlsplit(address.url).netloc
        with self.failing("connect"):
            self.client = pymilvus.MilvusClient(
                uri=uri,
                token=address.key.reveal() if address.key is not None else "",
                db_name=address.db if address.url else "",
                timeout=address.timeout_s,
                dedicated=True,
                # The last is how long one attempt to connect may take, whatever its name says.
                grpc_options={**_OPTIONS, "grpc.min_reconnect_backoff_ms": 1_000 * address.timeout_s},
            )
        try:
            with self.failing("say which version it is"):
                self.version = str(self.client.get_server_version(timeout=address.timeout_s))
        except BaseException:
            self.close()
            raise
        self.is_lite = self.version.startswith("milvus_lite")

    def others(self, name: str) -> tuple[str, ...]:
        """Return the collections of ragassay under other names than `name`, sorted."""
        with self.failing("list its collections"):
            names = self.client.list_collections(timeout=self.address.timeout_s)
        return tuple(sorted(one for one in names if one.startswith(PREFIX) and one != name))

    @contextmanager
    def failing(self, doing: str) -> Iterator[None]:
        """Turn what goes wrong while `doing` something into a `StackError` without the key."""
        try:
            yield
        except RagassayError:
            raise
        except Exception as error:  # noqa: BLE001  the client's own kinds, those of gRPC, and plain ones
            raise self._as_stack_error(doing, error) from None

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    def _as_stack_error(self, doing: str, error: Exception) -> StackError:
        who = f"milvus at {self._where}" if self._where else "milvus"
        status = _status(error)
        if status in _REFUSED:
            return StackError(f"{who} refused to {doing}; check the key in the variable that `key_env` names, and `db`")
        if status is grpc.StatusCode.DEADLINE_EXCEEDED:
            return StackError(f"{who} did not {doing} in time; raise timeout_s or index_timeout_s", retryable=True)
        said = self._scrubbed(error)
        if status is grpc.StatusCode.UNAVAILABLE or getattr(error, "code", None) == _UNREACHED:
            return StackError(f"{who} cannot be reached to {doing}: {said}; is it running?", retryable=True)
        temporary = status in _PASSING or getattr(error, "code", None) in _TEMPORARY
        temporary = temporary or getattr(error, "retriable", False) is True or is_not_loaded(error)
        return StackError(f"{who} could not {doing}: {said}", retryable=temporary)

    def _scrubbed(self, error: Exception) -> str:
        text = getattr(error, "message", None) or getattr(error, "_details", None) or legible(error)
        text = legible(Exception(str(text).partition("\nTraceback")[0]))
        return self.address.key.scrub(text) if self.address.key is not None else text


def is_not_loaded(error: Exception) -> bool:
    """Tell whether a collection was asked that is not in memory, as after a restart of the server."""
    return isinstance(error, pymilvus.MilvusException) and error.code in _NOT_LOADED


def _status(error: BaseException | None) -> grpc.StatusCode | None:
    """Return the status of the call behind an error: the client wraps some, and raises others from themselves."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        if isinstance(error, grpc.RpcError):
            code = error.code()
            return code if isinstance(code, grpc.StatusCode) else None
        seen.append(error)
        error = error.__cause__
    return None
