"""A cross-encoder on onnxruntime: question and passage are read together, one number comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay.errors import InputError, PluginError, StackError
from ragassay.plugins.stacks.rerank.logits import TRUNCATION, as_scores
from ragassay.plugins.stacks.rerank.settings import CrossEncoderSettings
from ragassay.plugins.weights import file_digest
from ragassay.records import JSON

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MOST_TOKENS = 512
"""How many tokens of a pair are read where neither the board nor the model says less."""
_COUNTED = 256
"""Texts tokenised at a time when they are only counted."""


class OnnxScorer:
    """Runs `model.onnx` with `tokenizer.json` of one folder; one pair a call, unless `batch` says otherwise."""

    def __init__(self, settings: CrossEncoderSettings, folder: Path, texts: Sequence[str]) -> None:
        assert settings.path is not None
        self._settings = settings
        self._batch = settings.batch or 1
        self._model = _Model(folder / settings.path, settings.max_tokens)
        self._truncated = self._model.count_longer(texts)
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(settings.threads or 2, "rerank")

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return a score per passage; raises `StackError` where the model gives anything but one number for a pair."""
        pool = self._pool
        if pool is None:
            raise StackError("the cross-encoder is closed")
        batches = [passages[at : at + self._batch] for at in range(0, len(passages), self._batch)]
        logits = pool.map(lambda batch: self._model.logits(question, batch), batches)
        return as_scores(np.concatenate(list(logits)), self._settings.scores)

    def describe(self) -> JSON:
        """Return the files' digests, limit, truncation, batch, what a score is, and versions."""
        return {
            "method": "cross-encoder",
            "runtime": "onnx",
            "weights": dict(self._model.digests),
            "token_limit": self._model.limit,
            "truncation": TRUNCATION,
            "truncated_chunks": self._truncated,
            "batch": self._batch,
            "scores": self._settings.scores,
            **self._model.versions,
        }

    def close(self) -> None:
        """End the threads; may be called twice."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()


class _Model:
    """The tokenizer and the session of one folder, with the digests of the files that were read."""

    def __init__(self, folder: Path, max_tokens: int | None) -> None:
        import onnxruntime
        import tokenizers

        try:
            self.digests = _digests(folder)
            config = _config(folder)
            self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            self._session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime and tokenizers raise plain Exception for a file they cannot read
            raise PluginError(
                f"the cross-encoder cannot be loaded from {folder}: {error}; it needs model.onnx and tokenizer.json "
                "there, of one export"
            ) from error
        self.limit = _limit(config, max_tokens)
        self._inputs = [one.name for one in self._session.get_inputs()]
        if not {"input_ids"} <= set(self._inputs) <= set(INPUTS):
            raise PluginError(f"{folder}/model.onnx takes {', '.join(self._inputs)}; wanted are {', '.join(INPUTS)}")
        # The file may truncate and pad by rules of its own; both are set here, so that they never apply.
        self.tokenizer.enable_truncation(self.limit, strategy="longest_first")
        self.tokenizer.enable_padding(**_padding(self.tokenizer, config))
        self.versions = {"onnxruntime": onnxruntime.__version__, "tokenizers": tokenizers.__version__}
        self.logits("a question", ["a passage"])  # what is wrong with the graph shows before the first question

    def logits(self, question: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """Return the model's number for each pair, shape (len(passages),)."""
        try:
            encoded = self.tokenizer.encode_batch([(question, passage) for passage in passages])
            feeds = {name: np.array([_row(one, name) for one in encoded], dtype=np.int64) for name in self._inputs}
            found = np.asarray(self._session.run(None, feeds)[0], dtype=np.float64)
        except Exception as error:  # the runtime and the tokenizer raise types of their own
            raise StackError(f"the cross-encoder could not score {len(passages)} passages: {error}") from error
        if found.shape not in ((len(passages), 1), (len(passages),)):
            raise StackError(
                f"the cross-encoder gave numbers of shape {found.shape} for {len(passages)} pairs; one number for each "
                "is wanted: a model with one label"
            )
        return found.reshape(len(passages))

    def count_longer(self, texts: Sequence[str]) -> int:
        """Return how many of `texts` are cut beside even an empty question."""
        blocks = (texts[at : at + _COUNTED] for at in range(0, len(texts), _COUNTED))
        pairs = ([("", text) for text in block] for block in blocks)
        return sum(1 for block in pairs for one in self.tokenizer.encode_batch(block) if one.overflowing)


def _row(encoded: Any, name: str) -> list[int]:
    found: list[int] = {
        "input_ids": encoded.ids,
        "attention_mask": encoded.attention_mask,
        "token_type_ids": encoded.type_ids,
    }[name]
    return found


def _digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of the files that are read; weights beside the graph are named after it."""
    files = [folder / "model.onnx", folder / "tokenizer.json"]
    files += [path for path in sorted(folder.glob("model.onnx?*")) if path.is_file()]
    files += [path for path in [folder / "config.json"] if path.is_file()]
    return {path.name: file_digest(path) for path in files}


def _config(folder: Path) -> Mapping[str, Any]:
    path = folder / "config.json"
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Any]) if path.is_file() else {}


def _limit(config: Mapping[str, Any], max_tokens: int | None) -> int:
    """Return how many tokens of a pair are read; raises `InputError` where the board says more than the model can."""
    positions = config.get("max_position_embeddings")
    can = positions if isinstance(positions, int) and positions > 0 else None
    if max_tokens is not None and can is not None and max_tokens > can:
        raise InputError(f"max_tokens = {max_tokens} is more than the {can} positions of the cross-encoder")
    return max_tokens or min(MOST_TOKENS, can or MOST_TOKENS)


def _padding(tokenizer: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the padding token: the tokenizer's own, else the one that config.json names."""
    own = tokenizer.padding or {}
    at = own.get("pad_id", config.get("pad_token_id"))
    at = at if isinstance(at, int) else 0
    return {"pad_id": at, "pad_token": own.get("pad_token") or tokenizer.id_to_token(at) or "[PAD]"}
