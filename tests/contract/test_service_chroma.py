"""The stack `chroma` keeps the promises of a stack over a server: a real one, killed, slow, cut short and refusing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("chromadb", reason="pip install 'ragassay[chroma]'")

import httpx

from chroma_server import ChromaServer
from ragassay.testing.service_contract import ServiceContract
from ragassay.testing.service_gate import Gate

COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"


class Service(Gate):
    """A Chroma server behind a gate: `stop` kills the process, `start` starts another over the same folder."""

    def __init__(self, folder: Path) -> None:
        self._server = ChromaServer(folder)
        super().__init__(self._server.port)

    def start(self) -> None:
        """Start the process, then open the gate to it."""
        self._server.start()
        super().start()

    def stop(self) -> None:
        """Kill the process and close the gate."""
        self._server.stop()
        super().stop()


class TestChromaService(ServiceContract):
    """The server of the wheel."""

    kind = "chroma"
    params: ClassVar[dict[str, Any]] = {"timeout_s": 1}
    name_param = "collection"

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    @contextmanager
    def server(self) -> Iterator[Service]:
        """Start a server over an empty folder, and end it."""
        service = Service(self.folder)
        try:
            yield service
        finally:
            service.close()

    def make_foreign(self, server: Service, name: str) -> bool:
        """Make a collection as anybody would."""
        httpx.post(server.url + COLLECTIONS, json={"name": name}).raise_for_status()
        return True

    def drop(self, server: Service, name: str) -> bool:
        """Delete the collection."""
        httpx.delete(f"{server.url}{COLLECTIONS}/{name}").raise_for_status()
        return True
