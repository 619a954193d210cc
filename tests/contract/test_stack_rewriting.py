"""Stacks that let a model write what is searched for keep the promises of the shipped contract suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.hyde import HyDE
from ragassay.plugins.stacks.multiquery import MultiQuery
from ragassay.records import Chunk, Message
from ragassay.testing.blocking_model import BlockingScript
from ragassay.testing.stack_contract import StackContract, ignore_progress


def _says(messages: Sequence[Message]) -> str:
    """Repeat the message in other words, two lines of it."""
    asked = messages[-1].content.split("question:\n", 1)[-1]
    return f"{asked[:500]} river\n2. retries of the default fox"


class OverBM25(StackContract):
    """A wrapper over `bm25` with a model."""

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Build what is wrapped, and a model that always says the same of the same."""
        return {"of": BM25().build(chunks, {}, ignore_progress), "model": BlockingScript(_says)}


class TestMultiQuery(OverBM25):
    """Wordings and the question."""

    stack = MultiQuery


class TestMultiQueryAlone(OverBM25):
    """Wordings without the question."""

    stack = MultiQuery
    params: ClassVar[Mapping[str, Any]] = {"with_question": False, "queries": 1, "depth": 7}


class TestHyDE(OverBM25):
    """One passage."""

    stack = HyDE


class TestHyDEFused(OverBM25):
    """Two passages and the question."""

    stack = HyDE
    params: ClassVar[Mapping[str, Any]] = {"passages": 2, "with_question": True}
