"""The cross-encoder of `rerank` on sentence-transformers; skipped without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="pip install torch 'ragassay[sentence-transformers]'")

from ragassay.errors import InputError, PluginError
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.rerank import Rerank
from ragassay.plugins.stacks.rerank.settings import CrossEncoderSettings, read_settings
from ragassay.plugins.stacks.rerank.torch import TorchScorer
from ragassay.plugins.weights import file_digest
from ragassay.records import Chunk
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import StackContract, ignore_progress
from tiny_torch_cross_encoder import POSITIONS, tiny_torch_cross_encoder

QUESTION = "what is the limit of retries"
PASSAGES = ("the limit of retries is three", "cache folders are cleared", "the proxy is named by url", "zzzz")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small model."""
    return tiny_torch_cross_encoder(tmp_path_factory.mktemp("torch"))


def scorer(folder: Path, texts: Sequence[str] = (), **params: Any) -> TorchScorer:
    """Return the scorer over a folder."""
    settings, _ = read_settings(
        {"method": "cross-encoder", "runtime": "sentence-transformers", "path": str(folder), **params}
    )
    assert isinstance(settings, CrossEncoderSettings)
    return TorchScorer(settings, Path(), texts)


class TestTorch(StackContract):
    """A small model made here."""

    stack = Rerank
    params: ClassVar[Mapping[str, Any]] = {"method": "cross-encoder", "runtime": "sentence-transformers"}

    @pytest.fixture(autouse=True)
    def _folder(self, folder: Path) -> None:
        self.path = str(folder)

    def make_stack(self) -> Rerank:
        """Return one over the folder."""
        return Rerank(path=self.path, **self.params)

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Build the stack that is wrapped."""
        return {"of": Dense().build(chunks, {"embedder": WordEmbedder()}, ignore_progress)}


def test_scores_are_those_of_the_library(folder: Path) -> None:
    """Of `predict` with its usual activation, to the precision of float32; numbers without any."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), device="cpu")
    pairs = [(QUESTION, passage) for passage in PASSAGES]
    assert scorer(folder).scores(QUESTION, PASSAGES) == pytest.approx(model.predict(pairs, batch_size=1), abs=1e-6)
    import torch

    raw = model.predict(pairs, batch_size=1, activation_fn=torch.nn.Identity())
    found = scorer(folder, scores="logits").scores(QUESTION, PASSAGES)
    assert found == pytest.approx(raw, abs=1e-6)
    assert len(set(np.round(found, 4))) == len(PASSAGES)


def test_batches_change_the_last_digits_at_most(folder: Path) -> None:
    """Padding is not read."""
    alone, together = (scorer(folder, batch=batch).scores(QUESTION, PASSAGES) for batch in (1, 4))
    assert alone == pytest.approx(together, abs=1e-6)


def test_the_description_holds_files_limit_and_versions(folder: Path) -> None:
    """Where the folder lies is not recorded."""
    long = "cache " * (POSITIONS - 3)
    told = scorer(folder, (long, long + "cache", "limit")).describe()
    assert told["weights"]["model.safetensors"] == file_digest(folder / "model.safetensors")
    assert (told["token_limit"], told["truncated_chunks"], told["batch"]) == (POSITIONS, 1, 1)
    assert (told["device"], told["precision"], told["scores"]) == ("cpu", "float32", "sigmoid")
    assert {"sentence_transformers", "transformers", "tokenizers", "torch"} <= told.keys()
    assert str(folder) not in str(told)
    assert "prompt" not in told


def test_the_limit_can_be_lowered_and_not_raised(folder: Path) -> None:
    """A pair beyond it is cut, as the description says."""
    short = scorer(folder, max_tokens=10)
    assert short.describe()["token_limit"] == 10
    assert short.scores("limit", ["cache " * 6]) == short.scores("limit", ["cache " * 40])
    with pytest.raises(InputError, match=rf"max_tokens = 99 is more than the {POSITIONS} tokens"):
        scorer(folder, max_tokens=99)


def test_two_labels_are_refused(tmp_path: Path) -> None:
    """Which of them is relevance is nobody's guess."""
    with pytest.raises(InputError, match="has 2 labels"):
        scorer(tiny_torch_cross_encoder(tmp_path, labels=2))


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(PluginError, match=r"cannot load the cross-encoder .*there is no config\.json"):
        scorer(tmp_path)
