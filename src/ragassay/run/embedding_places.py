"""Where the row of each text stands, found by its key: 40 bytes a text, whatever the number of segments. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragassay.run.embedding_segment import KEY_BYTES, Keys

Places = NDArray[np.int64]
"""A segment's number × 2**32 + the row in it, shape (n,); -1 where there is none."""

_ROW_BITS = 32


class PlaceIndex:
    """Sorted tables of keys, merged so that few are left; of a key that comes twice either row is found."""

    def __init__(self) -> None:
        self._tables: list[tuple[Keys, Places]] = []

    def add(self, keys: Keys, segment: int) -> None:
        """Note that the segment of that number holds the rows of `keys`, in that order."""
        _join(self._tables, keys, (np.int64(segment) << _ROW_BITS) + np.arange(len(keys), dtype=np.int64))

    def find(self, keys: Keys) -> Places:
        """Return where the row of each key stands, -1 where none does."""
        found = np.full(len(keys), -1, dtype=np.int64)
        for held, places in self._tables:
            at = np.minimum(np.searchsorted(held, keys), len(held) - 1)
            found = np.where((found < 0) & (held[at] == keys), places[at], found)
        return found


def split(places: Places) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the segments and the rows in them."""
    return places >> _ROW_BITS, places & ((1 << _ROW_BITS) - 1)


def _join(tables: list[tuple[Keys, Places]], keys: Keys, places: Places) -> None:
    """Add a table, merged with those before it that are no larger than twice its size: each row is merged O(log n)."""
    if not len(keys):
        return
    while tables and len(tables[-1][0]) <= 2 * len(keys):
        earlier, where = tables.pop()
        keys, places = np.concatenate([earlier, keys]), np.concatenate([where, places])
    order = np.argsort(keys, kind="stable")
    tables.append((keys[order].astype(f"S{KEY_BYTES}", copy=False), places[order]))
