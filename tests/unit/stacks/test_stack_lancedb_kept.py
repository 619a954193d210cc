"""LanceDB in a folder that stays: found again, continued, refused, and missed where somebody removed it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lancedb", reason="pip install 'ragassay[lancedb]'")

import lancedb

from kept_index import many, told
from ragassay.errors import StackError
from ragassay.plugins.stacks.lancedb import LanceDB
from ragassay.plugins.stacks.lancedb.table import table_names
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Chunk
from ragassay.run.build import StackBuilder
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.service_board import known_words
from ragassay.testing.stack_contract import ignore_progress

QUESTIONS = ("word7 river", "number3", "word599 fox")


def build(folder: Path, chunks: list[Chunk], progress: Any = ignore_progress, **params: Any) -> VectorIndex:
    """Return the stack over a folder."""
    embedder = WordEmbedder(dimension=params.pop("dimension", 64))
    return LanceDB(path=str(folder), **params).build(chunks, {"embedder": embedder}, progress)


@pytest.mark.parametrize("params", [{}, {"search": "hybrid"}, {"index": "ivf_hnsw_sq"}, {"search": "text"}])
def test_what_was_interrupted_is_continued_and_then_found_again(tmp_path: Path, params: dict[str, Any]) -> None:
    """A build stopped in the middle leaves a table that is not whole; the next one ends as an undisturbed one."""
    chunks, calls = many(600), []
    stop_at = 1 if params.get("search") == "text" else 4

    def stop(*at: int) -> None:
        calls.append(at)
        if len(calls) == stop_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "one", chunks, stop, **params)
    continued = build(tmp_path / "one", chunks, **params)
    again = build(tmp_path / "one", chunks, **params)
    whole = build(tmp_path / "two", chunks, **params)
    assert [told(index)[0] for index in (continued, again, whole)] == [False, True, False]
    for question in QUESTIONS:
        found = [index.search(question, 10) for index in (continued, again, whole)]
        assert found[0] == found[1] == found[2]
    assert continued.count() == again.count() == 600
    for index in (continued, again, whole):
        index.close()


def test_indexes_that_were_not_built_are_built_when_the_table_is_found(tmp_path: Path) -> None:
    """A build that ended between the last row and the index is whole after the next one."""
    chunks = many(300)
    build(tmp_path, chunks, table="docs", search="hybrid").close()
    table = lancedb.connect(tmp_path).open_table("docs")
    table.drop_index("text_idx")
    index = build(tmp_path, chunks, table="docs", search="hybrid")
    assert index.search("word7", 1)[0].chunk == "page-7.md#0"
    table.checkout_latest()
    assert [one.name for one in table.list_indices()] == ["text_idx"]
    index.close()


def test_other_tables_of_ragassay_are_named(tmp_path: Path) -> None:
    """Under other names, sorted; nobody else's."""
    lancedb.connect(tmp_path).create_table("somebody", data=[{"x": 1}])
    first, second, third = build(tmp_path, many(3)), build(tmp_path, many(4)), build(tmp_path, many(3), metric="l2")
    names = [index.stored.name for index in (first, second, third) if index.stored]
    assert len(set(names)) == 3
    assert told(third)[1] == tuple(sorted(names[:2]))
    for index in (first, second, third):
        index.close()


@pytest.mark.parametrize("other", [{"chunks": 4}, {"dimension": 32}, {"metric": "l2"}, {"search": "text"}])
def test_a_table_of_another_corpus_embedder_or_setting_is_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    """Under a name given by hand nothing is mixed, and what was there stays."""
    index = build(tmp_path, many(5), table="docs")
    before = index.search("word1", 5)
    changed = dict(other)
    chunks = many(changed.pop("chunks", 5))
    with pytest.raises(StackError, match="'docs' holds another corpus, embedder or setting") as raised:
        build(tmp_path, chunks, table="docs", **changed)
    assert not raised.value.retryable
    assert index.search("word1", 5) == before
    index.close()


def test_somebody_elses_table_is_refused(tmp_path: Path) -> None:
    """It is neither searched nor written to."""
    table = lancedb.connect(tmp_path).create_table("docs", data=[{"vector": [1.0, 2.0], "position": 0}])
    with pytest.raises(StackError, match="'docs' holds no index of ragassay's"):
        build(tmp_path, many(3), table="docs")
    assert table.count_rows() == 1


def test_a_table_that_somebody_removed_is_an_error(tmp_path: Path) -> None:
    """Not one that found nothing."""
    index = build(tmp_path / "kept", many(50), table="docs")
    assert index.search("word1", 1)
    shutil.rmtree(tmp_path / "kept")
    with pytest.raises(StackError, match="lancedb could not search"):
        index.search("word2 word3", 5)
    index.close()


def test_a_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    """It names what could not be done."""
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StackError, match="lancedb could not"):
        build(tmp_path / "file", many(3))


def test_where_the_folder_is_is_not_recorded(tmp_path: Path) -> None:
    """A description is the same in every folder, and closing keeps the table."""
    kept, moved = build(tmp_path / "a", many(3)), build(tmp_path / "b", many(3))
    passing = LanceDB().build(many(3), {"embedder": WordEmbedder()}, ignore_progress)
    assert kept.describe() == moved.describe() == passing.describe()
    assert passing.stored is None
    for index in (kept, moved, passing):
        index.close()
    assert told(build(tmp_path / "a", many(3)))[0]


def test_a_path_is_relative_to_the_board(tmp_path: Path) -> None:
    """The runner's builder gives the board's folder, and the tables lie in it."""
    builder = StackBuilder(
        many(3), evidence={}, cache=tmp_path, weights_cache=tmp_path, report=lambda _: ignore_progress, folder=tmp_path
    )
    with known_words():
        entry = {"kind": "lancedb", "path": "kept/tables", "table": "docs", "embedder": {"kind": "words"}}
        builder.build(entry, "row 'docs'").close()
    assert table_names(lancedb.connect(tmp_path / "kept" / "tables")) == ["docs"]


def test_an_index_that_was_closed_is_not_searched(tmp_path: Path) -> None:
    """It says so."""
    index = build(tmp_path, many(3))
    index.close()
    with pytest.raises(StackError, match="lancedb was asked after it was closed"):
        index.search("word1", 1)
