"""`pinecone` keeps every promise of a stack, its own client over a local server made from the client's models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

pytest.importorskip("pinecone", reason="pip install 'ragassay[pinecone]'")

from ragassay.plugins.stacks.pinecone import Pinecone
from ragassay.records import Secret
from ragassay.testing.pinecone_server import KEY, PineconeServer
from ragassay.testing.stack_contract import StackContract


class OverPinecone(StackContract):
    """Each test has a server of its own, on which what is written is seen a little later."""

    stack = Pinecone
    more: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with PineconeServer(lag_s=0.01) as server:
            self.url = server.url
            yield

    def make_stack(self) -> Pinecone:
        """Return a stack over the test's server."""
        return Pinecone(key=Secret(KEY), url=self.url, wait_s=20, **self.more)


class TestEuclidean(OverPinecone):
    """Squared distances."""

    more: ClassVar[Mapping[str, Any]] = {"metric": "euclidean"}


class TestSparse(OverPinecone):
    """Dense products and token weights, added up."""

    more: ClassVar[Mapping[str, Any]] = {"metric": "dotproduct", "sparse": True}
