"""What Pinecone's stand-in server takes and finds: records, queries, and scores by numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay.records import JSON
from ragassay.testing.rest_server import Answer, Asked

MOST = 10_000
MOST_TOKENS = 1000
MAX_METADATA_BYTES = 40 * 1024


class Refused(Exception):
    """A request that the service would not take."""

    def __init__(self, status: int, code: str, message: str) -> None:
        self.answer = Answer(status=status, body={"error": {"code": code, "message": message}, "status": status})
        super().__init__(message)


class Sparse(msgspec.Struct, forbid_unknown_fields=True):
    """Numbers of tokens, and the weight of each."""

    indices: list[int]
    values: list[float]

    def check(self) -> None:
        """Raise `Refused` for what the documented limits do not allow."""
        distinct = set(self.indices)
        if len(distinct) != len(self.indices) or len(self.values) != len(self.indices):
            raise Refused(400, "INVALID_ARGUMENT", "indices must be different, with one value each")
        if not 1 <= len(distinct) <= MOST_TOKENS or min(distinct) < 0 or max(distinct) >= 2**32:
            raise Refused(400, "INVALID_ARGUMENT", f"1 to {MOST_TOKENS} indices below 2**32")
        if not all(self.values):
            raise Refused(400, "INVALID_ARGUMENT", "sparse values must not be zero")


class Record(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What is stored under one id."""

    id: str
    values: list[float]
    sparse_values: Sparse | None = None
    metadata: JSON | None = None

    def check(self, dimension: int) -> None:
        """Raise `Refused` for what the documented limits do not allow."""
        if not self.id or len(self.id) > 512 or not self.id.isascii():
            raise Refused(400, "INVALID_ARGUMENT", "an id is 1 to 512 ASCII characters")
        if len(self.values) != dimension:
            said = f"Vector dimension {len(self.values)} does not match the dimension of the index {dimension}"
            raise Refused(400, "INVALID_ARGUMENT", said)
        if not any(self.values):
            said = f"Dense vectors must contain at least one non-zero value. Vector ID '{self.id}' contains only zeros"
            raise Refused(400, "INVALID_ARGUMENT", said)
        for value in (self.metadata or {}).values():
            if value is None or isinstance(value, dict):
                raise Refused(400, "INVALID_ARGUMENT", "metadata holds neither null nor objects")
        if len(msgspec.json.encode(self.metadata)) > MAX_METADATA_BYTES:
            raise Refused(400, "INVALID_ARGUMENT", "metadata of more than 40 KB")
        if self.sparse_values is not None:
            self.sparse_values.check()


class Query(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """The body that the client builds to search."""

    top_k: int
    vector: list[float]
    namespace: str = ""
    include_values: bool = False
    include_metadata: bool = False
    sparse_vector: Sparse | None = None


def fresh(asked: Asked, form: Any) -> Any:
    """Return the body of a request in its form; raises `Refused` for any other."""
    try:
        return msgspec.json.decode(asked.raw, type=form)
    except msgspec.DecodeError as error:
        raise Refused(400, "INVALID_ARGUMENT", f"the body is of another form: {error}") from error


def found(records: Sequence[Record], metric: str, dimension: int, query: Query) -> list[tuple[Record, float]]:
    """Return the best `top_k` records with their scores, most similar first; raises `Refused`."""
    if not 1 <= query.top_k <= MOST:
        raise Refused(400, "INVALID_ARGUMENT", f"top_k must be from 1 to {MOST}")
    if len(query.vector) != dimension:
        said = f"Vector dimension {len(query.vector)} does not match the dimension of the index {dimension}"
        raise Refused(400, "INVALID_ARGUMENT", said)
    if query.sparse_vector is not None:
        query.sparse_vector.check()
        if metric != "dotproduct":
            raise Refused(400, "INVALID_ARGUMENT", "Index configuration does not support sparse values")
    if not records:
        return []
    scores = _scores(np.array([record.values for record in records], dtype=np.float32), query, metric)
    if query.sparse_vector is not None:
        asked = dict(zip(query.sparse_vector.indices, query.sparse_vector.values, strict=True))
        scores = scores + np.array([_shared(asked, record.sparse_values) for record in records])
    order = np.argsort(scores if metric == "euclidean" else -scores, kind="stable")[: query.top_k]
    return [(records[int(at)], float(scores[at])) for at in order]


def _scores(rows: NDArray[np.float32], query: Query, metric: str) -> NDArray[np.float64]:
    """Return the documented score per row: the cosine, the product, or the squared distance."""
    wide, vector = rows.astype(np.float64), np.asarray(query.vector, dtype=np.float32).astype(np.float64)
    if metric == "euclidean":
        return np.asarray(((wide - vector) ** 2).sum(axis=1), dtype=np.float64)
    dots: NDArray[np.float64] = np.asarray(wide @ vector, dtype=np.float64)
    if metric == "dotproduct":
        return dots
    lengths = np.linalg.norm(wide, axis=1) * np.linalg.norm(vector)
    return np.asarray(np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0), dtype=np.float64)


def _shared(asked: dict[int, float], held: Sparse | None) -> float:
    if held is None:
        return 0.0
    return sum(asked.get(number, 0.0) * value for number, value in zip(held.indices, held.values, strict=True))
