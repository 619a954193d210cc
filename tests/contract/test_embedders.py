"""Every embedder keeps the promises of the shipped contract suite, the fake and the cached one included."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragassay.errors import PluginError
from ragassay.plugins import weights
from ragassay.plugins.embedders.minilm import KIND, MiniLM
from ragassay.plugins.embedders.openai import OpenAIEmbedder
from ragassay.run.embeddings import CachedEmbedder
from ragassay.seams import Embedder
from ragassay.testing.embedder_contract import EmbedderContract
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.provider_imitations import openai_embeddings
from ragassay.testing.provider_servers import ProviderServer


class TestWordEmbedder(EmbedderContract):
    """The fake that ships with the contract suites."""

    embedder = WordEmbedder


class TestCachedEmbedder(EmbedderContract):
    """A store on disk changes no row."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make_embedder(self) -> Embedder:
        """Return one over a folder of its own."""
        return CachedEmbedder(WordEmbedder(), Path(tempfile.mkdtemp(dir=self.folder)))


class TestOpenAI(EmbedderContract):
    """The embedder over an endpoint, against a local server."""

    @pytest.fixture(autouse=True)
    def _serving(self) -> Iterator[None]:
        self.made: list[OpenAIEmbedder] = []
        with ProviderServer(openai_embeddings) as server:
            self.base_url = server.base_url
            yield
            for one in self.made:
                one.close()

    def make_embedder(self) -> Embedder:
        """Return one that sends batches of five."""
        self.made.append(OpenAIEmbedder(id="e", base_url=self.base_url, dimension=1536, batch=5))
        return self.made[-1]


class TestMiniLM(EmbedderContract):
    """The bundled model; skipped where its weights were not pulled."""

    embedder = MiniLM

    @pytest.fixture(autouse=True)
    def _needs_weights(self) -> None:
        try:
            weights.require(KIND, weights.default_cache())
        except PluginError as error:
            pytest.skip(str(error))
