"""The table of an index: reused when whole, continued when interrupted, refused when it holds something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from postgres_server import NEEDS, PostgresServer
from ragassay.errors import StackError
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Chunk
from ragassay.testing.fake_embedder import TableEmbedder, WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress

pytest.importorskip("psycopg", reason=NEEDS)

import psycopg

from ragassay.plugins.stacks.pgvector import Pgvector

CHUNKS = corpus()
MANY = corpus([f"text number {at} of {at % 7}" for at in range(600)])


def built(postgres: PostgresServer, chunks: Sequence[Chunk] = CHUNKS, **params: Any) -> VectorIndex:
    """Return the stack built over chunks."""
    return Pgvector(url=postgres.url(), **params).build(chunks, {"embedder": WordEmbedder()}, ignore_progress)


def stored(postgres: PostgresServer, chunks: Sequence[Chunk] = CHUNKS, **params: Any) -> tuple[str, bool]:
    """Build and close; return the table's name and whether it was whole already."""
    retriever = built(postgres, chunks, **params)
    retriever.close()
    assert retriever.stored is not None
    return retriever.stored.name, retriever.stored.reused


def test_what_shapes_an_index_names_its_table(postgres: PostgresServer) -> None:
    """Exact rows of any metric share a table; another index, its building, a text column or a corpus make another."""
    same: list[dict[str, Any]] = [{}, {"metric": "l2"}, {"metric": "ip"}, {"timeout_s": 9}]
    apart: list[dict[str, Any]] = [
        {"index": "hnsw"},
        {"index": "hnsw", "m": 8},
        {"index": "hnsw", "metric": "l2"},
        {"index": "ivfflat", "lists": 2},
        {"text": True},
        {"text": True, "text_config": "simple"},
    ]
    assert len({stored(postgres, **params)[0] for params in same}) == 1
    names = {stored(postgres, **params)[0] for params in [*same, *apart]}
    assert len(names) == 1 + len(apart)
    assert stored(postgres, CHUNKS[:5])[0] not in names
    assert stored(postgres, index="hnsw", ef_search=100) == (stored(postgres, index="hnsw")[0], True)


def test_a_build_that_was_interrupted_is_continued(postgres: PostgresServer) -> None:
    """Blocks that are whole stay as they were written; the rest is added."""

    def stop(done: int, total: int) -> None:
        written.append(done)
        if len(written) == 5:  # three blocks are embedded, two are in the table
            raise KeyboardInterrupt

    written: list[int] = []
    parts = {"embedder": WordEmbedder()}
    with pytest.raises(KeyboardInterrupt):
        Pgvector(url=postgres.url(), table="stopped").build(MANY, parts, stop)
    first = postgres.run("SELECT position, xmin::text FROM stopped ORDER BY position")
    assert len(first) == 512
    assert stored(postgres, MANY, table="stopped") == ("public.stopped", False)
    after = postgres.run("SELECT position, xmin::text FROM stopped ORDER BY position")
    assert len(after) == 600
    assert after[:512] == first
    assert stored(postgres, MANY, table="stopped") == ("public.stopped", True)


def test_a_table_that_lost_rows_or_its_index_is_made_whole(postgres: PostgresServer) -> None:
    """Neither counts as reused."""
    params: dict[str, Any] = {"table": "holes", "index": "hnsw"}
    assert stored(postgres, **params)[1] is False
    postgres.run("DELETE FROM holes WHERE position IN (0, 5, 11)")
    assert stored(postgres, **params)[1] is False
    postgres.run("DROP INDEX holes_hnsw")
    assert stored(postgres, **params)[1] is False
    assert stored(postgres, **params)[1] is True
    assert postgres.run("SELECT count(*) FROM holes") == [(12,)]


def test_what_somebody_else_made_is_refused_and_left_alone(postgres: PostgresServer) -> None:
    """A table, a view, another corpus under the same name, and a row too many."""
    postgres.run("CREATE TABLE theirs (id int)", "INSERT INTO theirs VALUES (7)", "CREATE VIEW seen AS SELECT 1 AS a")
    for name in ("theirs", "seen"):
        with pytest.raises(StackError, match="no index of ragassay's"):
            built(postgres, table=name)
    assert postgres.run("SELECT * FROM theirs") == [(7,)]
    built(postgres, table="ours").close()
    with pytest.raises(StackError, match="another corpus, embedder or setting"):
        built(postgres, CHUNKS[:4], table="ours")
    postgres.run("INSERT INTO ours SELECT 99, embedding FROM ours WHERE position = 1")
    with pytest.raises(StackError, match="holds 13 of 12 chunks"):
        built(postgres, table="ours")


def test_a_table_of_another_dimension_is_an_error(postgres: PostgresServer) -> None:
    """Even where its digest is ours."""
    built(postgres, table="bent").close()
    postgres.run("DELETE FROM bent", "ALTER TABLE bent ALTER COLUMN embedding TYPE vector(3)")
    with pytest.raises(StackError, match="expected 3 dimensions"):
        built(postgres, table="bent")


def test_a_table_that_is_removed_in_between_is_an_error(postgres: PostgresServer) -> None:
    """Not an empty answer."""
    retriever = built(postgres, table="removed")
    postgres.run("DROP TABLE removed")
    with pytest.raises(StackError, match="start the row anew") as caught:
        retriever.search("retries", 3)
    assert not caught.value.retryable
    retriever.close()


def test_rows_that_are_removed_in_between_are_an_error(postgres: PostgresServer) -> None:
    """An exact search that finds less than there was is down, not weak."""
    retriever = built(postgres, table="emptied")
    postgres.run("TRUNCATE emptied")
    with pytest.raises(StackError, match="lost rows in between"):
        retriever.search("retries", 3)
    retriever.close()


def test_two_builders_of_one_table_do_not_mix(postgres: PostgresServer) -> None:
    """The second is told to wait."""
    with psycopg.connect(postgres.url()) as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended('ragassay:public.busy', 0))")
        with pytest.raises(StackError, match="another process is building") as caught:
            built(postgres, table="busy")
    assert caught.value.retryable
    built(postgres, table="busy").close()


def test_the_other_tables_of_ours_are_named(postgres: PostgresServer) -> None:
    """Theirs are not, whatever they are called."""
    postgres.run("CREATE SCHEMA shelf", "CREATE TABLE shelf.ragassay_theirs (id int)")
    one = stored(postgres, schema="shelf")[0]
    other = built(postgres, CHUNKS[:3], schema="shelf")
    other.close()
    assert other.stored is not None
    assert other.stored.others == (one,)


def test_an_index_that_somebody_else_made_does_not_enter_an_exact_search(postgres: PostgresServer) -> None:
    """Not even one that would find almost nothing."""
    want = built(postgres, table="plain", metric="l2")
    found = want.search("retries fox", 12)
    postgres.run("CREATE INDEX ON plain USING ivfflat (embedding vector_l2_ops) WITH (lists = 12)")
    postgres.run("ALTER DATABASE docs SET enable_seqscan = off")
    try:
        again = built(postgres, table="plain", metric="l2")
        assert again.search("retries fox", 12) == found
        again.close()
    finally:
        postgres.run("ALTER DATABASE docs RESET enable_seqscan")
    want.close()


def test_an_index_that_is_not_used_is_an_error(postgres: PostgresServer) -> None:
    """A row that is called HNSW and compares every vector would be another row."""
    built(postgres, table="partial", index="hnsw").close()
    postgres.run("DROP INDEX partial_hnsw")
    postgres.run(
        "CREATE INDEX partial_hnsw ON partial USING hnsw (embedding vector_cosine_ops) "
        "WITH (m = 16, ef_construction = 64) WHERE position < 3"
    )
    with pytest.raises(StackError, match=r"instead of partial_hnsw"):
        built(postgres, table="partial", index="hnsw")


def test_more_hits_than_the_graph_returns_are_an_error(postgres: PostgresServer) -> None:
    """`ef_search` bounds them; fewer hits without a word would be taken for a weak search."""
    retriever = built(postgres, index="hnsw", ef_search=4)
    assert len(retriever.search("retries", 4)) == 4
    with pytest.raises(StackError, match="at most 4 hits"):
        retriever.search("retries", 5)
    retriever.close()


def test_vectors_that_an_index_cannot_take_are_refused_before_they_are_sent(postgres: PostgresServer) -> None:
    """2,000 numbers are the most; exact search takes them."""
    chunks = corpus(["one", "two"])
    wide = TableEmbedder({"one": np.ones(2001).tolist(), "two": np.arange(2001).tolist()})
    with pytest.raises(StackError, match="takes up to 2000"):
        Pgvector(url=postgres.url(), index="hnsw").build(chunks, {"embedder": wide}, ignore_progress)
    retriever = Pgvector(url=postgres.url()).build(chunks, {"embedder": wide}, ignore_progress)
    assert [hit.chunk for hit in retriever.search("two", 2)] == [chunks[1].id, chunks[0].id]
    retriever.close()


def test_an_iterative_scan_goes_on_beyond_the_graphs_width(postgres: PostgresServer) -> None:
    """Where the extension has it; an older one is an error that says what to type."""
    ((version,),) = postgres.run("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if tuple(map(int, version.split(".")[:2])) < (0, 8):
        with pytest.raises(StackError, match="ALTER EXTENSION vector UPDATE"):
            built(postgres, index="hnsw", iterative_scan=True)
        return
    retriever = built(postgres, MANY, index="hnsw", ef_search=10, iterative_scan=True)
    assert len(retriever.search("text number 5", 200)) == 200
    retriever.close()


@pytest.mark.parametrize("change", ["", "WITH (m = 16, ef_construction = 32)"])
def test_an_index_that_was_built_with_other_settings_is_an_error(postgres: PostgresServer, change: str) -> None:
    """What is recorded of the index is what it was built with, also where somebody built it anew under its name."""
    built(postgres, table="rebuilt", index="hnsw").close()
    postgres.run("DROP INDEX rebuilt_hnsw")
    postgres.run(f"CREATE INDEX rebuilt_hnsw ON rebuilt USING hnsw (embedding vector_cosine_ops) {change}")
    with pytest.raises(StackError, match=r"built otherwise than this row asks; type: DROP INDEX public\.rebuilt_hnsw"):
        built(postgres, table="rebuilt", index="hnsw")
    postgres.run("DROP INDEX rebuilt_hnsw")
    built(postgres, table="rebuilt", index="hnsw").close()
    postgres.run("DROP TABLE rebuilt")
