"""Maximal marginal relevance: the hits of any stack in an order that avoids saying the same twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ragassay.plugins.stacks.inner import asked, inner_of, lacks_inner
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.ranking import shortest
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, release, truncated
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Embedder, Progress, Retriever


class MMR:
    """Re-orders the first `depth` hits of its part `of`: the next is argmax λ · relevance − (1 − λ) · redundancy.

    Relevance is the inner stack's score, scaled to 0–1 over those hits; redundancy is the highest cosine with a
    chunk that was chosen before, 0 where there is none or it is negative.
    Source: Carbonell and Goldstein, "The use of MMR, diversity-based reranking for reordering documents and producing
    summaries", SIGIR 1998, which leaves both similarities open.
    """

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}

    def __init__(self, **params: Any) -> None:
        read = Parameters("mmr", params)
        self._lambda = read.decimal("lambda", "0.5", low="0", high="1")
        self._depth = read.integer("depth", 20, low=1, high=1_000)
        read.finish()

    @classmethod
    def lacking(cls, entry: JSON) -> str | None:
        """Say which part the entry lacks; None where it has all."""
        return lacks_inner("mmr", entry)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Diverse:
        """Embed all chunks; raises `StackError` for a broken embedder, `InputError` without it or a stack to wrap."""
        of, embedder = inner_of("mmr", parts), embedder_of("mmr", parts)
        matrix = embed_chunks(embedder, chunks, progress, unit=True)
        about = described(
            "mmr",
            embedder,
            truncated(embedder, chunks),
            method="maximal marginal relevance",
            relevance="score of the wrapped stack, scaled to 0-1 over its hits",
            similarity="cosine, negative ones as 0",
            depth=self._depth,
            numpy=np.__version__,
            **{"lambda": self._lambda},
        )
        return Diverse(of, embedder, chunks, matrix, float(self._lambda), self._depth, about)


class Diverse:
    """A built stack and the unit vectors of all chunks, shape (n, dimension)."""

    def __init__(
        self,
        of: Retriever,
        embedder: Embedder,
        chunks: Sequence[Chunk],
        matrix: NDArray[np.float32],
        weight: float,
        depth: int,
        about: JSON,
    ) -> None:
        self._of = of
        self._embedder = embedder
        self._known = {chunk.id: chunk for chunk in chunks}
        self._at = {chunk.id: at for at, chunk in enumerate(chunks)}
        self._matrix = matrix
        self._weight = weight
        self._depth = depth
        self._described = about

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k of the inner stack's first `depth` hits, best value first; scores are values of MMR.

        Equal values come in the inner stack's order. The inner stack is asked for `depth` hits whatever k is, and the
        question is not embedded here.
        """
        hits = asked(self._of, text, self._depth, self._known) if k > 0 else []
        if not hits:
            return []
        relevance = scaled([hit.score for hit in hits])
        rows = self._matrix[[self._at[hit.chunk] for hit in hits]]
        return [Hit(chunk=hits[at].chunk, score=value) for at, value in chosen(relevance, rows, self._weight, k)]

    def describe(self) -> JSON:
        """Return the method, its parameters, the embedder and what the wrapped stack says of itself."""
        return {**self._described, "of": self._of.describe()}

    def close(self) -> None:
        """Close the wrapped stack and the embedder."""
        self._of.close()
        release(self._embedder)


def scaled(scores: Sequence[float]) -> NDArray[np.float64]:
    """Return the scores with the highest at 1 and the lowest at 0, shape (n,); all 1 where they are equal."""
    values = np.asarray(scores, dtype=np.float64) / max(1.0, *(abs(score) for score in scores))
    low, high = values.min(), values.max()
    spread: NDArray[np.float64] = (values - low) / (high - low) if high > low else np.ones(len(values))
    return spread


def chosen(relevance: NDArray[np.float64], rows: NDArray[np.float32], weight: float, k: int) -> list[tuple[int, float]]:
    """Return up to k (position, value), greedily; `rows` are unit vectors of shape (n, dimension), λ is `weight`.

    Values are rounded to float32 before they are compared. None is higher than the one before it: redundancy only
    grows while more is chosen.
    """
    exact = rows.astype(np.float64)
    redundancy = np.zeros(len(relevance), dtype=np.float64)
    left = np.ones(len(relevance), dtype=bool)
    found: list[tuple[int, float]] = []
    for _ in range(min(k, len(relevance))):
        values = (weight * relevance - (1 - weight) * redundancy).astype(np.float32)
        at = int(np.argmax(np.where(left, values, -np.inf)))
        found.append((at, shortest(values[at])))
        left[at] = False
        cosines = (exact * exact[at]).sum(axis=1).astype(np.float32)
        redundancy = np.maximum(redundancy, cosines)
    return found
