"""The stack `weaviate` over its stand-in server, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from ragassay.errors import StackError
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.plugins.stacks.weaviate import Weaviate
from ragassay.records import Secret
from ragassay.seams import Embedder
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_cases import TEXTS
from ragassay.testing.stack_contract import corpus, ignore_progress
from ragassay.testing.weaviate_server import GrpcFault, WeaviateServer

KEY = "a-key-of-the-tests"
NAME = "Ragassay_mine"
QUESTION = "Where does the quick fox jump?"


def stack(server: WeaviateServer, **params: Any) -> Weaviate:
    """Return a stack on the server, with short limits."""
    given = {"url": server.url, "grpc_port": server.grpc_port, "collection": NAME, "timeout_s": 2, "wait_s": 2}
    return Weaviate(key=Secret(KEY), **{**given, **params})


@contextmanager
def built(
    server: WeaviateServer, texts: Sequence[str] = TEXTS, embedder: Embedder | None = None, **params: Any
) -> Iterator[VectorIndex]:
    """Give a built stack and close it afterwards."""
    retriever = stack(server, **params).build(corpus(texts), {"embedder": embedder or WordEmbedder()}, ignore_progress)
    try:
        yield retriever
    finally:
        retriever.close()


def refused(server: WeaviateServer, **params: Any) -> StackError:
    """Return the error with which the stack is not built."""
    with pytest.raises(StackError) as caught, built(server, **params):
        pass
    assert KEY not in str(caught.value)
    return caught.value


def failed(retriever: VectorIndex) -> StackError:
    """Return the error of a search."""
    with pytest.raises(StackError) as caught:
        retriever.search(QUESTION, 3)
    assert KEY not in str(caught.value)
    return caught.value


def changed(edit: Callable[[Any], None]) -> GrpcFault:
    """Return a fault that edits a reply."""

    def edited(reply: Any) -> Any:
        edit(reply)
        return reply

    return GrpcFault(changed=edited)


def searches(server: WeaviateServer) -> list[Any]:
    """Return a list of the requests that are searched for from now on."""
    asked: list[Any] = []
    search = server._search

    def noted(request: Any) -> Any:
        asked.append(request)
        return search(request)

    server._search = noted  # type: ignore[method-assign]
    return asked
