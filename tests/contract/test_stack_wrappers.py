"""The wrappers over other stacks keep the promises of the shipped contract suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.mmr import MMR
from ragassay.plugins.stacks.parent import Parent
from ragassay.plugins.stacks.window import Window
from ragassay.records import Chunk
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import StackContract, ignore_progress


class OverBM25(StackContract):
    """A wrapper over `bm25`."""

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Build the stack that is wrapped, beside the embedder."""
        return {"of": BM25().build(chunks, {}, ignore_progress), "embedder": WordEmbedder()}


class TestWindow(OverBM25):
    """One neighbour on each side."""

    stack = Window


class TestWindowHitFirst(OverBM25):
    """Two before, none after, the hit leading."""

    stack = Window
    params: ClassVar[Mapping[str, Any]] = {"before": 2, "after": 0, "order": "hit"}


class TestParentSection(OverBM25):
    """Sections."""

    stack = Parent


class TestParentPage(OverBM25):
    """Pages, few hits, two chunks of each."""

    stack = Parent
    params: ClassVar[Mapping[str, Any]] = {"level": "page", "depth": 6, "max_chunks": 2}


class TestMMR(OverBM25):
    """Half relevance, half novelty, over `bm25`."""

    stack = MMR


class TestMMROverDense(StackContract):
    """Over `dense`, whose scores can be negative."""

    stack = MMR
    params: ClassVar[Mapping[str, Any]] = {"lambda": "0.3", "depth": 8}

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Build `dense` over the test embedder."""
        dense = Dense().build(chunks, {"embedder": WordEmbedder()}, ignore_progress)
        return {"of": dense, "embedder": WordEmbedder()}
