"""The stack `milvus` keeps the promises of a stack over a server: Milvus Lite's, stopped, slow, cut short, refusing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("milvus_lite", reason="pip install 'ragassay[milvus]'")
pytest.importorskip("pymilvus", reason="pip install 'ragassay[milvus]'")

from milvus_server import LiteService
from ragassay.plugins.stacks.milvus.client import pymilvus
from ragassay.testing.service_contract import ServiceContract


class TestMilvusService(ServiceContract):
    """Milvus Lite behind its own gRPC, and a guard before it that asks for the key as a Milvus server does."""

    kind = "milvus"
    params: ClassVar[dict[str, Any]] = {"timeout_s": 2}
    name_param = "collection"

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    @contextmanager
    def server(self) -> Iterator[LiteService]:
        """Open an empty folder and the gate to it."""
        service = LiteService(self.folder / "data")
        try:
            yield service
        finally:
            service.close()

    def make_foreign(self, server: LiteService, name: str) -> bool:
        """Make a collection as anybody would."""
        client = pymilvus.MilvusClient(server.url, dedicated=True)
        client.create_collection(name, dimension=4)
        client.close()
        return True

    def drop(self, server: LiteService, name: str) -> bool:
        """Delete the collection."""
        client = pymilvus.MilvusClient(server.url, dedicated=True)
        client.drop_collection(name)
        client.close()
        return True
