"""Retrievers of Haystack keep every promise of a stack."""

from __future__ import annotations

from typing import ClassVar

import pytest
from foreign_case import ForeignContract

pytest.importorskip("haystack", reason="pip install 'ragassay[haystack]'")

from ragassay.plugins.stacks.foreign.haystack import Haystack


class TestWords(ForeignContract):
    """Haystack's in-memory store, filled with the chunks, and its BM25 retriever."""

    stack = Haystack
    params: ClassVar = {"retriever": "lab_haystack:bm25"}


class TestEmbedding(ForeignContract):
    """A pipeline of an embedder and an embedding retriever."""

    stack = Haystack
    params: ClassVar = {"retriever": "lab_haystack:embedding"}


class TestHybrid(ForeignContract):
    """A pipeline that joins both."""

    stack = Haystack
    params: ClassVar = {"retriever": "lab_haystack:hybrid"}


class OwnCorpus(Haystack):
    """The same class, as the runner takes it with `corpus = "own"`."""

    owns_corpus = True


class TestFilledBefore(ForeignContract):
    """A store that was filled elsewhere."""

    stack = OwnCorpus
    params: ClassVar = {"retriever": "lab_haystack:filled_before", "corpus": "own"}
