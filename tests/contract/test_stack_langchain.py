"""Retrievers of LangChain keep every promise of a stack."""

from __future__ import annotations

from typing import ClassVar

import pytest
from foreign_case import ForeignContract

pytest.importorskip("langchain_core", reason="pip install 'ragassay[langchain]'")

from ragassay.plugins.stacks.foreign.langchain import LangChain


class TestInMemory(ForeignContract):
    """LangChain's in-memory store, filled with the chunks."""

    stack = LangChain
    params: ClassVar = {"retriever": "lab_langchain:in_memory"}


class TestCut(ForeignContract):
    """A retriever that cannot be told k."""

    stack = LangChain
    params: ClassVar = {"retriever": "lab_langchain:ignorant", "concurrent": False}


class OwnCorpus(LangChain):
    """The same class, as the runner takes it with `corpus = "own"`."""

    owns_corpus = True


class TestFilledBefore(ForeignContract):
    """A store that was filled elsewhere."""

    stack = OwnCorpus
    params: ClassVar = {"retriever": "lab_langchain:filled_before", "corpus": "own"}
