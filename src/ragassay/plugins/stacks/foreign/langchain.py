"""LangChain: any retriever, named by import path and filled with the board's chunks or by its owner."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, ClassVar

from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.vectorstores import VectorStore
from langsmith import tracing_context

from ragassay.errors import StackError
from ragassay.plugins.stacks.foreign.retriever import Asked, Found, found, metadata_of
from ragassay.plugins.stacks.foreign.settings import Settings
from ragassay.plugins.stacks.foreign.stack import ForeignStack
from ragassay.records import Chunk


class LangChain(ForeignStack):
    """Takes `retriever` (module:attribute), `corpus` (board or own) and `concurrent`; the score of a rank is 1/rank."""

    kind: ClassVar[str] = "langchain"
    noun: ClassVar[str] = "LangChain retriever"
    package: ClassVar[str] = "langchain-core"
    scores: ClassVar[tuple[str, ...]] = ("rank",)

    def documents(self, chunks: Sequence[Chunk]) -> list[Any]:
        """Return LangChain documents, `id` and metadata of the chunks."""
        return [Document(id=one.id, page_content=one.text, metadata=metadata_of(one)) for one in chunks]

    def is_retriever(self, found: Any) -> bool:
        """Tell whether it is a `BaseRetriever`, or another `Runnable` that may return documents."""
        return isinstance(found, Runnable)

    def advice(self, found: Any) -> str:
        """Name the method that makes a retriever of a vector store."""
        return "; return vector_store.as_retriever()" if isinstance(found, VectorStore) else ""

    def asked(self, retriever: Any) -> Asked:
        """Give k as the argument `k`, else on a copy as its field `k`, `top_k` or in `search_kwargs`, else cut."""
        if isinstance(retriever, BaseRetriever):
            takes = inspect.signature(type(retriever)._get_relevant_documents).parameters
            if "k" in takes or any(one.kind is one.VAR_KEYWORD for one in takes.values()):
                return Asked(lambda text, k: _documents(retriever.invoke(text, k=k)), "argument k")
            fields = type(retriever).model_fields
            for name in ("k", "top_k"):
                if name in fields:
                    return Asked(_asking_a_copy(retriever, partial(_field, name)), f"field {name}")
            if isinstance(kept := getattr(retriever, "search_kwargs", None), Mapping):
                return Asked(_asking_a_copy(retriever, partial(_search_kwargs, kept)), "search_kwargs")
        return Asked(lambda text, _k: _documents(retriever.invoke(text)), "cut")

    def reader(self) -> Settings:
        """Read pydantic's fields, and stores and embeddings through their constructors."""
        return Settings((Runnable, VectorStore, Embeddings, BaseDocumentCompressor), (Document,))

    def quiet(self) -> AbstractContextManager[Any]:
        """Switch LangSmith's tracing off, whatever the environment says."""
        off: AbstractContextManager[Any] = tracing_context(enabled=False)
        return off


def _asking_a_copy(retriever: Any, update: Callable[[int], dict[str, Any]]) -> Callable[[str, int], list[Found]]:
    """Return a function that asks a shallow copy that is set to k: the retriever itself may be asked elsewhere."""
    made: dict[int, Any] = {}

    def ask(text: str, k: int) -> list[Found]:
        if k not in made:
            made[k] = retriever.model_copy(update=update(k))
        return _documents(made[k].invoke(text))

    return ask


def _field(name: str, k: int) -> dict[str, Any]:
    return {name: k}


def _search_kwargs(kept: Mapping[str, Any], k: int) -> dict[str, Any]:
    return {"search_kwargs": {**kept, "k": k}}


def _documents(returned: Any) -> list[Found]:
    if not isinstance(returned, list | tuple):
        raise StackError(f"the retriever returned {type(returned).__name__}, not a list of documents")
    for one in returned:
        if not isinstance(one, Document):
            raise StackError(f"the retriever returned {type(one).__name__} among its documents")
    return [found(one.id, one.metadata, one.page_content, None) for one in returned]
