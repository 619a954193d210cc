"""FastEmbed: ONNX models on onnxruntime, from a local folder or by the name under which the package knows them."""

from __future__ import annotations

import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

import fastembed
import numpy as np
from fastembed.common.model_description import ModelSource, PoolingType
from loguru import logger
from numpy.typing import NDArray

from ragassay.canon import sha256
from ragassay.errors import PluginError
from ragassay.plugins.embedders.local import EmbedderParameters, Kind, LocalEmbedder, check_truncation, digests_of
from ragassay.records import JSON

logger.disable("fastembed")  # what fails is raised; its log would be written between the lines of the terminal

POOLINGS = {
    "mean": PoolingType.MEAN,
    "cls": PoolingType.CLS,
    "last": PoolingType.LAST_TOKEN,
    "none": PoolingType.DISABLED,
}
_REGISTERING = threading.Lock()


class FastEmbedEmbedder(LocalEmbedder["_Model"]):
    """Takes `path` (with `model_file`, `pooling`) or `id`, `threads`, `batch` and what all embedders take."""

    def __init__(self, **params: Any) -> None:
        read = EmbedderParameters("fastembed", params)
        self._path = read.folder()
        self._id = read.text("id")
        self._model_file = read.text("model_file") or "model.onnx"
        self._pooling = read.choice("pooling", "mean", tuple(POOLINGS))
        self._max_seq_length = read.limit("max_seq_length")
        super().__init__(read)
        self._batch = read.integer("batch", 1, low=1, high=4096)
        self._threads = read.integer("threads", 1, low=1, high=256)
        self._prefix = read.prefixes()
        read.one_of("path", "id")
        given = [name for name in ("model_file", "pooling") if self._id and name in params]
        read.note(*(f"{name} belongs to path: the package knows it for an id" for name in given))
        read.finish()

    def describe(self) -> JSON:
        """Return model, weights digests, dimension, pooling, limit, prefixes and versions (loads the files)."""
        model = self._model()
        own = {} if self._id else {"model_file": self._model_file, "pooling": self._pooling}
        return self._described(
            model,
            {name: version(name) for name in ("fastembed", "onnxruntime", "tokenizers")},
            kind="fastembed",
            model=self._id or None,
            revision=model.revision,
            weights=model.digests,
            token_limit=model.limit or "none",
            batch=self._batch,
            threads=self._threads,
            prefix=dict(self._prefix),
            **own,
        )

    def _rows(self, model: _Model, texts: list[str], kind: Kind) -> NDArray[Any]:
        return model.rows([self._prefix[kind] + text for text in texts], kind, self._batch)

    def _too_long(self, model: _Model, texts: list[str]) -> int:
        return model.too_long([self._prefix["document"] + text for text in texts])

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
