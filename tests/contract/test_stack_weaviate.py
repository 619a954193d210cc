"""`weaviate` keeps every promise of a stack, its own client over a local server made from the client's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

pytest.importorskip("weaviate", reason="pip install 'ragassay[weaviate]'")

from ragassay.plugins.stacks.weaviate import Weaviate
from ragassay.records import Secret
from ragassay.testing.stack_contract import StackContract
from ragassay.testing.weaviate_server import WeaviateServer

KEY = "a-key-of-the-tests"


class OverWeaviate(StackContract):
    """Each test has a server of its own."""

    stack = Weaviate

    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with WeaviateServer(key=KEY) as server:
            self._address: dict[str, Any] = {"url": server.url, "grpc_port": server.grpc_port}
            yield

    def make_stack(self) -> Weaviate:
        """Return a stack over the test's server."""
        return Weaviate(key=Secret(KEY), **self.params, **self._address)


class TestFlatCosine(OverWeaviate):
    """The defaults."""


class TestFlatDot(OverWeaviate):
    """The dot product."""

    params: ClassVar[Mapping[str, Any]] = {"metric": "dot"}


class TestFlatSquared(OverWeaviate):
    """Squared distances."""

    params: ClassVar[Mapping[str, Any]] = {"metric": "l2-squared"}


class TestGraph(OverWeaviate):
    """HNSW with the server's dynamic ef."""

    params: ClassVar[Mapping[str, Any]] = {"index": "hnsw", "ef": -1}


class TestText(OverWeaviate):
    """BM25."""

    params: ClassVar[Mapping[str, Any]] = {"search": "text"}


class TestHybrid(OverWeaviate):
    """Both, by their scores."""

    params: ClassVar[Mapping[str, Any]] = {"search": "hybrid"}


class TestHybridRanked(OverWeaviate):
    """Both, by their ranks, words of three letters."""

    params: ClassVar[Mapping[str, Any]] = {"search": "hybrid", "fusion": "ranked", "tokenization": "trigram"}
