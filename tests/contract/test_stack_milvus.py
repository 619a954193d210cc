"""The stack `milvus` keeps the promises of the contract suite: its engine in this process, by metric and index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("milvus_lite", reason="pip install 'ragassay[milvus]'")
pytest.importorskip("pymilvus", reason="pip install 'ragassay[milvus]'")

from ragassay.plugins.stacks.milvus import Milvus
from ragassay.seams import Stack
from ragassay.testing.stack_contract import StackContract


class TestMilvusCosine(StackContract):
    """Every vector compared, cosine."""

    stack = Milvus


class TestMilvusDistance(StackContract):
    """Every vector compared, Euclidean distance negated."""

    stack = Milvus
    params: ClassVar[Mapping[str, Any]] = {"metric": "l2"}


class TestMilvusProduct(StackContract):
    """Every vector compared, inner product of vectors that are not normalised."""

    stack = Milvus
    params: ClassVar[Mapping[str, Any]] = {"metric": "ip"}


class TestMilvusGraph(StackContract):
    """An HNSW graph."""

    stack = Milvus
    params: ClassVar[Mapping[str, Any]] = {"index": "hnsw", "m": 8, "ef_construction": 40, "ef": 40, "depth": 20}


class TestMilvusPartitions(StackContract):
    """Inverted lists, quantised, by distance."""

    stack = Milvus
    params: ClassVar[Mapping[str, Any]] = {"index": "ivf_sq8", "metric": "l2", "nlist": 2, "nprobe": 2}


class TestMilvusKept(StackContract):
    """A folder that stays, where the second build finds the collection of the first, open at the same time."""

    stack = Milvus
    params: ClassVar[Mapping[str, Any]] = {"index": "autoindex"}

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make_stack(self) -> Stack:
        """Return a stack over the test's own folder."""
        return Milvus(path=str(self.folder / "kept"), **self.params)
