"""Which library runs a cross-encoder; one that is not installed is missed only where it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.errors import InputError
from ragassay.plugins.stacks.rerank.onnx import OnnxScorer
from ragassay.plugins.stacks.rerank.scorer import Scorer
from ragassay.plugins.stacks.rerank.settings import CrossEncoderSettings


def cross_encoder(settings: CrossEncoderSettings, folder: Path, texts: Sequence[str]) -> Scorer:
    """Return the scorer that runs the model; `path` lies in `folder`, `texts` are those of the corpus."""
    if settings.runtime == "onnx":
        return OnnxScorer(settings, folder, texts)
    try:
        from ragassay.plugins.stacks.rerank.torch import TorchScorer
    except ImportError as error:
        raise InputError(
            f"runtime = 'sentence-transformers' needs packages that are not here ({error}); install PyTorch, then "
            "pip install 'ragassay[sentence-transformers]'"
        ) from error
    return TorchScorer(settings, folder, texts)
