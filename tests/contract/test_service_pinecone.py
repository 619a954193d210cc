"""`pinecone` fails as a stack over a server must: its stand-in killed, slow, refusing, cut, and with other records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

pytest.importorskip("pinecone", reason="pip install 'ragassay[pinecone]'")

from ragassay.testing.pinecone_search import Record
from ragassay.testing.pinecone_server import Create, Held, PineconeServer, Serverless, Spec
from ragassay.testing.service_contract import KEY, ServiceContract
from ragassay.testing.service_gate import Gate

INDEX = "ragassay-contract"


class Served(Gate):
    """A gate before a stand-in server."""

    def __init__(self, behind: PineconeServer) -> None:
        super().__init__(behind.port)
        self.behind = behind


class TestPinecone(ServiceContract):
    """The client, over a local server made from the client's models."""

    kind = "pinecone"
    params: ClassVar[Mapping[str, Any]] = {"timeout_s": 1, "wait_s": 2, "index": INDEX}
    name_param = "namespace"

    @contextmanager
    def server(self) -> Iterator[Served]:
        """Give a gate before a server of its own."""
        with PineconeServer(key=KEY) as behind:
            gate = Served(behind)
            try:
                yield gate
            finally:
                gate.close()

    def make_foreign(self, server: Any, name: str) -> bool:
        """Put a record without ragassay's mark into the namespace."""
        spec = Spec(serverless=Serverless(cloud="aws", region="us-east-1"))
        index = Held(Create(name=INDEX, metric="cosine", spec=spec, dimension=64))
        index.spaces[name] = {"mine": Record(id="mine", values=[1.0] * 64)}
        server.behind.indexes[INDEX] = index
        return True

    def drop(self, server: Any, name: str) -> bool:
        """Remove the namespace from the server."""
        del server.behind.indexes[INDEX].spaces[name]
        return True
