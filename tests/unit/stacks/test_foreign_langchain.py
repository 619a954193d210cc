"""LangChain's retrievers: how k reaches them, what they return, what is recorded, and how they fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="pip install 'ragassay[langchain]'")

from foreign_factory import built, chunks, written

from ragassay.errors import StackError
from ragassay.plugins.stacks.foreign.langchain import LangChain

CODE = """
    from typing import Any
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda
    from langchain_core.vectorstores import InMemoryVectorStore
    from pydantic import SecretStr

    asked = []

    class Of(BaseRetriever):
        docs: list[Document]
        def _get_relevant_documents(self, query, *, run_manager):
            asked.append(self.told())
            return self.docs
        def told(self):
            return None
    class Field(Of):
        k: int = 2
        def told(self):
            return self.k
    class TopK(Of):
        top_k: int = 2
        def told(self):
            return self.top_k
    class Kwargs(Of):
        search_kwargs: dict = {"filter": "x", "k": 2}
        def told(self):
            return self.search_kwargs
    class Argument(Of):
        def _get_relevant_documents(self, query, *, run_manager, k=2):
            asked.append(k)
            return self.docs[:k]
    class Keyed(Field):
        api_key: SecretStr = SecretStr("sk-fake-0123456789abcdef")
        endpoint: str = "https://me:hunter22@db.example/docs"
        password: str = "hunter22"
        def _get_relevant_documents(self, query, *, run_manager):
            raise ConnectionError(f"refused {self.api_key.get_secret_value()} and {self.password}")
    class Asynchronous(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            raise NotImplementedError("asynchronous only")
        async def _aget_relevant_documents(self, query, *, run_manager):
            return []

    def field(documents): return Field(docs=documents)
    def top_k(documents): return TopK(docs=documents)
    def kwargs(documents): return Kwargs(docs=documents)
    def argument(documents): return Argument(docs=documents)
    def of(documents): return Of(docs=documents)
    def chain(documents): return RunnableLambda(lambda q: q) | Of(docs=documents)
    def keyed(documents): return Keyed(docs=documents)
    def asynchronous(): return Asynchronous()
    def copied(documents):
        return Of(docs=[Document(id="replaced by the store", page_content=one.page_content, metadata=one.metadata)
                        for one in documents])
    def shortened(documents):
        return Of(docs=[one.model_copy(update={"page_content": one.page_content[:7]}) for one in documents])
    def texts(): return RunnableLambda(lambda q: "some text")
    def strings(): return RunnableLambda(lambda q: ["some text"])
    def timing_out():
        def search(question):
            try:
                raise TimeoutError("slow")
            except TimeoutError as error:
                raise ValueError("their own") from error
        return RunnableLambda(search)
    def closing():
        found = Of(docs=[])
        closed = []
        object.__setattr__(found, "close", lambda: closed.append(1))
        object.__setattr__(found, "closed", closed)
        return found
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A board's folder."""
    return written(tmp_path, "of_langchain", CODE)


def asked_of(retriever: Any) -> list[Any]:
    """Return what their module noted of each search."""
    import sys

    noted: list[Any] = sys.modules["of_langchain"].asked
    return noted


@pytest.mark.parametrize(
    ("path", "how", "told"),
    [
        ("field", "field k", 3),
        ("top_k", "field top_k", 3),
        ("kwargs", "search_kwargs", {"filter": "x", "k": 3}),
        ("argument", "argument k", 3),
        ("of", "cut", None),
        ("chain", "cut", None),
    ],
)
def test_k_reaches_a_retriever_the_way_it_takes_it(folder: Path, path: str, how: str, told: Any) -> None:
    """And a longer list is cut; the record says which, and the owner's own k is left as it was."""
    retriever = built("langchain", folder, f"of_langchain:{path}")
    assert [len(retriever.search("fox", k)) for k in (3, 1, 3, 9)] == [3, 1, 3, 4]
    assert asked_of(retriever)[0] == told
    assert retriever.describe()["k"] == how
    assert retriever.describe()["settings"].get("k", 2) == 2
    assert retriever.search("fox", 0) == []


def test_a_chunk_is_known_by_its_metadata_where_a_store_replaces_ids(folder: Path) -> None:
    """Metadata go through every store; a document's id does not."""
    assert [hit.chunk for hit in built("langchain", folder, "of_langchain:copied").search("fox", 2)] == [
        "page-0.md#0",
        "page-1.md#0",
    ]


def test_documents_hold_the_chunks_and_where_they_stand() -> None:
    """Id, text and place on the page."""
    first = LangChain(retriever="a:b").documents(chunks())[0]
    assert (first.id, first.page_content) == ("page-0.md#0", chunks()[0].text)
    assert first.metadata == {"chunk": "page-0.md#0", "page": "page-0.md", "start": 0, "end": len(chunks()[0].text)}


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("shortened", r"returned another text for 'page-0.md#0' than the board's chunk has; .*corpus = \"own\""),
        ("texts", "the retriever returned str, not a list of documents"),
        ("strings", "the retriever returned str among its documents"),
        ("asynchronous", "raised: NotImplementedError: asynchronous only.*; a row asks synchronously: give the"),
    ],
)
def test_a_reply_that_is_none_is_an_error(folder: Path, path: str, said: str) -> None:
    """Never an empty list, and never something close."""
    with pytest.raises(StackError, match=said):
        built("langchain", folder, f"of_langchain:{path}").search("fox", 2)


def test_no_secret_is_recorded_or_repeated(folder: Path) -> None:
    """A key of a field stands neither in the description nor in an error, nor does the user of an address."""
    retriever = built("langchain", folder, "of_langchain:keyed")
    told = retriever.describe()["settings"]
    assert told["api_key"] == told["password"] == "(not recorded)"
    assert told["endpoint"] == "https://db.example/docs"
    with pytest.raises(StackError, match=r"raised: ConnectionError: refused \(not recorded\) and") as caught:
        retriever.search("fox", 2)
    assert caught.value.retryable
    assert caught.value.__cause__ is None
    for secret in ("sk-fake", "hunter22"):
        assert secret not in json.dumps(retriever.describe()) + str(caught.value)


def test_a_failure_under_another_name_may_be_asked_again(folder: Path) -> None:
    """What a library wraps is looked at: a time-out stays one."""
    with pytest.raises(
        StackError, match=r"raised: ValueError: their own \(of_langchain.py, line \d+, in search\)"
    ) as caught:
        built("langchain", folder, "of_langchain:timing_out", corpus="own").search("fox", 2)
    assert caught.value.retryable


def test_what_a_factory_made_is_closed_once_and_not_asked_after(folder: Path) -> None:
    """One that lies in the module as an object is its owner's to close."""
    retriever = built("langchain", folder, "of_langchain:closing", corpus="own")
    retriever.search("fox", 1)
    retriever.close()
    retriever.close()
    with pytest.raises(StackError, match="was asked after it was closed"):
        retriever.search("fox", 1)


def test_parameters_of_the_class_are_what_a_board_can_give() -> None:
    """LangChain has no scores, so there is nothing to choose of them."""
    from ragassay.plugins.parameters_of import parameters_of

    found = {one.name: (one.required, one.default) for one in parameters_of(LangChain)}
    assert found == {"retriever": (True, None), "corpus": (False, "board"), "concurrent": (False, True)}
