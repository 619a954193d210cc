"""The embedder over FastEmbed keeps the promises of the contract suite with a local folder."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastembed", reason="pip install 'ragassay[fastembed]'")

from minilm_folder import minilm_folder
from ragassay.plugins.embedders.fastembed import FastEmbedEmbedder
from ragassay.seams import Embedder
from ragassay.testing.embedder_contract import EmbedderContract


class TestFastEmbed(EmbedderContract):
    """With the bundled MiniLM weights; skipped where they were not pulled."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = minilm_folder(tmp_path / "minilm")

    def make_embedder(self) -> Embedder:
        """Return one over the folder."""
        return FastEmbedEmbedder(path=str(self.folder))
