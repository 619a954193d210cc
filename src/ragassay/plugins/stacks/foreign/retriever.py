"""A built retriever of another library: asked from any thread, its documents read as hits, its errors told."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from numbers import Real
from typing import Any, NamedTuple

from ragassay.canon import sha256
from ragassay.errors import StackError
from ragassay.plugins.stacks.foreign.named import Named, raised_by_their_code
from ragassay.plugins.stacks.foreign.settings import Settings
from ragassay.records import JSON, Chunk, Hit

CHUNK = "chunk"
"""The key of a document's metadata under which a chunk's id stands."""


_UUID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


class Found(NamedTuple):
    """One document as the library returned it; `id` is the chunk's where the metadata say so, else the document's."""

    id: str | None
    text: str | None
    score: Any


class Asked(NamedTuple):
    """How a retriever of the library is asked: with the question and k, and how k reaches it."""

    ask: Callable[[str, int], Sequence[Found]]
    k: str
    """`cut` where the retriever cannot be told k: then its list is cut."""


def metadata_of(chunk: Chunk) -> dict[str, Any]:
    """Return the metadata of a chunk's document: its id, page, and where it stands on the page."""
    return {CHUNK: chunk.id, "page": chunk.page, "start": chunk.start, "end": chunk.end}


def found(document_id: Any, metadata: Any, text: Any, score: Any) -> Found:
    """Return a document; the chunk's id in its metadata goes before its own id, which some stores replace."""
    chunk = metadata.get(CHUNK) if isinstance(metadata, Mapping) else None
    name = chunk if isinstance(chunk, str) and chunk else document_id
    return Found(id=None if name is None else str(name), text=text if isinstance(text, str) else None, score=score)


def _lasting(name: str | None, text: str) -> str:
    """Return a passage's id; its text's digest where it has none, or one that a store draws anew when it is filled."""
    if name and not _UUID.fullmatch(name):
        return name
    return f"sha256-{sha256(text.encode('utf-8', 'surrogatepass'))[:32]}"


class ForeignRetriever:
    """A retriever of another library, asked from any thread; `owns_corpus` where its hits bring their own texts.

    `left_out` is empty where it was given all chunks, and None where nobody here knows what it indexed.
    """

    def __init__(
        self,
        quiet: Callable[[], AbstractContextManager[Any]],
        named: Named,
        ask: Callable[[str, int], Sequence[Found]],
        *,
        known: Mapping[str, str] | None,
        scores: str,
        lock: threading.Lock | None,
        read: Settings,
        close: Callable[[], Any] | None,
        about: JSON,
    ) -> None:
        self.owns_corpus = known is None
        self.left_out = frozenset[str]() if about["given"] == "chunks" else None
        self._quiet = quiet
        self._named = named
        self._ask = ask
        self._known = known
        self._scores = scores
        self._lock = lock
        self._read = read
        self._close = close
        self._about = about
        self._closed = False

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k hits in the retriever's order; what it returns beyond k is cut off.

        Raises `StackError` for whatever it raises, for a document that is none of the board's chunks, where they are
        its corpus, and for scores that are missing, are no numbers, or rise.
        """
        if self._closed:
            raise StackError(f"{self._named.path} was asked after it was closed")
        if k < 1:
            return []
        with self._told(), self._quiet():
            if self._lock is None:
                found = list(self._ask(text, k))[:k]
            else:
                with self._lock:
                    found = list(self._ask(text, k))[:k]
        hits: list[Hit] = []
        for rank, one in enumerate(found, 1):
            score = 1 / rank if self._scores == "rank" else self._score(one.score, rank, hits)
            hits.append(self._hit(one, rank, score))
        return hits

    def describe(self) -> JSON:
        """Return what was recorded when it was built."""
        return dict(self._about)

    def close(self) -> None:
        """Close the retriever, where a factory made it and it can be closed; may be called twice."""
        close, self._close, self._closed = self._close, None, True
        if callable(close):
            with self._told():
                close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what their code raises into a `StackError` with the place and without the secrets that were met."""
        try:
            with raised_by_their_code(self._named, "raised"):
                yield
        except StackError as error:
            missing = isinstance(error.__cause__, NotImplementedError)
            advice = "; a row asks synchronously: give the retriever a synchronous search" if missing else ""
            raise StackError(self._read.scrub(str(error)) + advice, retryable=error.retryable) from None

    def _score(self, score: Any, rank: int, before: Sequence[Hit]) -> float:
        instead = 'set scores = "rank" to take its order and record 1/rank'
        if score is None:
            raise StackError(f"{self._named.path} gave hit {rank} no score; {instead}")
        if isinstance(score, bool) or not isinstance(score, Real) or not math.isfinite(score):
            raise StackError(f"{self._named.path} gave hit {rank} the score {score!r}, which is no number; {instead}")
        if before and float(score) > before[-1].score:
            raise StackError(
                f"{self._named.path}: the score rises from {before[-1].score} at rank {rank - 1} to {score} at rank "
                f"{rank}, and a higher score is better; {instead}"
            )
        return float(score) + 0.0

    def _hit(self, one: Found, rank: int, score: float) -> Hit:
        if one.text is None:
            raise StackError(f"{self._named.path} returned no text with hit {rank}")
        if self._known is None:
            return Hit(chunk=_lasting(one.id, one.text), score=score, text=one.text)
        instead = 'if it searches passages of its own, set corpus = "own"'
        if one.id is None or one.id not in self._known:
            raise StackError(
                f"{self._named.path} returned the document {one.id!r}, which is none of the board's chunks; "
                f"keep id or metadata of the documents that it is given, or {instead}"
            )
        if self._known[one.id] != one.text:
            raise StackError(
                f"{self._named.path} returned another text for {one.id!r} than the board's chunk has; {instead}"
            )
        return Hit(chunk=one.id, score=score)
