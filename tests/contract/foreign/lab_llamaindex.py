"""Retrievers as their owners write them: LlamaIndex."""

from __future__ import annotations

from typing import Any

from lab_words import vector
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode


class Words(BaseEmbedding):  # type: ignore[misc]
    """Word counts."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)


def in_memory(nodes: list[TextNode]) -> BaseRetriever:
    """Fill LlamaIndex's own store with the board's chunks."""
    return VectorStoreIndex(nodes, embed_model=Words()).as_retriever(similarity_top_k=2)


def filled_before() -> Any:
    """Take an index that was filled elsewhere, with passages that no board has."""
    return in_memory([TextNode(id_=f"p{at}", text=f"passage {at}: the fox {'fox ' * at}") for at in range(9)])
