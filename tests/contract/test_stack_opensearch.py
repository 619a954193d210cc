"""`opensearch` keeps every promise of a stack over a local server with the documented shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

pytest.importorskip("opensearchpy", reason="pip install 'ragassay[opensearch]'")

from ragassay.plugins.stacks.elastic.opensearch import OpenSearchStack
from ragassay.records import Secret
from ragassay.testing.elastic_server import TOKEN
from ragassay.testing.opensearch_server import OpenSearchServer
from ragassay.testing.stack_contract import StackContract


class OverOpenSearch(StackContract):
    """Each test has a server of its own."""

    stack = OpenSearchStack
    more: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with OpenSearchServer(key=TOKEN) as server:
            self.url = server.url
            yield

    def make_stack(self) -> OpenSearchStack:
        """Return a stack over the test's server."""
        return OpenSearchStack(url=self.url, key=Secret(TOKEN), **self.more)


class TestExact(OverOpenSearch):
    """The defaults: every vector compared by a script."""


class TestGraphByProduct(OverOpenSearch):
    """A graph of Lucene under inner products."""

    more: ClassVar[Mapping[str, Any]] = {"exact": False, "metric": "dot", "engine": "lucene"}


class TestText(OverOpenSearch):
    """BM25 alone, without an embedder."""

    more: ClassVar[Mapping[str, Any]] = {"search": "text", "k1": "1.5"}


class TestHybrid(OverOpenSearch):
    """Vectors and words, fused, with a depth that cuts both lists."""

    more: ClassVar[Mapping[str, Any]] = {"search": "hybrid", "depth": 7}
