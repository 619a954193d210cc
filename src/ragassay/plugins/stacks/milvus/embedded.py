"""Milvus Lite, the engine in this process, over a folder: one for all rows that name the folder."""

from __future__ import annotations

import socket
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from milvus_lite import MilvusLite
from milvus_lite.adapter.grpc.servicer import MilvusServicer
from milvus_lite.exceptions import DataDirLockedError

from ragassay.errors import StackError
from ragassay.plugins.stacks.milvus.client import pymilvus
from ragassay.plugins.stacks.vector_index import raised_as_stack_error

_LARGEST_MESSAGE = 256 * 1024 * 1024
_THREADS = 10
_END_S = 10.0


class Engine:
    """An engine and the server in front of it, which the client speaks to; listens where only this user can reach."""

    def __init__(self, folder: Path) -> None:
        self._private = tempfile.TemporaryDirectory(prefix="ragassay-milvus-", ignore_cleanup_errors=True)
        try:
            self._base = MilvusLite(str(folder))
        except DataDirLockedError:
            self._private.cleanup()
            raise StackError(
                f"milvus: the folder {str(folder)!r} is in use by another process; wait for its end, or name another",
                retryable=True,
            ) from None
        except BaseException:
            self._private.cleanup()
            raise
        limits = [(f"grpc.max_{way}_message_length", _LARGEST_MESSAGE) for way in ("receive", "send")]
        self._pool = ThreadPoolExecutor(_THREADS)
        self._server = grpc.server(self._pool, options=limits)
        pymilvus.grpc_gen.milvus_pb2_grpc.add_MilvusServiceServicer_to_server(MilvusServicer(self._base), self._server)
        if hasattr(socket, "AF_UNIX"):
            self.uri = f"unix:{Path(self._private.name) / 's'}"
            self._server.add_insecure_port(self.uri)
        else:
            self.uri = f"http://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def close(self) -> None:
        """End the server, then the engine, which writes what it has in memory and unlocks the folder."""
        self._server.stop(grace=None).wait(_END_S)
        self._pool.shutdown()
        self._base.close()
        self._private.cleanup()


class Engines:
    """Engines by folder: a folder is opened once in a process, and closed when the last that opened it closes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[Path, tuple[Engine, int]] = {}

    def open(self, folder: Path) -> Engine:
        """Return the engine over a folder, which is made where there is none; raises `StackError`."""
        with self._lock, raised_as_stack_error("milvus", f"open the folder {str(folder)!r}"):
            folder.mkdir(parents=True, exist_ok=True)
            engine, users = self._open.get(folder.resolve(), (None, 0))
            engine = engine or Engine(folder.resolve())
            self._open[folder.resolve()] = (engine, users + 1)
            return engine

    def close(self, folder: Path) -> None:
        """Let go of the engine over a folder."""
        with self._lock:
            engine, users = self._open.pop(folder.resolve())
            if users > 1:
                self._open[folder.resolve()] = (engine, users - 1)
            else:
                engine.close()


ENGINES = Engines()
"""Of this process."""
