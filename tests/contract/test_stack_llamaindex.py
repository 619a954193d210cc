"""Retrievers of LlamaIndex keep every promise of a stack."""

from __future__ import annotations

from typing import ClassVar

import pytest
from foreign_case import ForeignContract

from ragassay.testing.stack_cases import corpus

pytest.importorskip("llama_index.core", reason="pip install 'ragassay[llamaindex]'")

from ragassay.plugins.stacks.foreign.llamaindex import LlamaIndex


class TestInMemory(ForeignContract):
    """LlamaIndex's in-memory store, filled with the chunks."""

    stack = LlamaIndex
    params: ClassVar = {"retriever": "lab_llamaindex:in_memory"}

    def test_a_smaller_k_is_a_prefix(self) -> None:
        """But for equal scores: this store orders those otherwise for another k, and the row takes its order."""
        with self.built(corpus()) as retriever:
            for question in self.asked():
                more, fewer = self.ask(retriever, question, 7), self.ask(retriever, question, 3)
                assert [hit.score for hit in fewer] == [hit.score for hit in more[:3]]
                clear = [hit for hit in more[:3] if [one.score for one in more].count(hit.score) == 1]
                assert set(clear) <= set(fewer)


class OwnCorpus(LlamaIndex):
    """The same class, as the runner takes it with `corpus = "own"`."""

    owns_corpus = True


class TestFilledBefore(ForeignContract):
    """An index that was filled elsewhere."""

    stack = OwnCorpus
    params: ClassVar = {"retriever": "lab_llamaindex:filled_before", "corpus": "own"}
