"""An index that outlives the run, on a server: found again by what it holds, filled where it is not whole, never mixed.

Its name says what it holds: two rows share one index only when every chunk, every vector and every setting that shapes
the index are the same. An index that was given a name by hand is held to the same: what else it holds is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay import canon
from ragassay.errors import StackError
from ragassay.plugins.stacks.vector_index import points, raised_as_stack_error
from ragassay.records import JSON, Chunk
from ragassay.seams import Embedder, Progress

PREFIX = "ragassay_"


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a server holds under a name: how many vectors, and the digest that was put beside them when it was made.

    `digest` is None where it is no index of ours.
    """

    count: int
    digest: str | None


class Store(Protocol):
    """One named index on a server; every call may raise anything."""

    def held(self) -> Held | None:
        """Return what stands under the name, None where nothing does."""
        ...

    def create(self, dimension: int, digest: str) -> None:
        """Make it, empty, with the digest beside it."""
        ...

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write the vectors of the chunks from position `first` on; one that is there already may stay as it is."""
        ...

    def finish(self) -> None:
        """Build what the engine searches with, and wait for it; called where all vectors are there."""
        ...


@runtime_checkable
class ReadsBack(Protocol):
    """A store that can give back what it was given: what it held before this build is then compared, row by row."""

    def read(self, first: int, count: int) -> tuple[Sequence[int], NDArray[np.float32]]:
        """Return the positions from `first` on that it holds, `count` where none is missing, sorted, and their rows."""
        ...


@runtime_checkable
class KeepsUnitLength(Protocol):
    """A store that may keep a vector's direction alone, where only that is compared."""

    unit_length: bool
    """True where the rows that it gives back have the length 1, or are zero."""


def digest_of(chunks: Sequence[Chunk], embedder: Embedder | None, settings: JSON) -> str:
    """Return 32 hex digits over the chunks' ids and texts, in order, the embedder and what shapes the index."""
    held = [[chunk.id, chunk.sha256] for chunk in chunks]
    embedding = embedder.describe() if embedder is not None else None
    return canon.digest({"chunks": held, "embedder": embedding, "settings": settings}).removeprefix("sha256:")[:32]


def bring_up(
    kind: str,
    name: str,
    store: Store,
    matrix: NDArray[np.float32],
    digest: str,
    progress: Progress,
    *,
    block: int = 256,
) -> bool:
    """Make the index hold exactly the rows of `matrix`, and return whether it did already.

    A build that was interrupted is continued. Raises `StackError` for an index that somebody else made or that holds
    something else, where the server does not hold every vector afterwards, and where a store that reads back gives
    other rows than it was given: the digest beside an index says what was written, not what became of it.
    """
    wanted = len(matrix)
    with raised_as_stack_error(kind, f"open the index {name!r}"):
        held = store.held()
        if held is None:
            store.create(matrix.shape[1], digest)
    if held is not None and held.digest != digest:
        what = "no index of ragassay's" if held.digest is None else "another corpus, embedder or setting"
        raise StackError(f"{kind}: {name!r} holds {what}; name another, leave the name out, or remove it by hand")
    if held is None or held.count != wanted:
        with raised_as_stack_error(kind, f"write to the index {name!r}"):
            for first, rows in points(matrix, block):
                store.put(first, rows)
                progress(first + len(rows), wanted)
    with raised_as_stack_error(kind, f"finish the index {name!r}"):
        store.finish()
        after = store.held()
    if after is None or after.count != wanted:
        raise StackError(f"{kind}: {name!r} holds {after.count if after else 0} of {wanted} chunks after indexing")
    if held is not None and isinstance(store, ReadsBack):
        _compare(kind, name, store, matrix, block)
    return held is not None and held.count == wanted


def _of_unit_length(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows.astype(np.float64), axis=-1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _compare(kind: str, name: str, store: ReadsBack, matrix: NDArray[np.float32], block: int) -> None:
    """Raise `StackError` unless the store gives back every row under its position."""
    for first, rows in points(matrix, block):
        with raised_as_stack_error(kind, f"read the index {name!r}"):
            places, found = store.read(first, len(rows))
        if isinstance(store, KeepsUnitLength) and store.unit_length:
            rows = _of_unit_length(rows)
            found = _of_unit_length(found)
        whole = list(places) == list(range(first, first + len(rows))) and found.shape == rows.shape
        if not whole or not np.allclose(found, rows, rtol=1e-5, atol=1e-6 * max(1.0, float(np.abs(rows).max()))):
            raise StackError(
                f"{kind}: {name!r} was altered since it was filled: for chunks {first + 1} to {first + len(rows)} it "
                "does not hold what was put there; remove it by hand, and it is filled anew"
            )
