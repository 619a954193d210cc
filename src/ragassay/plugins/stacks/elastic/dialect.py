"""What differs between Elasticsearch and OpenSearch: how an index is laid out, how it is asked, what a score means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ragassay.errors import StackError
from ragassay.plugins.stacks.elastic.settings import Settings
from ragassay.records import JSON

VECTOR, TEXT = "vector", "text"
"""The fields of a document; its id is the chunk's position."""

_SLACK = 1e-4
"""How far a cosine may lie beyond 1: a score is a number of 32 bits."""


class Dialect(Protocol):
    """One service's words."""

    kind: str
    max_dimension: int

    def field(self, settings: Settings, dimension: int) -> JSON:
        """Return the mapping of the vectors."""
        ...

    def index_settings(self, settings: Settings) -> JSON:
        """Return what the index is set to for its vectors' sake."""
        ...

    def reading(self, fields: Sequence[str]) -> JSON:
        """Return the part of a search's body that asks for the values of these fields, vectors included."""
        ...

    def near(self, settings: Settings, vector: Sequence[float]) -> JSON:
        """Return the part of a search's body that asks for the nearest vectors."""
        ...

    def metric(self, settings: Settings, score: float) -> float:
        """Return cosine, dot product or negated distance of a score; raises `StackError` where it can be of none."""
        ...


def scripted(script: JSON) -> JSON:
    """Return the query that scores every document which has a vector by a script."""
    return {"query": {"script_score": {"query": {"exists": {"field": VECTOR}}, "script": script}}}


def cosine_of_half(score: float) -> float:
    """Undo (1 + cosine) / 2."""
    return 2 * score - 1


def cosine_of_shifted(score: float) -> float:
    """Undo cosine + 1."""
    return score - 1


def product_of(score: float) -> float:
    """Undo product + 1 of a product that is not negative, and 1 / (1 - product) of one that is."""
    return score - 1 if score >= 1 else 1 - 1 / score


def far_of_squared(score: float) -> float:
    """Undo 1 / (1 + distance²), and negate the distance."""
    return -math.sqrt(max(1 / score - 1, 0.0))


def far_of(score: float) -> float:
    """Undo 1 / (1 + distance), and negate the distance."""
    return -max(1 / score - 1, 0.0)


def undone(kind: str, metric: str, undo: Mapping[str, Callable[[float], float]], score: float) -> float:
    """Return what `score` is of `metric`; raises `StackError` for a number that the documented formula never gives."""
    value = undo[metric](score) if score > 0 or metric == "cosine" else math.nan
    if not math.isfinite(value) or (metric == "cosine" and abs(value) > 1 + _SLACK):
        raise StackError(
            f"{kind} scored a vector {score!r}, which is no score of {metric!r} by its documentation: "
            "the meaning of its scores has changed"
        )
    return value
