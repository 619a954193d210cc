"""Every built-in model under the contract that ships for plugin authors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ragassay.errors import PluginError
from ragassay.plugins import load, weights
from ragassay.plugins.models.openai import OpenAIModel
from ragassay.plugins.models.reader import Reader
from ragassay.testing.chat_replies import echo
from ragassay.testing.chat_server import ChatServer
from ragassay.testing.model_contract import ModelContract

if TYPE_CHECKING:
    from ragassay.seams import Model


class TestReader(ModelContract):
    """The extractive reader."""

    def make_model(self) -> Model:
        """Return a reader."""
        return Reader()


class TestOpenAI(ModelContract):
    """The OpenAI-compatible model against a local server that echoes."""

    def surroundings(self) -> AbstractAsyncContextManager[object]:
        """Run the server."""
        return self._serving()

    @asynccontextmanager
    async def _serving(self) -> AsyncIterator[None]:
        async with ChatServer(echo) as server:
            self.base_url = server.base_url
            yield

    def make_model(self) -> Model:
        """Return a model that asks the server."""
        return OpenAIModel("echo-1", self.base_url)


class TestLlamaCpp(ModelContract):
    """The local model, where xllamacpp and the weights are there."""

    def make_model(self) -> Model:
        """Return SmolLM2 with a small context."""
        pytest.importorskip("xllamacpp", reason="needs the extra ragassay[llamacpp] and libgomp", exc_type=ImportError)
        try:
            path: Path = weights.require("smollm2-135m", weights.default_cache())
        except PluginError as error:
            pytest.skip(str(error))
        model: Model = load("models", "llamacpp")(path=path, params={"n_ctx": 512, "max_tokens": 8, "threads": 1})
        return model
