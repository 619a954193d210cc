"""The stack `tantivy` keeps the promises of the contract suite, however it cuts text into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("tantivy", reason="pip install 'ragassay[tantivy]'")

from ragassay.plugins.stacks.tantivy import Tantivy
from ragassay.records import Chunk
from ragassay.testing.stack_contract import StackContract


class TestTantivy(StackContract):
    """Its defaults, in a temporary folder."""

    stack = Tantivy


class TestTantivyStems(StackContract):
    """Stems, no stop words, accents folded."""

    stack = Tantivy
    params: ClassVar[Mapping[str, Any]] = {"stemmer": "english", "stopwords": "none", "ascii_folding": True}


class TestTantivyGrams(StackContract):
    """Runs of two and three characters."""

    stack = Tantivy
    params: ClassVar[Mapping[str, Any]] = {"tokenizer": "ngram"}


class TestTantivyKept(StackContract):
    """A cache, where the second build finds the index of the first."""

    stack = Tantivy

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Give the test's own folder as the cache."""
        return {"cache": self.folder / "tantivy"}
