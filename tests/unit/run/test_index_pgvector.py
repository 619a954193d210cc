"""`ragassay index` over a real PostgreSQL: filled once, found again, and what no row names is told and left."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_lab import Lab, silent

from postgres_server import NEEDS, PostgresServer
from ragassay.run.board_file import load_board
from ragassay.run.index import BoardIndexed, index_board
from ragassay.run.index_stale import Stale, stale
from ragassay.testing.service_board import known_words

pytest.importorskip("psycopg", reason=NEEDS)


def indexed(lab: Lab) -> tuple[BoardIndexed, Stale]:
    """Index the lab's board and return what is stale besides."""
    board = load_board(lab.folder / "board.toml")
    with known_words():
        found = index_board(board, lab.space, keys={}, weights_cache=lab.folder, report=silent)
        return found, stale(board, lab.space, found, weights_cache=lab.folder, whole=True)


def test_a_changed_corpus_leaves_a_stale_table(tmp_path: Path, postgres: PostgresServer) -> None:
    """The table of the corpus as it was stays on the server, under the name that is told."""
    lab = Lab(tmp_path)
    lab.write(stack=f'{{ kind = "pgvector", url = "{postgres.url()}", embedder = {{ kind = "words" }} }}')
    first, nothing = indexed(lab)
    (kept,) = first.rows[1].stored
    assert not kept.reused
    assert kept.name not in [one.name for one in nothing.indexes]
    again, _ = indexed(lab)
    assert [(one.name, one.reused) for one in again.rows[1].stored] == [(kept.name, True)]
    (lab.folder / "docs" / "page-new.md").write_text("# New\n\nA new page.\n", "utf-8")
    changed, found = indexed(lab)
    assert [vectors.embedded for vectors in changed.rows[1].vectors] == [1]
    assert changed.rows[1].stored[0].name != kept.name
    assert kept.name in [one.name for one in found.indexes]
    assert postgres.run(f"SELECT count(*) FROM {kept.name}") == [(10,)]
    for one in (kept, changed.rows[1].stored[0]):
        postgres.run(f"DROP TABLE {one.name}")
