"""The Merkle tree of a log: hashes, proofs that it holds an entry, proofs that it only grew (RFC 6962, RFC 9162). Pure.

A leaf is SHA-256 over 0x00 and the entry, a node SHA-256 over 0x01 and its two children; a tree of n > 1 leaves has
its left child over the largest power of two that is less than n.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeAlias

Subtree: TypeAlias = Callable[[int, int], bytes]
"""Gives the root over the leaves from the first number up to, but without, the second."""

EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of an entry."""
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash over two children."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def split(count: int) -> int:
    """Return the largest power of two that is less than `count` (at least 2): where a tree is divided."""
    return 1 << ((count - 1).bit_length() - 1)


def root_of(leaf_hashes: Sequence[bytes]) -> bytes:
    """Return the root over these leaves; that of no leaf is the SHA-256 of nothing."""
    if not leaf_hashes:
        return EMPTY_ROOT
    row, sha256 = list(leaf_hashes), hashlib.sha256
    while len(row) > 1:
        paired = [sha256(b"\x01" + left + right).digest() for left, right in zip(row[::2], row[1::2], strict=False)]
        row = paired + row[len(row) & ~1 :]
    return row[0]


def inclusion_proof(index: int, leaf_hashes: Sequence[bytes]) -> list[bytes]:
    """Return the hashes that lead from leaf `index` to the root; raises `ValueError` where there is no such leaf."""
    return inclusion_path(index, len(leaf_hashes), _from(leaf_hashes))


def consistency_proof(old_size: int, leaf_hashes: Sequence[bytes]) -> list[bytes]:
    """Return the hashes that show that the first `old_size` leaves were not changed; raises `ValueError`."""
    return consistency_path(old_size, len(leaf_hashes), _from(leaf_hashes))


def _from(leaf_hashes: Sequence[bytes]) -> Subtree:
    return lambda start, end: root_of(leaf_hashes[start:end])


def inclusion_path(index: int, size: int, subtree: Subtree) -> list[bytes]:
    """Return an inclusion proof, its hashes taken from `subtree` (RFC 6962, 2.1.1); raises `ValueError`."""
    if not 0 <= index < size:
        raise ValueError(f"a log of {size} entries has no entry {index}")
    start, end = 0, size
    path: list[bytes] = []
    while end - start > 1:
        middle = start + split(end - start)
        if index < middle:
            path.append(subtree(middle, end))
            end = middle
        else:
            path.append(subtree(start, middle))
            start = middle
    return path[::-1]


def consistency_path(old_size: int, size: int, subtree: Subtree) -> list[bytes]:
    """Return a consistency proof, its hashes taken from `subtree` (RFC 6962, 2.1.2); raises `ValueError`."""
    if not 0 <= old_size <= size:
        raise ValueError(f"a log of {size} entries never had {old_size}")
    if old_size in (0, size):
        return []
    start, end = 0, size
    path: list[bytes] = []
    while end != old_size:
        middle = start + split(end - start)
        if old_size <= middle:
            path.append(subtree(middle, end))
            end = middle
        else:
            path.append(subtree(start, middle))
            start = middle
    if start:
        path.append(subtree(start, end))
    return path[::-1]


def root_from_inclusion(index: int, size: int, leaf: bytes, proof: Sequence[bytes]) -> bytes | None:
    """Return the root that a proof leads to, None where it has not the length for this place (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return None
    place, last, root = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return None
        if place & 1 or place == last:
            root = node_hash(sibling, root)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            root = node_hash(root, sibling)
        place, last = place >> 1, last >> 1
    return root if last == 0 else None


def consistent(old_size: int, old_root: bytes, new_size: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Tell whether a proof shows that the new tree begins with all of the old one (RFC 9162, 2.1.4.2)."""
    if not 0 <= old_size <= new_size:
        return False
    if old_size == new_size:
        return not proof and old_root == new_root and (old_size > 0 or old_root == EMPTY_ROOT)
    if old_size == 0:
        return not proof and old_root == EMPTY_ROOT
    hashes = [old_root, *proof] if old_size & (old_size - 1) == 0 else list(proof)
    if not hashes or not proof:
        return False
    place, last = old_size - 1, new_size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            new = node_hash(new, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and old == old_root and new == new_root
