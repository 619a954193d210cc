"""What Weaviate's stand-in server holds and finds: vectors by numpy, BM25, and the two fused.

Distances are those of Weaviate's page of distance metrics; BM25 and the fusions follow the formulas of its open
source: idf = ln(1 + (N − n + 0.5) / (n + 0.5)), tf = f / (f + k1 · (1 − b + b · length / mean length)), 1 / (60 + rank)
or scores scaled to 0–1, weighted with alpha and 1 − alpha, over at least 100 objects of each half.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragassay.records import JSON

_ENGLISH = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with"
)
STOPWORDS = frozenset(_ENGLISH.split())
"""The preset `en`."""

HYBRID_LEAST = 100
"""How many objects each half of a hybrid search brings at least."""

Ranked = list[tuple[str, float]]
"""Ids with a distance, lowest first, or a score, highest first."""


class Collection:
    """One collection: its definition as the server says it, and by id the vector and the text of each object."""

    def __init__(self, definition: JSON) -> None:
        self.definition = definition
        self.vectors: dict[str, NDArray[np.float32]] = {}
        self.objects: dict[str, str] = {}

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self.definition["class"])

    def vector_names(self) -> list[str]:
        """Return the names of its vectors."""
        return list(self.definition["vectorConfig"])

    def dimension(self) -> int | None:
        """Return how long its vectors are, None where it has none yet."""
        return next((len(vector) for vector in self.vectors.values()), None)

    def nearest(self, vector: NDArray[np.float32], limit: int) -> Ranked:
        """Return the nearest objects and their distances."""
        if not self.vectors:
            return []
        ids = list(self.vectors)
        rows = np.stack([self.vectors[id] for id in ids]).astype(np.float64)
        metric = self.definition["vectorConfig"][self.vector_names()[0]]["vectorIndexConfig"]["distance"]
        distances = _distances(rows, vector.astype(np.float64), metric).astype(np.float32)
        order = np.argsort(distances, kind="stable")[:limit]
        return [(ids[int(at)], float(distances[at])) for at in order]

    def matching(self, query: str, limit: int) -> Ranked:
        """Return the objects with a word of the query, by BM25."""
        prop = self.definition["properties"][0]
        inverted = self.definition["invertedIndexConfig"]
        k1, b = inverted["bm25"]["k1"], inverted["bm25"]["b"]
        counted = {id: Counter(_tokens(text, prop["tokenization"])) for id, text in self.objects.items()}
        asked = Counter(_tokens(query, prop["tokenization"]))
        if prop["tokenization"] == "word" and inverted["stopwords"]["preset"] == "en":
            asked = Counter({token: n for token, n in asked.items() if token not in STOPWORDS})
        total = len(counted)
        mean = sum(row.total() for row in counted.values()) / max(total, 1) or 1.0
        holds = {token: sum(1 for row in counted.values() if token in row) for token in asked}
        scores: dict[str, float] = {}
        for token, times in asked.items():
            idf = math.log(1 + (total - holds[token] + 0.5) / (holds[token] + 0.5)) * times
            for id, row in counted.items():
                if f := row[token]:
                    saturation = k1 * (1 - b + b * row.total() / mean)
                    scores[id] = scores.get(id, 0.0) + idf * f / (f + saturation)
        return sorted(scores.items(), key=lambda one: -one[1])[:limit]

    def fused(self, query: str, vector: NDArray[np.float32] | None, alpha: float, ranked: bool, limit: int) -> Ranked:
        """Return the objects of both halves, fused."""
        each = max(limit, HYBRID_LEAST)
        halves: list[tuple[float, Ranked]] = []
        if alpha > 0 and vector is not None:
            halves.append((alpha, [(id, 1 - distance) for id, distance in self.nearest(vector, each)]))
        if alpha < 1 and query:
            halves.append((1 - alpha, self.matching(query, each)))
        scores: dict[str, float] = {}
        for weight, half in halves:
            for id, score in _by_rank(half) if ranked else _scaled(half):
                scores[id] = scores.get(id, 0.0) + weight * score
        return sorted(scores.items(), key=lambda one: -one[1])[:limit]


def _distances(rows: NDArray[np.float64], vector: NDArray[np.float64], metric: str) -> NDArray[np.float64]:
    if metric == "l2-squared":
        return np.asarray(((rows - vector) ** 2).sum(axis=1))
    if metric == "dot":
        return np.asarray(-(rows @ vector))
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)
    return np.asarray(1 - np.divide(rows @ vector, lengths, out=np.zeros(len(rows)), where=lengths > 0))


def _tokens(text: str, tokenization: str) -> Sequence[str]:
    if tokenization == "whitespace":
        return text.split()
    if tokenization == "lowercase":
        return text.lower().split()
    letters = re.sub(r"[\W_]+", " ", text.lower())
    if tokenization == "trigram":
        joined = letters.replace(" ", "")
        return [joined[at : at + 3] for at in range(len(joined) - 2)]
    return letters.split()


def _by_rank(half: Ranked) -> Ranked:
    return [(id, 1 / (rank + 60)) for rank, (id, _) in enumerate(half)]


def _scaled(half: Ranked) -> Ranked:
    if not half:
        return []
    low, high = half[-1][1], half[0][1]
    return [(id, (score - low) / (high - low) if high > low else 1.0) for id, score in half]
