"""A cross-encoder of sentence-transformers on PyTorch, from a local folder or by its name on the Hugging Face hub."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import torch
from sentence_transformers import CrossEncoder
from transformers.utils import logging as transformers_logging

from ragassay.errors import InputError, PluginError, StackError
from ragassay.plugins.embedders.local import digests_of
from ragassay.plugins.stacks.rerank.logits import TRUNCATION, as_scores
from ragassay.plugins.stacks.rerank.onnx import MOST_TOKENS
from ragassay.plugins.stacks.rerank.settings import CrossEncoderSettings
from ragassay.records import JSON

_OTHERS = ["*.onnx", "*.onnx_data", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.gguf"]
_LIBRARIES = ("sentence-transformers", "transformers", "tokenizers", "torch")
_COUNTED = 256


class TorchScorer:
    """Runs `CrossEncoder`; one pair a call, unless `batch` says otherwise. Code that comes with a model is not run."""

    def __init__(self, settings: CrossEncoderSettings, folder: Path, texts: Sequence[str]) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        where = settings.id or folder / (settings.path or "")
        try:
            self._folder = _folder(settings, folder)
            self._digests = digests_of(self._folder)
            self._model: Any = _loaded(self._folder, settings.device or "cpu")
        except Exception as error:  # torch, transformers and the hub raise types of their own
            raise PluginError(f"sentence-transformers cannot load the cross-encoder {where}: {error}") from error
        if self._model.num_labels != 1:
            raise InputError(f"the cross-encoder has {self._model.num_labels} labels; one is wanted, its relevance")
        self._limit = self._bounded(settings.max_tokens)
        self._truncated = self._count_longer(texts)

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return a score per passage; raises `StackError` where the model cannot be run."""
        try:
            with self._lock:
                logits = self._model.predict(
                    [(question, passage) for passage in passages],
                    batch_size=self._settings.batch or 1,
                    show_progress_bar=False,
                    activation_fn=torch.nn.Identity(),
                    convert_to_numpy=True,
                )
        except Exception as error:  # torch and the tokenizer raise types of their own
            raise StackError(f"the cross-encoder could not score {len(passages)} passages: {error}") from error
        return as_scores(np.asarray(logits, dtype=np.float64).reshape(-1), self._settings.scores)

    def describe(self) -> JSON:
        """Return model, revision, files' digests, limit, truncation, batch, what a score is, and versions."""
        about: JSON = {
            "method": "cross-encoder",
            "runtime": "sentence-transformers",
            "weights": self._digests,
            "precision": str(next(self._model.parameters()).dtype).removeprefix("torch."),
            "device": self._settings.device or "cpu",
            "token_limit": self._limit,
            "truncation": TRUNCATION,
            "truncated_chunks": self._truncated,
            "batch": self._settings.batch or 1,
            "scores": self._settings.scores,
        }
        if self._settings.id is not None:
            about |= {"id": self._settings.id, "revision": self._folder.name}
        if prompt := self._prompt():
            about["prompt"] = prompt
        return about | {name.replace("-", "_"): version(name) for name in _LIBRARIES}

    def close(self) -> None:
        """Hold nothing that has to be released."""

    def _prompt(self) -> str | None:
        """Return the prompt that the model puts before each pair by itself, None where it has none."""
        name = getattr(self._model, "default_prompt_name", None)
        return (getattr(self._model, "prompts", None) or {}).get(name)

    def _bounded(self, max_tokens: int | None) -> int:
        """Let the model read so many tokens of a pair, and return how many."""
        can = self._model.max_seq_length or math.inf
        if max_tokens is not None and max_tokens > can:
            raise InputError(f"max_tokens = {max_tokens} is more than the {can} tokens of the cross-encoder")
        limit = max_tokens or int(min(MOST_TOKENS, can))
        self._model.max_seq_length = limit
        return limit

    def _count_longer(self, texts: Sequence[str]) -> int:
        """Return how many of `texts` are cut beside even an empty question."""
        longer = 0
        for at in range(0, len(texts), _COUNTED):
            block = list(texts[at : at + _COUNTED])
            encoded = self._model.tokenizer([""] * len(block), block, truncation=False, verbose=False)
            longer += sum(len(ids) > self._limit for ids in encoded["input_ids"])
        return longer


def _folder(settings: CrossEncoderSettings, folder: Path) -> Path:
    """Return where the files are, downloaded if need be; of the hub's files the folder is named after the commit."""
    if settings.path is not None:
        if not (folder / settings.path / "config.json").is_file():
            raise FileNotFoundError("there is no config.json")
        return folder / settings.path
    assert settings.id is not None
    return Path(huggingface_hub.snapshot_download(settings.id, revision=settings.revision, ignore_patterns=_OTHERS))


def _loaded(folder: Path, device: str) -> CrossEncoder:
    shown = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    try:
        return CrossEncoder(str(folder), device=device, local_files_only=True, trust_remote_code=False)
    finally:
        if shown:
            transformers_logging.enable_progress_bar()
