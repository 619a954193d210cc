"""Which judged answers of a run its judge is asked about a second time. Pure: anyone draws the same ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

DOMAIN = "ragassay reask/1"


def reask_order(run: str, benchmark: str, ids: Iterable[str]) -> list[str]:
    """Return question ids in the order in which they are drawn; a share of them is a beginning of this list.

    `run` is the SHA-256 of the bytes of the run's envelope and `benchmark` that of its questions, both in hex. The
    order is that of SHA-256(domain, run, benchmark, id), each ended by a line feed: nobody chooses it, for it stands
    only once the run is signed.
    """

    def place(name: str) -> bytes:
        return hashlib.sha256("".join(f"{part}\n" for part in (DOMAIN, run, benchmark, name)).encode("utf-8")).digest()

    return sorted(ids, key=place)


def share_of(percent: str, total: int) -> int:
    """Return how many of `total` a share such as "20%" is, rounded up; raises `ValueError` for what is no share."""
    number = int(percent.removesuffix("%"))
    if not percent.endswith("%") or not 0 <= number <= 100:
        raise ValueError(f"{percent!r} is no share from 0% to 100%")
    return (number * total + 99) // 100
