"""Draws the answers that people rate: as even as may be over rows, and within a row over the judge's levels. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from ragassay.estimate.ratings import nearest_level
from ragassay.site.calibration.items import Item

Stratum: TypeAlias = tuple[str, int]
"""A row's key and a level in hundredths."""


def draw(items: Iterable[Item], rows: Collection[str], size: int, seed: str) -> tuple[str, ...]:
    """Return the keys of at most `size` judged answers of the given rows, in an order that tells nothing.

    Turn by turn the row that has given fewest answers gives the next, from the level of which it has given fewest; what
    has no further answer is passed over. An answer that several rows gave is taken once. The draw follows from seed and
    answers alone: the order in which they are given does not matter.
    """
    waiting = _strata(items, rows, seed)
    given: Counter[Stratum] = Counter()
    chosen: set[str] = set()
    while len(chosen) < size and (turn := _turn(waiting, given, seed)) is not None:
        key = waiting[turn].pop()
        given[turn] += 1
        chosen.add(key)
        for keys in waiting.values():
            if key in keys:
                keys.remove(key)
    return tuple(sorted(chosen, key=lambda key: place(seed, "shown", key)))


def place(seed: str, purpose: str, name: str) -> bytes:
    """Return where `name` comes in the order that `seed` gives for a purpose."""
    return hashlib.sha256("\x00".join((seed, purpose, name)).encode()).digest()


def _strata(items: Iterable[Item], rows: Collection[str], seed: str) -> dict[Stratum, list[str]]:
    """Return for each row and level the keys to draw from, the next one last."""
    found: dict[Stratum, set[str]] = {}
    for item in items:
        for one in item.seen:
            if one.row in rows and one.score is not None:
                found.setdefault((one.row, nearest_level(one.score)), set()).add(item.key)
    return {stratum: sorted(found[stratum], key=lambda key: place(seed, "drawn", key)) for stratum in sorted(found)}


def _turn(waiting: Mapping[Stratum, list[str]], given: Counter[Stratum], seed: str) -> Stratum | None:
    """Return whose turn it is; equal counts are settled by the seed."""
    of_row = Counter[str]()
    for (row, _), count in given.items():
        of_row[row] += count

    def order(stratum: Stratum) -> tuple[int, bytes, int, bytes]:
        row, level = stratum
        return of_row[row], place(seed, "row", row), given[stratum], place(seed, f"level {row}", str(level))

    return min((stratum for stratum, keys in waiting.items() if keys), key=order, default=None)
