"""The body of an embeddings reply becomes a matrix, without I/O: every text has its vector, or nothing has."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.plugins.http_body import Malformed
from ragassay.records import JSON


def rows_of(body: JSON, *, count: int, dimension: int | None, normalise: bool) -> NDArray[np.float32]:
    """Return the vectors of `count` texts in the order of their `index`, shape (count, dimension).

    A vector is a list of numbers, or base64 over little-endian float32. Raises `Malformed`: another number of vectors,
    an index that is missing, doubled or out of range, another dimension (final: it will not change), NaN or infinity,
    a vector of zeros. With `normalise` each row is scaled to length 1 in float64. `dimension` None takes the first
    vector's.
    """
    data = body.get("data")
    if not isinstance(data, list):
        raise Malformed("the reply holds no list of embeddings")
    if len(data) != count:
        raise Malformed(f"{len(data)} vectors came back for {count} texts")
    by_index: dict[int, NDArray[np.float64]] = {}
    for entry in data:
        at = entry.get("index") if isinstance(entry, dict) else None
        if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < count or at in by_index:
            raise Malformed(f"a vector has the index {at!r}; {count} texts need 0 to {count - 1}, each once")
        vector = _vector(entry.get("embedding"))
        dimension = dimension or len(vector)
        if len(vector) != dimension:
            raise Malformed(
                f"a vector has {len(vector)} dimensions where {dimension} were said; correct `dimension`, or the model",
                retryable=False,
            )
        by_index[at] = vector
    return _scaled(np.stack([by_index[at] for at in range(count)]), normalise)


def _vector(value: Any) -> NDArray[np.float64]:
    if isinstance(value, str):
        try:
            raw = base64.b64decode(value, validate=True)
            return np.frombuffer(raw, dtype="<f4").astype(np.float64)
        except (binascii.Error, ValueError) as error:
            raise Malformed(f"a vector is no base64 over float32 ({error})") from error
    if not isinstance(value, list) or not value or any(type(number) not in (int, float) for number in value):
        raise Malformed("a vector is neither a list of numbers nor base64")
    return np.array(value, dtype=np.float64)


def _scaled(rows: NDArray[np.float64], normalise: bool) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        single = rows.astype(np.float32)
    if not np.isfinite(single).all():
        raise Malformed("a vector holds NaN or infinity")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (lengths > 0).all() or not single.any(axis=1).all():
        raise Malformed("a vector holds zeros only: it is near to no text and far from none")
    return (rows / lengths).astype(np.float32) if normalise else single
