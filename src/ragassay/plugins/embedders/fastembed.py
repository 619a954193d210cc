"""FastEmbed: ONNX models on onnxruntime, from a local folder or by the name under which the package knows them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import fastembed
import numpy as np
from fastembed.common.model_description import ModelSource, PoolingType
from loguru import logger
from numpy.typing import NDArray

from ragassay.canon import sha256
from ragassay.errors import InputError, PluginError
from ragassay.plugins.embedders.local import EmbedderParameters, check_truncation, described, digests_of, finished
from ragassay.records import JSON

logger.disable("fastembed")  # what fails is raised; its log would be written between the lines of the terminal

POOLINGS = {
    "mean": PoolingType.MEAN,
    "cls": PoolingType.CLS,
    "last": PoolingType.LAST_TOKEN,
    "none": PoolingType.DISABLED,
}
_REGISTERING = threading.Lock()
_COUNTED = 256
"""Texts tokenised at a time when they are only counted."""


class FastEmbedEmbedder:
    """Takes `path` (with `model_file`, `pooling`) or `id`, `threads`, `batch` and what all embedders take."""

    def __init__(self, **params: Any) -> None:
        read = EmbedderParameters("fastembed", params)
        self._path = read.folder()
        self._id = read.text("id")
        self._model_file = read.text("model_file") or "model.onnx"
        self._pooling = read.choice("pooling", "mean", tuple(POOLINGS))
        self._max_seq_length = read.limit("max_seq_length")
        self._truncate_dim = read.limit("truncate_dim")
        self._normalise = read.flag("normalise", True)
        self._batch = read.integer("batch", 1, low=1, high=4096)
        self._threads = read.integer("threads", 1, low=1, high=256)
        self._prefix = {
            "document": read.prefix("document_prefix") or "",
            "query": read.prefix("query_prefix") or "",
        }
        read.one_of("path", "id")
        read.finish()
        if given := [name for name in ("model_file", "pooling") if self._id and name in params]:
            raise InputError(
                "the parameters of 'fastembed' cannot be used",
                [f"{name} belongs to path: the package knows it for an id" for name in given],
            )
        self._lock = threading.Lock()
        self._loaded: _Model | None = None

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return rows of shape (len(texts), dimension), of length 1 unless `normalise` is off.

        Raises `PluginError` when the model is absent, damaged or cannot be run.
        """
        model = self._model()
        if not texts:
            return np.zeros((0, self._truncate_dim or model.dimension), dtype=np.float32)
        prefix = self._prefix[kind]
        with self._lock:
            rows = model.rows([prefix + text for text in texts], kind, self._batch)
        return finished(rows, self._truncate_dim, self._normalise)

    def count_truncated(self, texts: Sequence[str]) -> int:
        """Return how many of `texts`, their prefix before them, are longer than the limit, without embedding them."""
        model, prefix = self._model(), self._prefix["document"]
        with self._lock:
            return sum(
                model.too_long([prefix + text for text in texts[at : at + _COUNTED]])
                for at in range(0, len(texts), _COUNTED)
            )

    def describe(self) -> JSON:
        """Return model, weights digests, dimension, pooling, limit, prefixes and versions (loads the files)."""
        model = self._model()
        own = {} if self._id else {"model_file": self._model_file, "pooling": self._pooling}
        return described(
            {name: version(name) for name in ("fastembed", "onnxruntime", "tokenizers")},
            kind="fastembed",
            model=self._id or None,
            revision=model.revision,
            weights=model.digests,
            dimension=self._truncate_dim or model.dimension,
            truncated_from=None if self._truncate_dim is None else model.dimension,
            token_limit=model.limit or "none",
            normalised=self._normalise,
            batch=self._batch,
            threads=self._threads,
            prefix=dict(self._prefix),
            **own,
        )

    def _model(self) -> _Model:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> _Model:
        try:
            name = self._id or _registered(str(self._path), self._model_file, self._pooling)
            local = {} if self._path is None else {"specific_model_path": str(self._path)}
            embedding = fastembed.TextEmbedding(
                name, threads=self._threads, providers=["CPUExecutionProvider"], cuda=False, **local
            )
            model = _Model(embedding, self._max_seq_length)
        except Exception as error:  # the package, its download and onnxruntime raise types of their own
            where = self._id or self._path
            needs = (
                f"it needs {self._model_file}, tokenizer.json and a tokenizer_config.json that says model_max_length "
                "and pad_token there"
                if self._path
                else "it has to be a name that fastembed knows, and its files have to be here or to be reached"
            )
            raise PluginError(f"fastembed cannot load {where}: {error}; {needs}") from error
        check_truncation(self._truncate_dim, model.dimension)
        return model


class _Model:
    """A loaded model with the digests of its files."""

    def __init__(self, embedding: Any, max_seq_length: int | None) -> None:
        self._embedding = embedding
        self._tokenizer = embedding.model.tokenizer
        if max_seq_length is not None:
            side = (self._tokenizer.truncation or {}).get("direction", "right")
            self._tokenizer.enable_truncation(max_seq_length, direction=side)
        self.limit: int | None = (self._tokenizer.truncation or {}).get("max_length")
        folder = Path(embedding.model._model_dir)
        self.digests = digests_of(folder, embedding.model.model_description.model_file)
        self.revision = folder.name if folder.parent.name == "snapshots" else None
        self.dimension = self.rows(["x"], "document", 1).shape[1]

    def rows(self, texts: list[str], kind: str, batch: int) -> NDArray[Any]:
        """Return the vectors of texts as the model gives them."""
        ask = self._embedding.query_embed if kind == "query" else self._embedding.passage_embed
        try:
            return np.stack(list(ask(texts, batch_size=batch)))
        except Exception as error:  # onnxruntime and the tokenizer raise types of their own
            raise PluginError(f"fastembed could not embed {len(texts)} texts: {error}") from error

    def too_long(self, texts: list[str]) -> int:
        """Return how many of texts the tokenizer cuts off."""
        return sum(1 for one in self._tokenizer.encode_batch(texts) if one.overflowing)


def _registered(path: str, model_file: str, pooling: str) -> str:
    """Make a local folder known to the package, once, and return its name there."""
    name = "local/" + sha256("\0".join((path, model_file, pooling)).encode())
    with _REGISTERING:
        if name not in {one["model"] for one in fastembed.TextEmbedding.list_supported_models()}:
            fastembed.TextEmbedding.add_custom_model(
                name,
                pooling=POOLINGS[pooling],
                normalization=False,
                sources=ModelSource(url="file:local"),  # it has to name one, and a folder of one's own comes before it
                dim=1,  # it has to be said, and nothing is computed from it
                model_file=model_file,
            )
    return name
