"""A retriever over any vector engine: the question is embedded, the engine asked, ties put in chunk order.

An engine is what differs between Qdrant, PostgreSQL, Chroma and the rest; everything that must be the same for all of
them stands here once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay.errors import RagassayError, StackError, legible
from ragassay.plugins.stacks.ranking import shortest
from ragassay.plugins.stacks.vectors import embed_query, release
from ragassay.records import JSON, Hit
from ragassay.seams import Embedder


class VectorEngine(Protocol):
    """Holds one vector per chunk under the chunk's position, counted from 0. Called from several threads.

    May raise anything: it becomes a `StackError`, retryable for `ConnectionError` and `TimeoutError`.
    """

    most: int
    """The largest `limit` that it takes."""

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> Sequence[tuple[int, float]]:
        """Return at most `limit` pairs of position and score, best first; a higher score is better.

        `text` is the question for an engine that searches text besides. Of a fixed `limit`, a larger one returns the
        same list, continued; the order among equal scores is free.
        """
        ...

    def count(self) -> int:
        """Return how many vectors it holds, asked of the engine itself."""
        ...

    def close(self) -> None:
        """Release what it holds; called once."""
        ...


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """An index that stays on a server: what `ragassay index` says of it."""

    name: str
    reused: bool
    """True where it was whole already."""
    others: tuple[str, ...] = ()
    """Indexes of ragassay on the same server under other names, sorted: other rows', or stale."""


class VectorIndex:
    """A built engine with the embedder of its questions; `zero_is_far` where a zero vector is near nothing.

    Without an embedder the engine is asked by the question's text alone, with an empty vector.
    """

    def __init__(
        self,
        kind: str,
        ids: Sequence[str],
        embedder: Embedder | None,
        engine: VectorEngine | None,
        *,
        dimension: int,
        zero_is_far: bool,
        about: JSON,
        stored: Stored | None = None,
        left_out: frozenset[str] | None = frozenset(),
    ) -> None:
        self._kind = kind
        self._ids = list(ids)
        self._embedder = embedder
        self._engine = engine
        self._dimension = dimension
        self._zero_is_far = zero_is_far
        self._about = about
        self.stored = stored
        """Where the index stays after `close`; None where it is gone then."""
        self.left_out = left_out
        """The ids of the chunks that no search sees; None where that cannot be said."""
        self._lock = threading.Lock()

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k chunks, best first, equal scores in chunk order.

        A question whose vector is zero is near nothing where `zero_is_far`: an empty list. Raises `StackError` for
        whatever the engine raises, for a position that no chunk has or that came twice, and for a score that is no
        finite number.
        """
        if not self._ids or k < 1:
            return []
        query = (
            np.zeros(0, np.float32) if self._embedder is None else embed_query(self._embedder, text, self._dimension)
        )
        if self._embedder is not None and self._zero_is_far and not query.any():
            return []
        ranked = self._ranked(text, query.tolist(), min(k, len(self._ids)))
        return [Hit(chunk=self._ids[at], score=shortest(np.float32(score)) + 0.0) for at, score in ranked[:k]]

    def count(self) -> int:
        """Return how many vectors the engine holds; raises `StackError` after `close`."""
        if not self._ids:
            return 0
        with raised_as_stack_error(self._kind, "count its vectors"):
            return self._open().count()

    def describe(self) -> JSON:
        """Return what the stack recorded when it was built."""
        return dict(self._about)

    def close(self) -> None:
        """Close the engine and the embedder; may be called twice."""
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()
        if self._embedder is not None:
            release(self._embedder)

    def _open(self) -> VectorEngine:
        if self._engine is None:
            raise StackError(f"{self._kind} was asked after it was closed")
        return self._engine

    def _ranked(self, text: str, query: Sequence[float], k: int) -> list[tuple[int, float]]:
        """Return (position, score) best first; asks for more until no group of equal scores is cut."""
        engine = self._open()
        limit, most = k, min(len(self._ids), engine.most)
        if k > most:
            raise StackError(f"{self._kind} returns at most {engine.most} hits, and {k} were asked for")
        while True:
            limit = min(limit * 2 + 8, most)
            with raised_as_stack_error(self._kind, "search"):
                found = [(at, float(np.float32(score))) for at, score in engine.nearest(text, query, limit)]
            self._check(found)
            if len(found) < limit or limit == most or found[-1][1] != found[k - 1][1]:
                return sorted(found, key=lambda one: (-one[1], one[0]))

    def _check(self, found: Sequence[tuple[int, float]]) -> None:
        if len({at for at, _ in found}) != len(found):
            raise StackError(
                f"{self._kind} returned one position twice in one answer, so that another is missing from it; was its "
                "index altered?"
            )
        for at, score in found:
            if not 0 <= at < len(self._ids):
                raise StackError(f"{self._kind} returned position {at}, and the corpus has {len(self._ids)} chunks")
            if not np.isfinite(score):
                raise StackError(f"{self._kind} gave {self._ids[at]!r} the score {score!r}, which is no finite number")


def points(matrix: NDArray[np.float32], block: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield the rows in blocks of at most `block`, each with the position of its first row."""
    for start in range(0, len(matrix), block):
        yield start, matrix[start : start + block]


@contextmanager
def raised_as_stack_error(kind: str, doing: str) -> Iterator[None]:
    """Turn what an engine raises while `doing` something into a `StackError` that names both; ours pass as they are."""
    try:
        yield
    except RagassayError:
        raise
    except Exception as error:  # clients raise their own kinds, often plain Exception
        temporary = isinstance(error, ConnectionError | TimeoutError)
        raise StackError(
            f"{kind} could not {doing}: {type(error).__name__}: {legible(error)}", retryable=temporary
        ) from error
