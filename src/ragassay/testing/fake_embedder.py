"""Embedders without a model, for tests of stacks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragassay.records import JSON


class WordEmbedder:
    """Counts each lower-cased word in the dimension that its SHA-256 names; a text without words is a zero row.

    Deterministic on every machine. `calls` counts the texts that it was asked for.
    """

    def __init__(self, *, dimension: int = 64) -> None:
        self._dimension = dimension
        self.calls = 0

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return word counts of shape (len(texts), dimension), not normalised."""
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for at, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                rows[at, int(hashlib.sha256(word.encode()).hexdigest(), 16) % self._dimension] += 1
        self.calls += len(texts)
        return rows

    def describe(self) -> JSON:
        """Return kind and dimension."""
        return {"kind": "words", "dimension": self._dimension, "normalised": False}


class TableEmbedder:
    """Looks each text up in a table of rows; a text that is not there is a `KeyError`."""

    def __init__(self, rows: Mapping[str, Sequence[float]]) -> None:
        self._rows = dict(rows)

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return the texts' rows."""
        return np.array([self._rows[text] for text in texts], dtype=np.float32)

    def describe(self) -> JSON:
        """Return the kind."""
        return {"kind": "table"}
