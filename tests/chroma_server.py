"""A real Chroma server for tests, started as a child on a free port, killed and started again at will."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("chroma")
"""What the wheel of chromadb installs beside the interpreter."""
START_S = 30.0


class ChromaServer:
    """One server over one folder; `stop` and `start` again keep address and data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it is reached."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        command = [str(PROGRAM), "run", "--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + START_S
        while not _listens(self.port):
            if self._child.poll() is not None:
                raise RuntimeError(f"the Chroma server ended at once with code {self._child.returncode}")
            if time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"the Chroma server did not listen within {START_S:g} s")
            time.sleep(0.02)

    def stop(self) -> None:
        """Kill it, and wait until it is gone; does nothing where it does not run."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()


@contextmanager
def running_chroma(folder: Path) -> Iterator[ChromaServer]:
    """Yield a server that runs, over `folder`; it is killed behind the test."""
    server = ChromaServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
