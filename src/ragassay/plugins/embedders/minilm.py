"""all-MiniLM-L6-v2, int8 weights, on onnxruntime: one text per call, so a text has one vector whatever its batch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import InputError, PluginError
from ragassay.plugins import weights
from ragassay.records import JSON

KIND = "minilm-l6-v2-int8"
DIMENSION = 384
TOKEN_LIMIT = 256
"""Word pieces per text, the two special ones included; what stands behind them is not embedded."""

_COUNTED = 256
"""Texts tokenised at a time when they are only counted: an encoding takes far more memory than its text."""


class MiniLM:
    """Mean-pooled, unit-length sentence vectors of 384 numbers; loads its files when it is first used."""

    weights: ClassVar[str] = KIND
    """The name under which `ragassay models pull` fetches its files when no `path` is given."""

    def __init__(self, *, path: str | Path | None = None, threads: int = 2, **unknown: Any) -> None:
        problems = [f"unknown parameter {name!r} (known: path, threads)" for name in sorted(unknown)]
        if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 256:
            problems.append(f"threads = {threads!r} must be an integer from 1 to 256")
        if path is not None and (not isinstance(path, str | Path) or not str(path)):
            problems.append(f"path = {path!r} must be the folder of model.onnx and tokenizer.json")
        if problems:
            raise InputError(f"the parameters of {KIND!r} cannot be used", problems)
        self._path = None if path is None else Path(path)
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: _Model | None = None
        self.truncated = 0
        """Documents embedded so far that were longer than the limit."""

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return unit-length rows of shape (len(texts), 384); documents and queries are treated alike.

        Raises `PluginError` when the weights are absent, damaged or cannot be run.
        """
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        model = self._model()
        try:
            encoded = model.tokenizer.encode_batch(list(texts))
            longest_first = sorted(range(len(texts)), key=lambda at: -len(encoded[at].ids))
            rows = np.empty((len(texts), DIMENSION), dtype=np.float32)
            with ThreadPoolExecutor(self._threads) as pool:
                for at, row in zip(
                    longest_first, pool.map(lambda at: model.row(encoded[at]), longest_first), strict=True
                ):
                    rows[at] = row
        except Exception as error:  # the runtime and the tokenizer raise types of their own
            raise PluginError(f"{KIND} could not embed {len(texts)} texts: {error}") from error
        if kind == "document":
            with self._lock:
                self.truncated += sum(1 for one in encoded if one.overflowing)
        return rows

    def count_truncated(self, texts: Sequence[str]) -> int:
        """Return how many of `texts` are longer than the limit, without embedding them."""
        tokenizer = self._model().tokenizer
        blocks = (tokenizer.encode_batch(list(texts[at : at + _COUNTED])) for at in range(0, len(texts), _COUNTED))
        return sum(1 for block in blocks for one in block if one.overflowing)

    def describe(self) -> JSON:
        """Return model, weights digests, dimension, pooling, limit and library versions (loads the files)."""
        model = self._model()
        return {
            "kind": KIND,
            "model": "all-MiniLM-L6-v2",
            "precision": "int8 weights, float32 arithmetic",
            "weights": model.digests,
            "dimension": DIMENSION,
            "token_limit": TOKEN_LIMIT,
            "pooling": "mean",
            "normalised": True,
            "prefix": {"document": "", "query": ""},
            "onnxruntime": model.versions["onnxruntime"],
            "tokenizers": model.versions["tokenizers"],
        }

    def _model(self) -> _Model:
        with self._lock:
            if self._loaded is None:
                self._loaded = _Model(self._folder())
            return self._loaded

    def _folder(self) -> Path:
        if self._path is None:
            return weights.require(KIND, weights.default_cache()).parent
        return self._path if self._path.is_dir() else self._path.parent


class _Model:
    """The tokenizer and the session of one folder, with the digests of the files that were loaded."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        import tokenizers

        model, vocabulary = folder / "model.onnx", folder / "tokenizer.json"
        try:
            self.digests = {path.name: weights.file_digest(path) for path in (model, vocabulary)}
            self.tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
            # The file truncates and pads to 128; both are set here, so that its defaults never apply.
            self.tokenizer.enable_truncation(TOKEN_LIMIT)
            self.tokenizer.no_padding()
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime and tokenizers raise plain Exception for a file they cannot read
            raise PluginError(
                f"{KIND} cannot be loaded from {folder}: {error}; it needs model.onnx and tokenizer.json there "
                f"(ragassay models pull {KIND} fetches them)"
            ) from error
        self.versions = {"onnxruntime": onnxruntime.__version__, "tokenizers": tokenizers.__version__}

    def row(self, encoded: Any) -> NDArray[np.float32]:
        """Return the unit-length mean over the word pieces of one encoded text, shape (384,)."""
        ids = np.array([encoded.ids], dtype=np.int64)
        mask = np.array([encoded.attention_mask], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self.session.run(None, inputs)[0][0]
        mean = hidden[mask[0] == 1].mean(axis=0, dtype=np.float64)
        row: NDArray[np.float32] = (mean / np.linalg.norm(mean)).astype(np.float32)
        return row
