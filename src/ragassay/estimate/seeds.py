"""Seeds that anyone can recompute: a digest of what is compared and why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from ragassay import canon


def seed_from(benchmark_digest: str, row_keys: Iterable[str], purpose: str) -> int:
    """Return the seed for PCG64: the first 8 bytes, big-endian, of a SHA-256.

    It is taken over the canonical JSON array [benchmark digest, sorted row keys, purpose], so the order of the rows
    does not matter. The result can exceed 2^53: write it as a decimal string.
    """
    data = canon.canonical([benchmark_digest, sorted(row_keys), purpose])
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big")
