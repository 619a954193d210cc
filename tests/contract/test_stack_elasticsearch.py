"""`elasticsearch` keeps every promise of a stack over a local server with the documented shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

pytest.importorskip("elasticsearch", reason="pip install 'ragassay[elasticsearch]'")

from ragassay.plugins.stacks.elastic.elasticsearch import ElasticsearchStack
from ragassay.records import Secret
from ragassay.testing.elastic_server import TOKEN
from ragassay.testing.elasticsearch_server import ElasticsearchServer
from ragassay.testing.stack_contract import StackContract


class OverElasticsearch(StackContract):
    """Each test has a server of its own."""

    stack = ElasticsearchStack
    more: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with ElasticsearchServer(key=TOKEN) as server:
            self.url = server.url
            yield

    def make_stack(self) -> ElasticsearchStack:
        """Return a stack over the test's server."""
        return ElasticsearchStack(url=self.url, key=Secret(TOKEN), **self.more)


class TestExact(OverElasticsearch):
    """The defaults: every vector compared by a script."""


class TestGraphByDistance(OverElasticsearch):
    """A graph under Euclidean distances."""

    more: ClassVar[Mapping[str, Any]] = {"exact": False, "metric": "l2"}


class TestText(OverElasticsearch):
    """BM25 alone, without an embedder."""

    more: ClassVar[Mapping[str, Any]] = {"search": "text", "k1": "1.5"}


class TestHybrid(OverElasticsearch):
    """Vectors and words, fused, with a depth that cuts both lists."""

    more: ClassVar[Mapping[str, Any]] = {"search": "hybrid", "depth": 7}
