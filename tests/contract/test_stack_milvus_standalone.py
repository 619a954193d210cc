"""The stack `milvus` over the standalone server of the wheel `milvus`: both suites' promises that it can be held to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

pytest.importorskip("milvus", reason="pip install milvus, of 2023: it needs no container")
pytest.importorskip("pymilvus", reason="pip install 'ragassay[milvus]'")

from milvus_server import running_standalone
from ragassay.plugins.stacks.milvus import Milvus
from ragassay.seams import Stack
from ragassay.testing.stack_contract import StackContract

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run one server for all tests of this file."""
    with running_standalone(tmp_path_factory.mktemp("milvus")) as address:
        yield address


class Standalone(StackContract):
    """A server, where the second build finds the collection of the first."""

    stack = Milvus

    @pytest.fixture(autouse=True)
    def _url(self, url: str) -> None:
        self.url = url

    def make_stack(self) -> Stack:
        """Return a stack that reaches the server."""
        return Milvus(url=self.url, **self.params)


class TestStandaloneCosine(Standalone):
    """Every vector compared, cosine."""


class TestStandaloneDistance(Standalone):
    """Every vector compared, Euclidean distance negated, without waiting for the newest writes."""

    params: ClassVar[Mapping[str, Any]] = {"metric": "l2", "consistency": "eventually"}


class TestStandaloneScann(Standalone):
    """An index that Milvus Lite does not build, inner product."""

    params: ClassVar[Mapping[str, Any]] = {"metric": "ip", "index": "scann", "nlist": 2, "nprobe": 2}
