"""The embedders of this machine as a board's row has them: built by the runner, kept on disk, searched through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minilm_folder import minilm_folder
from ragassay.errors import InputError
from ragassay.records import JSON
from ragassay.run.build import StackBuilder
from ragassay.testing.stack_contract import corpus, ignore_progress


def builder(board: Path) -> StackBuilder:
    """Return a builder for a board in that folder."""
    return StackBuilder(
        corpus(),
        evidence={},
        cache=board / "cache",
        weights_cache=board / "weights",
        report=lambda _: ignore_progress,
        folder=board,
    )


def row(**embedder: Any) -> JSON:
    """Return the entry of a row."""
    return {"kind": "dense", "embedder": embedder}


def test_a_static_row_is_built_once_and_searched(tmp_path: Path) -> None:
    """A second build embeds no chunk; the record says that none was cut."""
    pytest.importorskip("ragassay.plugins.embedders.wordllama", reason="pip install 'ragassay[wordllama]'")
    embedded = []
    for _ in range(2):
        making = builder(tmp_path)
        retriever = making.build(row(kind="wordllama"), "row")
        assert len(retriever.search("alpha", 3)) == 3
        about = retriever.describe()
        assert (about["truncated_chunks"], about["embedder"]["kind"]) == (0, "wordllama")
        embedded.append(making.embedders[0].embedded)
        retriever.close()
    assert embedded[0] > 0 == embedded[1]


@pytest.mark.parametrize("kind", ["fastembed", "minilm-l6-v2-int8"])
def test_a_path_is_relative_to_the_board(kind: str, tmp_path: Path) -> None:
    """Wherever the command is run from; an absolute one stays as it is, and neither is recorded."""
    pytest.importorskip("fastembed", reason="pip install 'ragassay[fastembed]'")
    whole = minilm_folder(tmp_path / "models" / "minilm")
    found = []
    for path in ("models/minilm", str(whole)):
        retriever = builder(tmp_path).build(row(kind=kind, path=path), "row")
        found.append(([hit.chunk for hit in retriever.search("alpha", 5)], retriever.describe()))
        assert str(tmp_path) not in repr(retriever.describe())
        retriever.close()
    assert found[0] == found[1]


def test_a_wrong_entry_names_its_place(tmp_path: Path) -> None:
    """All problems of the embedder's table, at the row's place."""
    pytest.importorskip("fastembed", reason="pip install 'ragassay[fastembed]'")
    with pytest.raises(InputError, match=r"row\.embedder: the parameters of 'fastembed'"):
        builder(tmp_path).build(row(kind="fastembed", path="", pooling="max"), "row")
