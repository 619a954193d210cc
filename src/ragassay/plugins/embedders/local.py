"""What embedders that run on this machine have in common: parameters, loading once, files' digests, rows."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import InputError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.weights import file_digest
from ragassay.records import JSON

Kind = Literal["document", "query"]
LONGEST = 1_000_000
"""The highest number of dimensions or of tokens that can be asked for."""

COUNTED = 256
"""Texts tokenised at a time when they are only counted."""

KINDS: tuple[Kind, ...] = ("document", "query")
_BESIDE = frozenset({".jinja", ".json", ".model", ".spm", ".txt", ".vocab"})
_WEIGHTS = frozenset({".bin", ".safetensors"})


class EmbedderParameters(Parameters):
    """The parameters of an embedder: those of a stack, and texts and numbers that need not be given."""

    def prefix(self, name: str, default: str | None = "") -> str | None:
        """Return a text, an empty one too; anything else is noted."""
        value = self._take(name, default)
        return value if value is None or isinstance(value, str) else self._wrong(name, value, "a text", default)

    def prefixes(self) -> dict[str, str]:
        """Return what is written before the texts of each kind."""
        return {kind: self.prefix(f"{kind}_prefix") or "" for kind in KINDS}

    def limit(self, name: str, high: int = LONGEST) -> int | None:
        """Return an integer from 1 to `high`, or None when it was not given; anything else is noted."""
        value = self._take(name, None)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= high):
            return value
        return self._wrong(name, value, f"an integer from 1 to {high}", None)

    def folder(self, name: str = "path") -> Path | None:
        """Return a folder's path, or None when it was not given; anything else is noted."""
        value = self._take(name, None)
        if value is None or (isinstance(value, str | Path) and str(value)):
            return None if value is None else Path(value)
        return self._wrong(name, value, "the path of a folder", None)

    def one_of(self, first: str, second: str) -> None:
        """Note that exactly one of two parameters has to be given."""
        given = [name for name in (first, second) if self._given.get(name) is not None]
        if len(given) != 1:
            self._problems.append(f"give {first} or {second}, and not both" if given else f"give {first} or {second}")


class LoadedModel(Protocol):
    """What a loaded model says of itself."""

    dimension: int


M = TypeVar("M", bound=LoadedModel)


class LocalEmbedder(Generic[M], ABC):
    """Loads its model when it is first asked, once, and asks it from one thread at a time."""

    def __init__(self, read: EmbedderParameters) -> None:
        self._truncate_dim = read.limit("truncate_dim")
        self._normalise = read.flag("normalise", True)
        self._lock = threading.Lock()
        self._loaded: M | None = None

    def embed(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        """Return rows of shape (len(texts), dimension), of length 1 unless `normalise` is off; no direction is zeros.

        Raises `PluginError` when the model is absent, damaged or cannot be run.
        """
        model = self._model()
        if not texts:
            return np.zeros((0, self._truncate_dim or model.dimension), dtype=np.float32)
        with self._lock:
            rows = self._rows(model, list(texts), kind)
        return finished(rows, self._truncate_dim, self._normalise)

    def count_truncated(self, texts: Sequence[str]) -> int:
        """Return how many of `texts`, what is written before them included, are cut off, without embedding them."""
        model = self._model()
        with self._lock:
            return sum(self._too_long(model, list(texts[at : at + COUNTED])) for at in range(0, len(texts), COUNTED))

    def _described(self, model: M, versions: Mapping[str, str], /, **about: Any) -> JSON:
        """Return a description without what is None, but for the weights: there a null says that they are unknown."""
        found = {key: value for key, value in about.items() if value is not None or key == "weights"}
        if self._truncate_dim is not None:
            found["truncated_from"] = model.dimension
        dimension = self._truncate_dim or model.dimension
        return {**found, "dimension": dimension, "normalised": self._normalise, **versions}

    def _model(self) -> M:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    @abstractmethod
    def _load(self) -> M:
        """Return the model; raises `PluginError` or `InputError`."""

    @abstractmethod
    def _rows(self, model: M, texts: list[str], kind: Kind) -> NDArray[Any]:
        """Return the vectors of texts, what is written before a text of that kind included."""

    @abstractmethod
    def _too_long(self, model: M, texts: list[str]) -> int:
        """Return how many of texts, what is written before them included, the model does not read to their end."""


def digests_of(folder: Path, weights: str | None = None) -> dict[str, str] | None:
    """Return the SHA-256 of each file in `folder` that shapes a vector, by its path inside; None where there is none.

    Of several weights only those in `weights` count, a path inside, with the data file that is named after it; without
    it all of PyTorch do. Hidden files, documentation and other runtimes' weights are left out.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "openvino" for part in inside.parts)
        torch = weights is None and path.suffix in _WEIGHTS
        named = weights is not None and inside.as_posix().startswith(weights)
        if path.is_file() and not hidden and (path.suffix in _BESIDE or torch or named):
            found[inside.as_posix()] = file_digest(path)
    return found or None


def finished(rows: NDArray[Any], truncate_dim: int | None, normalise: bool) -> NDArray[np.float32]:
    """Return rows cut to their first `truncate_dim` numbers and, with `normalise`, scaled to length 1 in float64.

    A row of zeros stays one: it has no direction.
    """
    cut = rows.astype(np.float64)[:, :truncate_dim]
    if normalise:
        lengths = np.linalg.norm(cut, axis=1, keepdims=True)
        cut = np.divide(cut, lengths, out=np.zeros_like(cut), where=lengths > 0)
    return cut.astype(np.float32)


def check_truncation(truncate_dim: int | None, dimension: int) -> None:
    """Raise `InputError` where more numbers shall be kept than a model's vectors have."""
    if truncate_dim is not None and truncate_dim > dimension:
        raise InputError(f"truncate_dim = {truncate_dim} is more than the model's {dimension} dimensions")
