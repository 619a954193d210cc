"""The stack `lancedb` keeps the promises of the contract suite, whatever it searches and by whatever index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("lancedb", reason="pip install 'ragassay[lancedb]'")

from ragassay.plugins.stacks.lancedb import LanceDB
from ragassay.seams import Stack
from ragassay.testing.stack_contract import StackContract


class TestLanceCosine(StackContract):
    """Every vector compared, cosine."""

    stack = LanceDB


@pytest.mark.slow
class TestLanceDistance(StackContract):
    """Every vector compared, Euclidean distance negated."""

    stack = LanceDB
    params: ClassVar[Mapping[str, Any]] = {"metric": "l2"}


@pytest.mark.slow
class TestLanceProduct(StackContract):
    """Every vector compared, dot product of vectors that are not normalised."""

    stack = LanceDB
    params: ClassVar[Mapping[str, Any]] = {"metric": "dot"}


class TestLanceText(StackContract):
    """Full-text search."""

    stack = LanceDB
    params: ClassVar[Mapping[str, Any]] = {"search": "text"}


class TestLanceHybrid(StackContract):
    """Vectors and words, fused, of which each gives four."""

    stack = LanceDB
    params: ClassVar[Mapping[str, Any]] = {"search": "hybrid", "depth": 4}


class TestLanceGraph(StackContract):
    """An index of partitions with a graph in each."""

    stack = LanceDB
    params: ClassVar[Mapping[str, Any]] = {"index": "ivf_hnsw_sq", "partitions": 1}


class TestLanceKept(StackContract):
    """A folder that stays, where the second build finds the table of the first."""

    stack = LanceDB
    params: ClassVar[Mapping[str, Any]] = {"search": "hybrid"}

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make_stack(self) -> Stack:
        """Return a stack over the test's own folder."""
        return LanceDB(path=str(self.folder), **self.params)
