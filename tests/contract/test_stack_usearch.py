"""The stack `usearch` keeps the promises of the contract suite, whatever its numbers are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import pytest

if find_spec("usearch") is None:  # not imported here: that is the stack's to do, after onnxruntime
    pytest.skip("pip install 'ragassay[usearch]'", allow_module_level=True)

from ragassay.plugins.stacks.usearch import USearch
from ragassay.records import Chunk
from ragassay.testing.stack_contract import StackContract


class TestUSearch(StackContract):
    """Half precision, candidates compared anew."""

    stack = USearch


class TestUSearchAsFound(StackContract):
    """int8, order and scores as the graph has them."""

    stack = USearch
    params: ClassVar[Mapping[str, Any]] = {"dtype": "i8", "rescore": False}


class TestUSearchKept(StackContract):
    """A cache, where the second build finds the graph of the first."""

    stack = USearch
    params: ClassVar[Mapping[str, Any]] = {"dtype": "f32"}

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Return the embedder and the cache."""
        return {**super().parts(chunks), "cache": self.folder}
