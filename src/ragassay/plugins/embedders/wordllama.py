"""WordLlama: static word-piece vectors, averaged; no model runs, and the default weights are in the package itself."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ragassay.errors import PluginError
from ragassay.plugins.embedders.local import EmbedderParameters, Kind, LocalEmbedder
from ragassay.plugins.weights import file_digest
from ragassay.records import JSON


@contextlib.contextmanager
def _logging_kept() -> Iterator[None]:
    """Take back what the package does to the root logger when it is imported: a handler and a level."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


with _logging_kept():
    import safetensors
    import tokenizers
    import wordllama
    from wordllama.config import WordLlamaModels

DEFAULT = "l2_supercat"
DIMENSION = 256
BATCH = 16
"""Texts tokenised at a time; a text's vector does not depend on it."""
_PACKAGE = Path(wordllama.__file__).parent


class WordLlamaEmbedder(LocalEmbedder["_Model"]):
    """Averages the vectors of a text's word pieces; takes `id`, `dimension`, `path` and what all embedders take."""

    def __init__(self, **params: Any) -> None:
        read = EmbedderParameters("wordllama", params)
        self._id = read.text("id") or DEFAULT
        self._dimension = read.integer("dimension", DIMENSION, low=1, high=65_536)
        self._path = read.folder()
        super().__init__(read)
        self._prefix = read.prefixes()
        read.note(*self._unknown())
        read.finish()

    def describe(self) -> JSON:
        """Return model, weights digests, dimensions, pooling, prefixes and versions (loads the files)."""
        model = self._model()
        return self._described(
            model,
            {name: version(name) for name in ("wordllama", "tokenizers", "numpy")},
            kind="wordllama",
            model=self._id,
            weights=model.digests,
            token_limit="none",
            pooling="mean",
            prefix=dict(self._prefix),
        )

    def _unknown(self) -> Iterator[str]:
        """Yield what the package has no weights for, unless they lie in `path`."""
        if self._path is None and self._id not in (known := WordLlamaModels.list_configs()):
            yield f"id = {self._id!r} must be one of {', '.join(known)}, or give path"
        elif self._path is None and self._dimension not in (sizes := _uri(self._id).available_dims):
            yield f"dimension = {self._dimension} must be one of {', '.join(map(str, sizes))}, or give path"
        if self._truncate_dim is not None and self._truncate_dim > self._dimension:
            yield f"truncate_dim = {self._truncate_dim} must be an integer from 1 to {self._dimension}"

    def _rows(self, model: _Model, texts: list[str], kind: Kind) -> NDArray[Any]:
        try:
            prefixed = [self._prefix[kind] + text for text in texts]
            rows: NDArray[Any] = model.inference.embed(prefixed, norm=False, batch_size=BATCH)
        except Exception as error:  # the package raises types of its own
            raise PluginError(f"wordllama could not embed {len(texts)} texts: {error}") from error
        return rows

    def _too_long(self, model: _Model, texts: list[str]) -> int:
        """Return 0: every text is read to its end."""
        return 0

    def _load(self) -> _Model:
        """Read the two files; the vectors must have the dimension that was said."""
        try:
            weights, vocabulary = self._files()
            model = _Model(weights, vocabulary)
        except Exception as error:  # the package, its download and the readers of both files raise types of their own
            raise PluginError(
                f"wordllama cannot load {self._id!r} of {self._dimension} dimensions: {error}; the package itself "
                f"brings {DEFAULT!r} of {DIMENSION}, others are downloaded, or lie in `path`"
            ) from error
        if model.dimension != self._dimension:
            raise PluginError(
                f"{weights.name} holds vectors of {model.dimension} numbers where dimension = {self._dimension}; "
                f"say dimension = {model.dimension}"
            )
        return model

    def _files(self) -> tuple[Path, Path]:
        weights = f"{self._id}_{self._dimension}.safetensors"
        vocabulary = f"{self._id}_tokenizer_config.json"
        if self._path is not None:
            return self._path / weights, self._path / vocabulary
        return self._resolved("weights", weights), self._resolved("tokenizer", vocabulary)

    def _resolved(self, what: str, name: str) -> Path:
        """Return a file of the package, else that of its cache folder, downloaded if need be.

        The package looks for its own tokenizer in a folder of another name and would download it.
        """
        for folder in ("weights", "tokenizers"):
            if (own := _PACKAGE / folder / name).is_file():
                return own
        found: Path = wordllama.WordLlama.resolve_file(self._id, _uri(self._id), self._dimension, False, what)
        return found


def _uri(name: str) -> Any:
    """Return where the package says that a model's files are."""
    return getattr(WordLlamaModels, name)


class _Model:
    """The vectors and the tokenizer of two files, with the digests of both."""

    def __init__(self, weights: Path, vocabulary: Path) -> None:
        self.digests = {path.name: file_digest(path) for path in (weights, vocabulary)}
        with safetensors.safe_open(weights, framework="np") as tensors:
            vectors = tensors.get_tensor("embedding.weight")
        self.dimension = int(vectors.shape[1])
        self.inference = wordllama.WordLlamaInference(vectors, tokenizers.Tokenizer.from_file(str(vocabulary)))
