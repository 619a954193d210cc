"""Which vectors become nodes of a graph: each different one once, those without a direction not at all. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay.plugins.stacks.matrix import steps

_DIGEST_BYTES = 16


class Nodes(msgspec.Struct, frozen=True, kw_only=True):
    """A node's name is the position of the first chunk that it stands for."""

    first: NDArray[np.int64]
    """The names of all nodes, ascending, shape (n,)."""
    twins: Mapping[int, NDArray[np.int64]]
    """By name the positions of all chunks of a node that stands for several."""
    zero: NDArray[np.int64]
    """The positions of the chunks whose vector is zero."""
    digest: str
    """SHA-256 over all numbers of the matrix and its shape."""

    def positions(self, names: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of all chunks that these nodes stand for."""
        several = [self.twins[name] for name in names.tolist() if name in self.twins]
        alone = names[[name not in self.twins for name in names.tolist()]] if several else names
        return np.concatenate([alone, *several]) if several else alone


def nodes_of(matrix: NDArray[np.float32]) -> Nodes:
    """Return the nodes for a matrix of unit rows; equal vectors would tear a graph apart."""
    whole = hashlib.sha256(repr(matrix.shape).encode())
    digests = bytearray()
    zero = [np.zeros(0, np.int64)]
    for start, block in steps(matrix):
        rows = np.ascontiguousarray(block)
        whole.update(rows.data)
        digests += b"".join(hashlib.blake2b(row.data, digest_size=_DIGEST_BYTES).digest() for row in rows)
        zero.append(np.flatnonzero(~rows.any(axis=1)) + start)
    dark = np.concatenate(zero)
    light = np.setdiff1d(np.arange(len(matrix), dtype=np.int64), dark, assume_unique=True)
    names = np.frombuffer(bytes(digests), dtype=f"S{_DIGEST_BYTES}")[light]
    _, at, group, count = np.unique(names, return_index=True, return_inverse=True, return_counts=True)
    order, begins = np.argsort(group, kind="stable"), np.cumsum(count) - count
    several = [light[order[begins[one] : begins[one] + count[one]]] for one in np.flatnonzero(count > 1)]
    return Nodes(
        first=np.sort(light[at]), twins={int(part[0]): part for part in several}, zero=dark, digest=whole.hexdigest()
    )
