"""Any sentence-transformers model on PyTorch, from a local folder or by its name on the Hugging Face hub."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import huggingface_hub
import sentence_transformers
from numpy.typing import NDArray
from transformers.utils import logging as transformers_logging

from ragassay.errors import InputError, PluginError
from ragassay.plugins.embedders.local import EmbedderParameters, Kind, LocalEmbedder, check_truncation, digests_of
from ragassay.records import JSON

_PROMPTS = {"document": ("document", "passage", "corpus"), "query": ("query",)}
"""The names under which a model's own prompts are looked for, in this order."""


class SentenceTransformersEmbedder(LocalEmbedder["_Model"]):
    """Takes `path` or `id` with `revision`, prompts, `device`, `batch`, lengths and what all embedders take."""

    def __init__(self, **params: Any) -> None:
        read = EmbedderParameters("sentence-transformers", params)
        self._path = read.folder()
        self._id = read.text("id")
        self._revision = read.text("revision")
        self._device = read.text("device") or "cpu"
        self._max_seq_length = read.limit("max_seq_length")
        super().__init__(read)
        self._batch = read.integer("batch", 1, low=1, high=4096)
        self._prefix = {kind: read.prefix(f"{kind}_prefix", None) for kind in _PROMPTS}
        self._prompt = {kind: read.text(f"{kind}_prompt") for kind in _PROMPTS}
        read.one_of("path", "id")
        problems = [
            f"give {kind}_prefix or {kind}_prompt, and not both"
            for kind in _PROMPTS
            if self._prefix[kind] is not None and self._prompt[kind] is not None
        ]
        if self._revision is not None and self._path is not None:
            problems.append("revision belongs to id: a folder has the files that it has")
        read.note(*problems)
        read.finish()

    def describe(self) -> JSON:
        """Return model, revision, weights digests, dimension, limit, prompts and versions (loads the model)."""
        model = self._model()
        libraries = ("sentence-transformers", "transformers", "tokenizers", "torch")
        return self._described(
            model,
            {name.replace("-", "_"): version(name) for name in libraries},
            kind="sentence-transformers",
            model=self._id,
            revision=model.revision,
            weights=model.digests,
            precision=model.precision,
            device=self._device,
            token_limit=model.limit or "none",
            batch=self._batch,
            prefix=dict(model.prefix),
        )

    def _rows(self, model: _Model, texts: list[str], kind: Kind) -> NDArray[Any]:
        return model.rows(texts, kind, self._batch)

    def _too_long(self, model: _Model, texts: list[str]) -> int:
        return model.too_long(texts)

    def _load(self) -> _Model:
        try:
            folder, revision = self._folder()
            model = _Model(folder, self._device, self._max_seq_length)
        except Exception as error:  # torch, transformers and the hub raise types of their own
            where = f"{self._id} from the hub" if self._id else self._path
            raise PluginError(
                f"sentence-transformers cannot load {where}: {error}; a folder needs modules.json, config.json, "
                "the tokenizer and the weights there, and code that comes with a model is not run"
            ) from error
        check_truncation(self._truncate_dim, model.dimension)
        model.revision = revision
        model.prefix = {kind: self._applied(kind, model.prompts) for kind in _PROMPTS}
        return model

    def _folder(self) -> tuple[Path, str | None]:
        """Return where the files are, downloaded if need be, and the commit of the hub that they are of."""
        if self._path is not None:
            if not (self._path / "config.json").is_file() and not (self._path / "modules.json").is_file():
                raise FileNotFoundError("there is no config.json and no modules.json")
            return self._path, None
        assert self._id is not None
        ignored = ["*.onnx", "*.onnx_data", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.gguf"]
        folder = Path(huggingface_hub.snapshot_download(self._id, revision=self._revision, ignore_patterns=ignored))
        return folder, folder.name

    def _applied(self, kind: str, prompts: dict[str, str]) -> str:
        """Return what is written before a text: what the board says, else the model's own prompt of that kind."""
        if (prefix := self._prefix[kind]) is not None:
            return prefix
        if (name := self._prompt[kind]) is not None:
            if name not in prompts:
                known = ", ".join(prompts) or "it has none"
                raise InputError(f"{kind}_prompt = {name!r} is none of the model's prompts ({known})")
            return prompts[name]
        return next((prompts[name] for name in _PROMPTS[kind] if prompts.get(name)), "")


class _Model:
    """A loaded model with the digests of its files."""

    revision: str | None = None
    prefix: dict[str, str]

    def __init__(self, folder: Path, device: str, max_seq_length: int | None) -> None:
        self.digests = digests_of(folder)
        shown = transformers_logging.is_progress_bar_enabled()
        transformers_logging.disable_progress_bar()
        try:
            self._model: Any = sentence_transformers.SentenceTransformer(
                str(folder), device=device, local_files_only=True, trust_remote_code=False
            )
        finally:
            if shown:
                transformers_logging.enable_progress_bar()
        if max_seq_length is not None:
            self._model.max_seq_length = max_seq_length
        limit = self._model.max_seq_length
        self.limit = None if limit is None or math.isinf(limit) else int(limit)
        self.prompts = {name: text for name, text in self._model.prompts.items() if isinstance(text, str)}
        self.precision = str(next(self._model.parameters()).dtype).removeprefix("torch.")
        self.prefix = {"document": "", "query": ""}
        self.dimension = self.rows(["x"], "document", 1).shape[1]

    def rows(self, texts: list[str], kind: str, batch: int) -> NDArray[Any]:
        """Return the vectors of texts as the model gives them, the prompt before each."""
        encode = self._model.encode_query if kind == "query" else self._model.encode_document
        try:
            found: NDArray[Any] = encode(
                texts, prompt=self.prefix[kind], batch_size=batch, show_progress_bar=False, convert_to_numpy=True
            )
        except Exception as error:  # torch and the tokenizer raise types of their own
            raise PluginError(f"sentence-transformers could not embed {len(texts)} texts: {error}") from error
        return found

    def too_long(self, texts: Sequence[str]) -> int:
        """Return how many of texts have more tokens than are read; none where the model has no limit."""
        if self.limit is None:
            return 0
        prefixed = [self.prefix["document"] + text for text in texts]
        found = self._model.tokenizer(prefixed, truncation=False, padding=False, verbose=False)["input_ids"]
        return sum(1 for ids in found if len(ids) > self.limit)
