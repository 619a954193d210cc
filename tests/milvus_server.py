"""Real Milvus servers for tests: Milvus Lite behind its gRPC in this process, as a child, and the standalone one."""

from __future__ import annotations

import base64
import importlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from milvus_lite import MilvusLite
from milvus_lite.adapter.grpc.servicer import MilvusServicer

from ragassay.plugins.stacks.milvus.client import pymilvus
from ragassay.testing.service_gate import Gate

PROGRAM = Path(sys.executable).with_name("milvus-lite")
"""What the wheel of milvus-lite installs beside the interpreter."""
START_S = 180.0


class Guard(grpc.ServerInterceptor):  # type: ignore[misc]  # grpc has no types here
    """Refuses what does not bring the key, in the words of a Milvus server; Milvus Lite itself knows no key."""

    def __init__(self) -> None:
        self.key: str | None = None
        """Of whoever may ask; None for everybody."""

    def intercept_service(self, continuation: Callable[[Any], Any], details: Any) -> Any:
        """Pass the call on, or refuse it."""
        brought = dict(details.invocation_metadata).get("authorization", "")
        if self.key is None or base64.b64decode(brought).decode() == self.key:
            return continuation(details)
        return grpc.unary_unary_rpc_method_handler(_refused)


def _refused(_: Any, context: Any) -> None:
    context.abort(grpc.StatusCode.UNAUTHENTICATED, "auth check failure, please check api key is correct")


class LiteService(Gate):
    """Milvus Lite over a folder, behind a gate: `stop` ends it in the middle, `start` opens the folder again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.guard = Guard()
        self._server: Any = None
        self._base: Any = None
        self._open_folder()
        super().__init__(self.to_port)

    def _open_folder(self) -> None:
        self._base = MilvusLite(str(self.folder))
        self._server = grpc.server(ThreadPoolExecutor(4), interceptors=(self.guard,))
        pymilvus.grpc_gen.milvus_pb2_grpc.add_MilvusServiceServicer_to_server(MilvusServicer(self._base), self._server)
        self.to_port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def start(self) -> None:
        """Open the folder and the gate to it."""
        if self._server is None:
            self._open_folder()
        super().start()

    def stop(self) -> None:
        """Close the gate and the folder."""
        super().stop()
        server, self._server = self._server, None
        if server is not None:
            server.stop(grace=None).wait(10)
            self._base.close()

    def refuse(self, on: bool) -> None:
        """Take no key, or any."""
        self.guard.key = "another-key" if on else None


class Child:
    """`milvus-lite server` over a folder, as a process of its own that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it is reached."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        place = ["--data-dir", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        command = [str(PROGRAM), "server", *place]
        self._child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + START_S
        while not listens(self.port):
            if self._child.poll() is not None or time.monotonic() > end:
                self.kill()
                raise RuntimeError("the Milvus Lite server did not start")
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill it, and wait until it is gone; does nothing where it does not run."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()


@contextmanager
def running_lite(folder: Path) -> Iterator[Child]:
    """Yield a server that runs, over `folder`; it is killed behind the test."""
    child = Child(folder)
    child.start()
    try:
        yield child
    finally:
        child.kill()


@contextmanager
def running_standalone(folder: Path) -> Iterator[str]:
    """Yield the address of the standalone server of the wheel `milvus`, over an empty folder; it is ended behind."""
    milvus = importlib.import_module("milvus")  # of whoever runs this; it is in no extra
    server = milvus.MilvusServer(data_dir=str(folder))
    server.config.set("proxy_port", free_port())
    server.start()
    process = server.server_proc
    try:
        yield f"http://127.0.0.1:{server.config.get('proxy_port')}"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        server.server_proc = None


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Tell whether something takes connections."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
