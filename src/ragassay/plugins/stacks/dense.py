"""Exact cosine similarity over any embedder: every chunk is compared, nothing is approximated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ragassay.plugins.stacks.exact import nearest
from ragassay.plugins.stacks.matrix import unit_rows
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.ranking import shortest
from ragassay.plugins.stacks.vectors import described, embed_chunks, embed_query, embedder_of, release, truncated
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Embedder, Progress


class Dense:
    """Exact cosine; takes no parameters but the part `embedder`."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}

    def __init__(self, **params: Any) -> None:
        Parameters("dense", params).finish()

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> DenseIndex:
        """Embed all chunks; raises `StackError` for a broken embedder, `InputError` without one."""
        embedder = embedder_of("dense", parts)
        matrix = embed_chunks(embedder, chunks, progress, unit=True)
        about = described("dense", embedder, truncated(embedder, chunks), metric="cosine", numpy=np.__version__)
        return DenseIndex([chunk.id for chunk in chunks], matrix, embedder, about)


class DenseIndex:
    """Unit vectors in chunk order, in memory or mapped."""

    def __init__(self, ids: Sequence[str], matrix: NDArray[np.float32], embedder: Embedder, about: JSON) -> None:
        self._ids = list(ids)
        self._matrix = matrix
        self._embedder = embedder
        self._described = about

    def search(self, text: str, k: int) -> list[Hit]:
        """Return the k most similar chunks, best first, equal scores in chunk order; scores are cosines.

        A question whose vector is zero is similar to nothing: an empty list.
        """
        if not self._ids or k < 1:
            return []
        query = unit_rows(embed_query(self._embedder, text, self._matrix.shape[1])[np.newaxis])[0]
        if not query.any():
            return []
        positions, scores = nearest(self._matrix, query, k)
        return [Hit(chunk=self._ids[at], score=shortest(score)) for at, score in zip(positions, scores, strict=True)]

    def describe(self) -> JSON:
        """Return the embedder, the metric, truncated chunks and versions."""
        return dict(self._described)

    def close(self) -> None:
        """Close the embedder; the index itself is memory or a nameless file."""
        release(self._embedder)
