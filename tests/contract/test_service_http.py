"""The stack `http` keeps the promises of a stack over a server: the how-to page's service, killed and restarted."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ragassay.testing.service_contract import ServiceContract, chunks_of_the_board
from ragassay.testing.service_gate import Gate

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "bring-your-own-retriever.md"


class Service(Gate):
    """The page's service in Python as a process of its own behind a gate; it is really killed, and started anew."""

    def __init__(self, folder: Path) -> None:
        code = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]
        self._files = (folder / "service.py", folder / "passages.jsonl")
        self._files[0].write_text(code, "utf-8")
        lines = [json.dumps({"id": chunk.id, "text": chunk.text}) for chunk in chunks_of_the_board()]
        self._files[1].write_text("\n".join(lines) + "\n", "utf-8")
        self._process: subprocess.Popen[str] | None = None
        super().__init__(0)

    def start(self) -> None:
        """Start the process, then open the gate to it."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, *map(str, self._files), "0"], stdout=subprocess.PIPE, text=True
            )
            assert self._process.stdout is not None
            port = re.findall(r":(\d+)", self._process.stdout.readline())[0]
            self.to_port = int(port)
        super().start()

    def stop(self) -> None:
        """Kill the process and close the gate."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()
        super().stop()


class TestHttpService(ServiceContract):
    """A real process; its index is its own."""

    kind = "http"
    params: ClassVar[dict[str, Any]] = {"timeout_s": 2}

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    @contextmanager
    def server(self) -> Iterator[Service]:
        """Start the service, and end it."""
        service = Service(self.folder)
        try:
            yield service
        finally:
            service.close()

    def connection(self, server: Service) -> dict[str, Any]:
        """Name the path too."""
        return {"url": f"{server.url}/search"}
