"""One index of a stand-in for Elasticsearch or OpenSearch: documents, their vectors by numpy, their words by BM25.

What is not documented is not imitated: a graph is searched exactly, and lengths of texts enter BM25 whole, where Lucene
keeps them in one byte. Documents become searchable by a refresh, as on a server that has not yet refreshed by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.records import JSON
from ragassay.testing.rest_server import Answer

MOST_CLAUSES = 1024
ANALYZERS: Mapping[str, Callable[[str], list[str]]] = {
    "standard": lambda text: re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W\u3040-\u30ff\u4e00-\u9fff]+", text.lower()),
    "simple": lambda text: re.findall(r"[^\W\d_]+", text.lower()),
    "whitespace": str.split,
}
"""Those whose tokens can be had without Lucene; `standard` nearly so."""


class Refused(Exception):
    """A request that the service refuses, as it says so."""

    def __init__(self, status: int, type: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.error: JSON = {"type": type, "reason": reason}

    @property
    def answer(self) -> Answer:
        """The reply: the error, its root causes, the status again."""
        return Answer(
            status=self.status, body={"error": {"root_cause": [self.error], **self.error}, "status": self.status}
        )


class Vectors:
    """The vectors of an index: what a flavour's mapping says of them."""

    def __init__(self, dimension: int, similarity: str | None) -> None:
        self.dimension = dimension
        self.similarity = similarity
        """`cosine`, `product` or `l2`; None where no graph is built."""


class StandInIndex:
    """One index; `vectors` and `words` are None where the mapping has no such field."""

    def __init__(self, name: str, settings: JSON, mappings: JSON, vectors: Vectors | None, words: JSON | None) -> None:
        self.name = name
        self.settings = settings
        self.mappings = mappings
        self.vectors = vectors
        self.words = words
        self.written: dict[str, JSON] = {}
        self.searchable: dict[str, JSON] = {}
        self.segments = 0

    def write(self, id: str, document: JSON) -> bool:
        """Write a document, over another where there is one; returns whether there was. Raises `Refused`."""
        unknown = sorted(set(document) - set(self.mappings["properties"]))
        if unknown:
            raise Refused(400, "strict_dynamic_mapping_exception", f"introduction of [{unknown[0]}] is not allowed")
        if self.vectors is not None and "vector" in document:
            self.checked(document["vector"], "document_parsing_exception")
        there = id in self.written
        self.written[id] = document
        self.segments += 1
        return there

    def refresh(self) -> None:
        """Make searchable what was written."""
        self.searchable = dict(self.written)

    def checked(self, vector: Any, type: str) -> NDArray[np.float32]:
        """Return a vector that the field takes; raises `Refused`."""
        assert self.vectors is not None
        if not isinstance(vector, list) or not all(isinstance(one, int | float) for one in vector):
            raise Refused(400, type, "Failed to parse object: expecting token of type [VALUE_NUMBER]")
        if len(vector) != self.vectors.dimension:
            raise Refused(
                400,
                type,
                f"the field [vector] has a different number of dimensions [{len(vector)}] than defined in the mapping "
                f"[{self.vectors.dimension}]",
            )
        row = np.asarray(vector, dtype=np.float32)
        if self.vectors.similarity == "cosine" and not row.any():
            raise Refused(400, type, "The [cosine] similarity does not support vectors with zero magnitude.")
        return row

    def compared(self, how: str, vector: Any) -> list[tuple[str, float]]:
        """Return cosine, product, distance or squared distance of every searchable document that has a vector."""
        query = self.checked(vector, "illegal_argument_exception").astype(np.float64)
        ids = [id for id, one in self.searchable.items() if "vector" in one]
        if not ids:
            return []
        rows = np.array([self.searchable[id]["vector"] for id in ids], dtype=np.float32).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = _COMPARED[how](rows, query)
        return [(id, float(value)) for id, value in zip(ids, values, strict=True)]

    def tokens(self, text: str) -> list[str]:
        """Return what the field's analyzer makes of a text."""
        assert self.words is not None
        return ANALYZERS[self.words["analyzer"]](text)

    def matching(self, weights: Mapping[str, float]) -> list[tuple[str, float]]:
        """Return the documents that hold any of the words, scored by Lucene's BM25."""
        if self.words is None:
            return []
        if len(weights) > MOST_CLAUSES:
            raise Refused(
                400, "search_phase_execution_exception", f"too_many_clauses: maxClauseCount is set to {MOST_CLAUSES}"
            )
        k1, b = self.words["k1"], self.words["b"]
        texts = {id: Counter(self.tokens(one["text"])) for id, one in self.searchable.items() if "text" in one}
        texts = {id: counts for id, counts in texts.items() if counts}
        lengths = {id: sum(counts.values()) for id, counts in texts.items()}
        mean = sum(lengths.values()) / max(1, len(lengths))
        scores: dict[str, float] = {}
        for word, weight in weights.items():
            holding = [id for id, counts in texts.items() if counts[word]]
            rarity = np.log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
            for id in holding:
                times = texts[id][word]
                share = times / (times + k1 * (1 - b + b * lengths[id] / mean))
                scores[id] = scores.get(id, 0.0) + float(weight * rarity * share)
        return list(scores.items())


def ranked(scored: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return documents best first, equal scores by age, scores in 32 bits; raises `Refused` for what is no score."""
    for id, score in scored:
        if not np.isfinite(score) or score < 0:
            raise Refused(
                400,
                "search_phase_execution_exception",
                f"script returned an invalid score [{score}] for doc [{id}]. Must be a non-negative score!",
            )
    rounded = [(id, float(np.float32(score))) for id, score in scored]
    return sorted(rounded, key=lambda one: -one[1])


_COMPARED: Mapping[str, Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]] = {
    "cosine": lambda rows, query: rows @ query / (np.linalg.norm(rows, axis=1) * np.linalg.norm(query)),
    "product": lambda rows, query: rows @ query,
    "l2": lambda rows, query: np.linalg.norm(rows - query, axis=1),
    "l2_squared": lambda rows, query: ((rows - query) ** 2).sum(axis=1),
}

GRAPH_SCORES: Mapping[str, tuple[str, Callable[[float], float]]] = {
    "cosine": ("cosine", lambda value: (1 + value) / 2),
    "product": ("product", lambda value: value + 1 if value >= 0 else 1 / (1 - value)),
    "l2": ("l2_squared", lambda value: 1 / (1 + value)),
}
"""What is compared for a similarity, and the documented score of it."""
