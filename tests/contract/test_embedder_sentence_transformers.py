"""The embedder over sentence-transformers keeps the promises of the contract suite; skipped without PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("sentence_transformers", reason="pip install torch 'ragassay[sentence-transformers]'")

from ragassay.plugins.embedders.sentence_transformers import SentenceTransformersEmbedder
from ragassay.seams import Embedder
from ragassay.testing.embedder_contract import EmbedderContract
from tiny_sentence_model import PROMPTS, tiny_sentence_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small model with prompts."""
    return tiny_sentence_model(tmp_path_factory.mktemp("tiny"), PROMPTS)


class TestSentenceTransformers(EmbedderContract):
    """With a model that is made on the spot."""

    @pytest.fixture(autouse=True)
    def _folder(self, model: Path) -> None:
        self.folder = model

    def make_embedder(self) -> Embedder:
        """Return one over the folder."""
        return SentenceTransformersEmbedder(path=str(self.folder))
