"""Retrievers as their owners write them: Haystack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from lab_words import vector


@component
class Words:
    """Word counts of the question."""

    @component.output_types(embedding=list[float])  # type: ignore[untyped-decorator]
    def run(self, text: str) -> dict[str, Any]:
        """Return the question's row."""
        return {"embedding": vector(text)}


def _store(documents: list[Document]) -> InMemoryDocumentStore:
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents([replace(one, embedding=vector(one.content or "")) for one in documents])
    return store


def bm25(documents: list[Document]) -> InMemoryBM25Retriever:
    """Fill Haystack's own store with the board's chunks and search it by words."""
    return InMemoryBM25Retriever(_store(documents), top_k=2)


def embedding(documents: list[Document]) -> Pipeline:
    """Put an embedder before an embedding retriever."""
    pipeline = Pipeline()
    pipeline.add_component("embedder", Words())
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(_store(documents)))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    return pipeline


def hybrid(documents: list[Document]) -> Pipeline:
    """Join both."""
    pipeline = embedding(documents)
    pipeline.add_component("words", bm25(documents))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    pipeline.connect("words.documents", "joiner.documents")
    pipeline.connect("retriever.documents", "joiner.documents")
    return pipeline


def filled_before() -> InMemoryBM25Retriever:
    """Take a store that was filled elsewhere, with passages that no board has."""
    return bm25([Document(content=f"passage {at}: the fox {'fox ' * at}") for at in range(9)])
