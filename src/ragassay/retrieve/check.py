"""Checking what a stack returned, without I/O: a broken promise raises, nothing is repaired in silence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real

from ragassay import canon
from ragassay.errors import StackError
from ragassay.records import Chunk, Delivered, Hit, Retrieval


def checked(
    hits: object,
    *,
    chunks: Mapping[str, Chunk],
    owns_corpus: bool,
    top_k: int | None,
    threshold: Decimal | None,
    latency_ms: int,
) -> Retrieval:
    """Return the retrieval that `hits` amount to, or raise `StackError` with the first promise they break.

    A chunk returned twice is credited once, at its first rank, and counted. Hits below `threshold` are dropped
    and counted. Nothing left, or only blank texts, is the legal state `empty`.
    """
    ranked = _ranked(hits, top_k)
    texts = [_text(hit, chunks, owns_corpus) for hit in ranked]
    first: dict[str, int] = {}
    for at, hit in enumerate(ranked):
        seen = first.setdefault(hit.chunk, at)
        if texts[seen] != texts[at]:
            raise StackError(f"the stack returned two different texts for the one chunk {hit.chunk!r}")
    kept = [at for at in first.values() if threshold is None or Decimal(repr(ranked[at].score)) >= threshold]
    delivered = tuple(
        _delivered(rank, ranked[at], texts[at], chunks if not owns_corpus else {}) for rank, at in enumerate(kept, 1)
    )
    blank = all(not one.text.strip() for one in delivered)
    return Retrieval(
        state="empty" if blank else "ok",
        delivered=() if blank else delivered,
        latency_ms=latency_ms,
        duplicates=len(ranked) - len(first),
        below_threshold=len(first) - len(kept),
    )


def _ranked(hits: object, top_k: int | None) -> list[Hit]:
    """Return the hits with plain float scores; each is a Hit, none too many, scores finite and never rising."""
    if not isinstance(hits, Sequence) or isinstance(hits, str | bytes):
        raise StackError(f"the stack returned {type(hits).__name__}, not a list of hits")
    if top_k is not None and len(hits) > top_k:
        raise StackError(f"the stack returned {len(hits)} hits where at most {top_k} were asked for")
    ranked: list[Hit] = []
    for rank, hit in enumerate(hits, 1):
        if not isinstance(hit, Hit):
            raise StackError(f"hit {rank} is {type(hit).__name__}, not a Hit")
        ranked.append(Hit(chunk=_id(hit, rank), score=_score(hit, rank), text=hit.text))
        if rank > 1 and ranked[-1].score > ranked[-2].score:
            raise StackError(
                f"the score rises from {ranked[-2].score} at rank {rank - 1} to {ranked[-1].score} at rank {rank}; "
                "hits come best first and a higher score is better"
            )
    return ranked


def _id(hit: Hit, rank: int) -> str:
    chunk: object = hit.chunk
    if not isinstance(chunk, str) or not chunk or not _encodable(chunk):
        raise StackError(f"hit {rank} has the chunk id {chunk!r}, which is no usable text")
    return chunk


def _score(hit: Hit, rank: int) -> float:
    score: object = hit.score
    if isinstance(score, bool) or not isinstance(score, Real) or not math.isfinite(score):
        raise StackError(f"hit {rank} ({hit.chunk!r}) has the score {score!r}, which is no finite number")
    return float(score)


def _text(hit: Hit, chunks: Mapping[str, Chunk], owns_corpus: bool) -> str:
    text: object = hit.text
    if owns_corpus:
        if not isinstance(text, str):
            raise StackError(f"hit {hit.chunk!r} has no text, and this stack's texts are its own to return")
        if not _encodable(text):
            raise StackError(f"the text of hit {hit.chunk!r} cannot be written as UTF-8")
        return text
    if hit.chunk not in chunks:
        raise StackError(f"the stack returned the chunk {hit.chunk!r}, which is not in the corpus that it was given")
    known = chunks[hit.chunk].text
    if text is not None and text != known:
        raise StackError(
            f"the stack returned another text for {hit.chunk!r} than the corpus holds; is its index stale?"
        )
    return known


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _delivered(rank: int, hit: Hit, text: str, chunks: Mapping[str, Chunk]) -> Delivered:
    chunk = chunks.get(hit.chunk)
    return Delivered(
        rank=rank,
        chunk=hit.chunk,
        sha256=canon.sha256(text.encode()),
        text=text,
        score=canon.decimal_string(hit.score),
        page=chunk.page if chunk else None,
        start=chunk.start if chunk else None,
        end=chunk.end if chunk else None,
    )
