"""The static embedder keeps the promises of the contract suite, whole and cut short."""

from __future__ import annotations

import pytest

pytest.importorskip("ragassay.plugins.embedders.wordllama", reason="pip install 'ragassay[wordllama]'")

from ragassay.plugins.embedders.wordllama import WordLlamaEmbedder
from ragassay.seams import Embedder
from ragassay.testing.embedder_contract import EmbedderContract


class TestWordLlama(EmbedderContract):
    """With the weights of the package."""

    embedder = WordLlamaEmbedder


class TestWordLlamaShort(EmbedderContract):
    """The first 64 numbers of each vector, with prefixes."""

    def make_embedder(self) -> Embedder:
        """Return one that keeps 64 numbers."""
        return WordLlamaEmbedder(truncate_dim=64, query_prefix="q: ", document_prefix="d: ")
