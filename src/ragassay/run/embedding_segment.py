"""A segment of the embedding store: which texts it is of and their rows, as bytes and back. Pure.

```
8 bytes magic · uint32 dimension · uint32 n · n × 32 bytes key · n × dimension × float32   (little-endian)
```
A key is the SHA-256 of the embedder's identity, the kind of text and the text.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay.errors import PluginError

MAGIC = b"RAEMBED1"
KEY_BYTES = 32
_HEADER = struct.Struct("<8sII")

Keys = NDArray[np.bytes_]
"""Keys of texts, shape (n,), 32 bytes each."""


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of a segment, shape (n,), and where its rows begin and how wide they are."""

    keys: Any
    dimension: int
    body: int
    """The offset of the first row."""


def key_of(identity: str, text: str, kind: str = "document") -> bytes:
    """Return the key of one text; `identity` is the digest of the embedder's description."""
    return hashlib.sha256(f"{identity}\0{kind}\0{text}".encode("utf-8", "surrogatepass")).digest()


def keys_of(identity: str, texts: Iterable[str]) -> Keys:
    """Return the keys of texts of documents, shape (n,), in order."""
    joined = b"".join(key_of(identity, text) for text in texts)
    return np.frombuffer(joined, dtype=f"S{KEY_BYTES}")


def encode(keys: Keys, matrix: NDArray[np.float32]) -> bytes:
    """Return the bytes of one segment; raises `PluginError` for rows that are not one a key, and finite."""
    rows = np.ascontiguousarray(matrix, dtype="<f4")
    if rows.ndim != 2 or rows.shape[0] != len(keys) or rows.shape[1] == 0:
        raise PluginError(f"the embedder returned shape {rows.shape} for {len(keys)} texts")
    if not np.isfinite(rows).all():
        raise PluginError("the embedder returned a vector that holds NaN or infinity; nothing was stored")
    return _HEADER.pack(MAGIC, rows.shape[1], rows.shape[0]) + keys.tobytes() + rows.tobytes()


def encode_segment(identity: str, texts: Sequence[str], matrix: NDArray[np.float32]) -> bytes:
    """Return the segment of documents that an embedder turned into rows; raises `PluginError` as `encode` does."""
    return encode(keys_of(identity, texts), matrix)


def decode(data: bytes) -> Segment | None:
    """Return what a segment holds, None when the bytes are no segment."""
    if len(data) < _HEADER.size:
        return None
    magic, dimension, count = _HEADER.unpack_from(data)
    body = _HEADER.size + count * KEY_BYTES
    if magic != MAGIC or dimension == 0 or len(data) != body + count * dimension * 4:
        return None
    keys = np.frombuffer(data, dtype=f"S{KEY_BYTES}", count=count, offset=_HEADER.size).copy()
    return Segment(keys=keys, dimension=dimension, body=body)


def rows_of(data: bytes, segment: Segment) -> NDArray[np.float32]:
    """Return a segment's rows, shape (n, dimension), in the order of its keys."""
    rows = np.frombuffer(data, dtype="<f4", offset=segment.body).reshape(len(segment.keys), segment.dimension)
    return rows.astype(np.float32)
