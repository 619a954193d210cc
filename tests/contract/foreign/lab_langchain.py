"""Retrievers as their owners write them: LangChain."""

from __future__ import annotations

from typing import Any

from lab_words import vector
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore


class Words(Embeddings):  # type: ignore[misc]
    """Word counts."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one row a text."""
        return [vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the question's row."""
        return vector(text)


class MostShared(BaseRetriever):  # type: ignore[misc]
    """Ranks documents by shared words; knows nothing of k."""

    docs: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any, **_: Any) -> list[Document]:
        asked = set(query.lower().split())
        shared = [(len(asked & set(one.page_content.lower().split())), one) for one in self.docs]
        return [one for count, one in sorted(shared, key=lambda pair: -pair[0]) if count]


class Ignorant(MostShared):
    """The same, and its search takes neither k nor anything else."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:  # type: ignore[override]
        return super()._get_relevant_documents(query, run_manager=run_manager)


def in_memory(documents: list[Document]) -> BaseRetriever:
    """Fill LangChain's own store with the board's chunks."""
    store = InMemoryVectorStore(Words())
    store.add_documents(documents)
    return store.as_retriever(search_kwargs={"k": 2})


def ignorant(documents: list[Document]) -> BaseRetriever:
    """Return all that shares a word."""
    return Ignorant(docs=documents)


def filled_before() -> BaseRetriever:
    """Take a store that was filled elsewhere, with passages that no board has."""
    return in_memory([Document(page_content=f"passage {at}: the fox {'fox ' * at}") for at in range(9)])
