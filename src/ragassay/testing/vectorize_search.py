"""What Vectorize's stand-in server finds: its forms of a query and a vector, metadata filters, scores by numpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay.records import JSON
from ragassay.testing.rest_server import Answer

MOST = 100
MOST_WITH_VALUES = 50
UNNUMBERED = 99999
_OPERATORS = ("$eq", "$ne", "$in", "$nin", "$lt", "$lte", "$gt", "$gte")


class Config(msgspec.Struct, forbid_unknown_fields=True):
    """`vectorize_index-dimension-configuration`."""

    dimensions: int
    metric: Literal["cosine", "euclidean", "dot-product"]


class Query(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """`vectorize_index-query-v2-request`, and `namespace`, which Cloudflare's own command line sends."""

    vector: list[float]
    top_k: int = 5
    return_values: bool = False
    return_metadata: Literal["none", "indexed", "all"] = "none"
    filter: JSON | None = None
    namespace: str | None = None


class Vector(msgspec.Struct, forbid_unknown_fields=True):
    """One line of an upload."""

    id: str
    values: list[float]
    namespace: str | None = None
    metadata: JSON | None = None


Stored: TypeAlias = tuple[Vector, NDArray[np.float32], JSON]
"""A vector as it came, its values, and what of its metadata is indexed."""


class Refused(Exception):
    """A request that the service would not take."""

    def __init__(self, status: int, code: int, message: str) -> None:
        self.answer = Answer(
            status=status,
            body={"result": None, "success": False, "errors": [{"code": code, "message": message}], "messages": []},
        )
        super().__init__(message)


def found(stored: Iterable[Stored], config: Config, query: Query) -> JSON:
    """Return the answer to a query over what is stored; raises `Refused` for what the service would not take."""
    whole = query.return_values or query.return_metadata == "all"
    if query.top_k < 1 or query.top_k > (MOST_WITH_VALUES if whole else MOST):
        most = f"with returnValues=true or returnMetadata=all, max top K is {MOST_WITH_VALUES}"
        raise Refused(400, 40025, f"{most if whole else f'max top K is {MOST}'}, but got {query.top_k}")
    if len(query.vector) != config.dimensions:
        raise Refused(
            400,
            40006,
            f"invalid query vector, expected {config.dimensions} dimensions, and got {len(query.vector)} dimensions",
        )
    if query.filter is not None and (fault := filter_fault(query.filter)):
        raise Refused(400, UNNUMBERED, fault)
    held = [
        (one, values)
        for one, values, known in stored
        if (query.namespace is None or one.namespace == query.namespace)
        and (query.filter is None or passes(query.filter, known))
    ]
    if not held:
        return {"count": 0, "matches": []}
    scores = _scores(np.stack([values for _, values in held]), np.asarray(query.vector, np.float32), config.metric)
    order = np.argsort(-scores if config.metric == "cosine" else scores, kind="stable")[: query.top_k]
    matches = [_match(*held[int(at)], float(scores[at]), query) for at in order]
    return {"count": len(matches), "matches": matches}


def _scores(rows: NDArray[np.float32], asked: NDArray[np.float32], metric: str) -> NDArray[np.float64]:
    """Return the documented score per row: the cosine, the distance, or the negative dot product."""
    wide, vector = rows.astype(np.float64), asked.astype(np.float64)
    if metric == "euclidean":
        return np.asarray(np.linalg.norm(wide - vector, axis=1), dtype=np.float64)
    dots: NDArray[np.float64] = np.asarray(wide @ vector, dtype=np.float64)
    if metric == "dot-product":
        return -dots
    lengths = np.linalg.norm(wide, axis=1) * np.linalg.norm(vector)
    return np.asarray(np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0), dtype=np.float64)


def _match(one: Vector, values: NDArray[np.float32], score: float, query: Query) -> Mapping[str, Any]:
    found: dict[str, Any] = {"id": one.id, "score": score}
    if one.namespace is not None:
        found["namespace"] = one.namespace
    if query.return_values:
        found["values"] = values.tolist()
    if query.return_metadata == "all":
        found["metadata"] = one.metadata
    return found


def filter_fault(given: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a filter by the documented rules, None where nothing is."""
    if not given or len(msgspec.json.encode(given)) >= 2048:
        return "filter must be a non-empty object of less than 2048 bytes"
    for key, condition in given.items():
        if not key or '"' in key or key.startswith("$") or len(key) > 512:
            return f"invalid filter key {key!r}"
        for operator, value in (condition if isinstance(condition, Mapping) else {"$eq": condition}).items():
            listed = operator in ("$in", "$nin")
            if operator not in _OPERATORS or listed != isinstance(value, list) or isinstance(value, Mapping):
                return f"invalid filter condition {operator!r} of {key!r}"
    return None


def passes(given: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Tell whether indexed metadata passes; a property that is not indexed passes nothing."""
    return all(
        _holds(operator, known.get(key), value)
        for key, condition in given.items()
        for operator, value in (condition if isinstance(condition, Mapping) else {"$eq": condition}).items()
    )


def _holds(operator: str, known: Any, value: Any) -> bool:
    if known is None:
        return False
    if isinstance(known, str):  # the first 64 bytes of a text are indexed, up to a whole character
        known = known.encode()[:64].decode(errors="ignore")
    if operator in ("$in", "$nin"):
        return (known in value) == (operator == "$in")
    if operator in ("$eq", "$ne"):
        return bool(known == value) == (operator == "$eq")
    if isinstance(known, str) != isinstance(value, str):
        return False
    below = known < value if operator in ("$lt", "$gte") else known <= value
    return bool(below) == operator.startswith("$lt")
