"""`vectorize` keeps every promise of a stack over a local server with the documented shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from ragassay.plugins.stacks.vectorize import Vectorize
from ragassay.records import Secret
from ragassay.testing.stack_contract import StackContract
from ragassay.testing.vectorize_server import ACCOUNT, TOKEN, VectorizeServer


class OverVectorize(StackContract):
    """Each test has a server of its own, which makes changes a little after it accepted them."""

    stack = Vectorize
    more: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with VectorizeServer(lag_s=0.01) as server:
            self.url = server.base_url
            yield

    def make_stack(self) -> Vectorize:
        """Return a stack over the test's server."""
        return Vectorize(account_id=ACCOUNT, key=Secret(TOKEN), url=self.url, **self.more)


class TestCosine(OverVectorize):
    """The defaults."""


class TestEuclideanPrecise(OverVectorize):
    """Distances, with values returned."""

    more: ClassVar[Mapping[str, Any]] = {"metric": "euclidean", "precision": "high"}


class TestDotProductFiltered(OverVectorize):
    """Negative dot products, in a namespace, under a filter that lets some chunks through."""

    more: ClassVar[Mapping[str, Any]] = {
        "metric": "dot-product",
        "namespace": "docs",
        "filter": {"page": {"$nin": ["page-0.md", "page-3.md"]}, "end": {"$gt": 20}},
    }
