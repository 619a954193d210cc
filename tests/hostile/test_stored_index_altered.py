"""Indexes that somebody altered behind the digest that stands beside them: refused, never searched as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("chromadb", reason="pip install 'ragassay[chroma]'")
pytest.importorskip("lancedb", reason="pip install 'ragassay[lancedb]'")
pytest.importorskip("psycopg", reason="pip install 'ragassay[pgvector]' pgserver")

import chromadb
import lancedb
from chromadb.config import Settings as ClientSettings

from chroma_server import ChromaServer, running_chroma
from postgres_server import PostgresServer
from ragassay.errors import StackError
from ragassay.plugins.stacks.chroma import Chroma
from ragassay.plugins.stacks.lancedb import LanceDB
from ragassay.plugins.stacks.pgvector import Pgvector
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress

CHUNKS = corpus([f"word{at} river fox number{at % 7} plain{at % 3}" for at in range(300)])
NAME = "ragassay_altered"


def build(stack: type[Any], progress: Any = ignore_progress, **params: Any) -> VectorIndex:
    """Return the stack over the chunks."""
    found: VectorIndex = stack(**params).build(CHUNKS, {"embedder": WordEmbedder(dimension=256)}, progress)
    return found


ALTERED_TABLES = {
    "one vector": "UPDATE {t} SET embedding = (SELECT embedding FROM {t} WHERE position = 0) WHERE position = 280",
    "every vector": "UPDATE {t} SET embedding = (SELECT embedding FROM {t} WHERE position = 0)",
    "a position": "UPDATE {t} SET position = 100280 WHERE position = 280",
    "one row for another": "DELETE FROM {t} WHERE position = 280; "
    "INSERT INTO {t} SELECT 300, embedding{b} FROM {t} LIMIT 1",
    "a text": "UPDATE {t} SET body = 'word5' WHERE position = 280",
}


@pytest.mark.parametrize("params", [{}, {"index": "hnsw"}, {"text": True}], ids=["exact", "hnsw", "text"])
@pytest.mark.parametrize("how", ALTERED_TABLES)
def test_an_altered_table_is_refused(postgres: PostgresServer, how: str, params: dict[str, Any]) -> None:
    """The comment with the digest and the number of rows are as they were, and what is in the rows is not."""
    texts = "text" in params
    if how == "a text" and not texts:
        pytest.skip("this row keeps no texts")
    build(Pgvector, url=postgres.url(), table=NAME, **params).close()
    statements = ALTERED_TABLES[how].format(t=NAME, b=", body" if texts else "").split("; ")
    target = ", body" if texts else ""
    postgres.run(*[one.replace(f"INTO {NAME}", f"INTO {NAME} (position, embedding{target})") for one in statements])
    try:
        with pytest.raises(StackError, match="altered") as refused:
            build(Pgvector, url=postgres.url(), table=NAME, **params)
        assert not refused.value.retryable
    finally:
        postgres.run(f"DROP TABLE {NAME}")
    again = build(Pgvector, url=postgres.url(), table=NAME, **params)
    assert again.stored is not None
    assert not again.stored.reused
    again.close()
    postgres.run(f"DROP TABLE {NAME}")


def test_a_block_that_was_altered_while_a_build_was_interrupted_is_refused(postgres: PostgresServer) -> None:
    """A table that is continued keeps the blocks that it has, and they are compared too."""

    def stop(done: int, total: int) -> None:
        calls.append(done)
        if len(calls) == 3:  # two blocks embedded, then the first one written
            raise KeyboardInterrupt

    calls: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        build(Pgvector, stop, url=postgres.url(), table=NAME)
    postgres.run(f"UPDATE {NAME} SET embedding = (SELECT embedding FROM {NAME} WHERE position = 0) WHERE position = 9")
    try:
        with pytest.raises(StackError, match="altered"):
            build(Pgvector, url=postgres.url(), table=NAME)
    finally:
        postgres.run(f"DROP TABLE {NAME}")


def _vector(table: Any) -> None:
    table.update(where="position = 280", values={"vector": table.to_arrow()["vector"][0].as_py()})


def _position(table: Any) -> None:
    table.update(where="position = 280", values={"position": 100_280})


def _text(table: Any) -> None:
    table.update(where="position = 280", values={"text": "word5"})


def _twice(table: Any) -> None:
    kept = table.to_arrow().sort_by("position")
    table.delete("position = 280")
    table.add(kept.slice(281, 1))


@pytest.mark.parametrize(
    ("params", "alter"),
    [
        ({}, _vector),
        ({}, _position),
        ({}, _twice),
        ({"search": "hybrid"}, _text),
        ({"search": "text"}, _text),
        ({"search": "text"}, _twice),
        ({"index": "ivf_flat"}, _vector),
    ],
)
def test_an_altered_folder_is_refused(tmp_path: Path, params: dict[str, Any], alter: Callable[[Any], None]) -> None:
    """LanceDB's table has its digest and its number of rows still."""
    build(LanceDB, path=str(tmp_path), table=NAME, **params).close()
    alter(lancedb.connect(tmp_path).open_table(NAME))
    with pytest.raises(StackError, match="altered"):
        build(LanceDB, path=str(tmp_path), table=NAME, **params)


def test_rows_that_changed_place_while_they_are_searched_are_an_error(tmp_path: Path) -> None:
    """One position twice in an answer means that another is missing: an error, not one hit fewer."""
    index = build(LanceDB, path=str(tmp_path), table=NAME)
    _twice(lancedb.connect(tmp_path).open_table(NAME))
    index._engine._table._table.checkout_latest()  # type: ignore[union-attr]
    with pytest.raises(StackError, match="twice in one answer"):
        index.search("word281", 5)
    index.close()


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """A real Chroma server."""
    with running_chroma(tmp_path_factory.mktemp("chroma")) as server:
        yield server


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("how", ["vector", "id"])
def test_an_altered_collection_is_refused(chroma: ChromaServer, exact: bool, how: str) -> None:
    """Chroma's collection has its digest and its number of vectors still."""
    name = f"{NAME}_{how}_{exact}"
    build(Chroma, url=chroma.url, collection=name, exact=exact).close()
    client: Any = chromadb.HttpClient(
        host="127.0.0.1", port=chroma.port, settings=ClientSettings(anonymized_telemetry=False)
    )
    collection = client.get_collection(name, embedding_function=None)
    other = collection.get(ids=["0"], include=["embeddings"])["embeddings"]
    if how == "vector":
        collection.update(ids=["280"], embeddings=[other[0]])
    else:
        collection.delete(ids=["280"])
        collection.add(ids=["100280"], embeddings=[other[0]])
    client._server._session.close()
    with pytest.raises(StackError, match="altered"):
        build(Chroma, url=chroma.url, collection=name, exact=exact)


def test_two_builds_of_one_collection_at_once_leave_it_whole(chroma: ChromaServer) -> None:
    """Each finds every vector: what the other one wrote is not written over, which would tear Chroma's graph."""

    def built(_: int) -> int:
        index = build(Chroma, url=chroma.url, collection=f"{NAME}_twice", batch=20)
        try:
            return len(index.search("word7 fox", 300))
        finally:
            index.close()

    with ThreadPoolExecutor(2) as threads:
        try:
            assert list(threads.map(built, range(2))) == [len(CHUNKS)] * 2
        except StackError as error:  # one was faster in making the collection: the other one says so
            assert "exists" in str(error)  # noqa: PT017
    assert built(0) == len(CHUNKS)
