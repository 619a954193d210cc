"""LlamaIndex: any retriever, named by import path and filled with the board's chunks or by its owner."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.indices.base import BaseIndex
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from ragassay.errors import StackError
from ragassay.plugins.stacks.foreign.retriever import Asked, Found, found, metadata_of
from ragassay.plugins.stacks.foreign.settings import Settings
from ragassay.plugins.stacks.foreign.stack import ForeignStack
from ragassay.records import JSON, Chunk


class LlamaIndex(ForeignStack):
    """Takes `retriever` (module:attribute), `corpus` (board or own), `scores` (own or rank) and `concurrent`."""

    kind: ClassVar[str] = "llamaindex"
    noun: ClassVar[str] = "LlamaIndex retriever"
    package: ClassVar[str] = "llama-index-core"

    def documents(self, chunks: Sequence[Chunk]) -> list[Any]:
        """Return LlamaIndex nodes, one a chunk, whose metadata are neither embedded nor shown to a model."""
        return [_node(one) for one in chunks]

    def is_retriever(self, found: Any) -> bool:
        """Tell whether it is a `BaseRetriever`."""
        return isinstance(found, BaseRetriever)

    def advice(self, found: Any) -> str:
        """Name the method that makes a retriever of an index."""
        return "; return index.as_retriever()" if isinstance(found, BaseIndex) else ""

    def asked(self, retriever: Any) -> Asked:
        """Set k as `similarity_top_k` on a copy where the retriever has it, else cut."""
        for name in ("similarity_top_k", "_similarity_top_k"):
            if hasattr(retriever, name):
                return Asked(_asking_a_copy(retriever, name), "similarity_top_k")
        return Asked(lambda text, _k: _nodes(retriever.retrieve(text)), "cut")

    def settings(self, retriever: Any, read: Settings) -> JSON:
        """Return what it is set to, and the vector store behind it, which no constructor names."""
        told: JSON = read.of(retriever)
        store = getattr(retriever, "_vector_store", None)
        return told if store is None else {**told, "vector_store": read.of(store)}

    def reader(self) -> Settings:
        """Read pydantic's fields, and retrievers and indexes through their constructors."""
        return Settings((BaseRetriever, BaseIndex, BaseEmbedding, BasePydanticVectorStore), (BaseNode, NodeWithScore))

    def quiet(self) -> AbstractContextManager[Any]:
        """Do nothing: LlamaIndex sends nothing unless a handler is set in code."""
        return nullcontext()


def _node(chunk: Chunk) -> TextNode:
    metadata = metadata_of(chunk)
    kept_out = list(metadata)
    return TextNode(
        id_=chunk.id,
        text=chunk.text,
        metadata=metadata,
        excluded_embed_metadata_keys=kept_out,
        excluded_llm_metadata_keys=kept_out,
    )


def _asking_a_copy(retriever: Any, name: str) -> Callable[[str, int], list[Found]]:
    """Return a function that asks a shallow copy that is set to k: the retriever itself may be asked elsewhere."""
    made: dict[int, Any] = {}

    def ask(text: str, k: int) -> list[Found]:
        if k not in made:
            one = copy.copy(retriever)
            setattr(one, name, k)
            made[k] = one
        return _nodes(made[k].retrieve(text))

    return ask


def _nodes(returned: Any) -> list[Found]:
    if not isinstance(returned, list | tuple):
        raise StackError(f"the retriever returned {type(returned).__name__}, not a list of nodes")
    for one in returned:
        if not isinstance(one, NodeWithScore):
            raise StackError(f"the retriever returned {type(one).__name__} among its nodes")
    return [
        found(one.node.node_id, one.node.metadata, one.node.get_content(metadata_mode=MetadataMode.NONE), one.score)
        for one in returned
    ]
