"""The stack `chroma` keeps the promises of the contract suite: its engine in this process, and a real server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

pytest.importorskip("chromadb", reason="pip install 'ragassay[chroma]'")

from chroma_server import running_chroma
from ragassay.plugins.stacks.chroma import Chroma
from ragassay.seams import Stack
from ragassay.testing.stack_contract import StackContract


class TestChromaCosine(StackContract):
    """The engine in this process, exact cosine."""

    stack = Chroma


@pytest.mark.slow
class TestChromaDistance(StackContract):
    """The engine in this process, Euclidean distance negated."""

    stack = Chroma
    params: ClassVar[Mapping[str, Any]] = {"metric": "l2"}


@pytest.mark.slow
class TestChromaProduct(StackContract):
    """The engine in this process, dot product of vectors that are not normalised."""

    stack = Chroma
    params: ClassVar[Mapping[str, Any]] = {"metric": "ip"}


class TestChromaGraph(StackContract):
    """The engine in this process, its graph as it is, built one vector after the other."""

    stack = Chroma
    params: ClassVar[Mapping[str, Any]] = {"exact": False, "batch": 1, "max_neighbors": 8, "ef_search": 40}


class TestChromaServer(StackContract):
    """A server, where the second build finds the index of the first."""

    stack = Chroma
    _url: ClassVar[str]

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def server(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        """Run one server for all tests of the class."""
        with running_chroma(tmp_path_factory.mktemp("chroma")) as server:
            cls._url = server.url
            yield

    def make_stack(self) -> Stack:
        """Return a stack that reaches the server."""
        return Chroma(url=self._url)
