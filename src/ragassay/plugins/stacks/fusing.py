"""Reciprocal rank fusion of lists of hits. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ragassay.errors import StackError
from ragassay.records import Hit


def fused(lists: Iterable[Sequence[Hit]], *, depth: int, rrf_k: int) -> list[Hit]:
    """Return every chunk of the lists, best first: score(chunk) = Σ over lists of 1 / (rrf_k + rank), rank from 1.

    A chunk that a list names twice counts at its better rank; equal scores come as first met, list by list. Raises
    `StackError` for a list of more than `depth` hits.

    Source: Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods", SIGIR 2009.
    """
    shares: dict[str, list[float]] = {}
    texts: dict[str, str | None] = {}
    for hits in lists:
        if len(hits) > depth:
            raise StackError(f"a fused stack returned {len(hits)} hits where {depth} were asked for")
        ranked: dict[str, str | None] = {}
        for hit in hits:
            ranked.setdefault(hit.chunk, hit.text)
        for rank, (chunk, text) in enumerate(ranked.items(), 1):
            shares.setdefault(chunk, []).append(1 / (rrf_k + rank))
            texts.setdefault(chunk, text)
    scores = {chunk: math.fsum(parts) for chunk, parts in shares.items()}
    order = sorted(scores, key=lambda chunk: -scores[chunk])
    return [Hit(chunk=chunk, score=scores[chunk], text=texts[chunk]) for chunk in order]
