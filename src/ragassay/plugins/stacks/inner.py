"""The stack inside a wrapper: found among the parts, asked, and held to its promises before its hits are used."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.errors import InputError, StackError
from ragassay.records import Chunk, Hit
from ragassay.seams import Retriever


def inner_of(kind: str, parts: Mapping[str, Any]) -> Retriever:
    """Return the part `of`, one built stack; raises `InputError` when it is missing, a list, or no stack."""
    of = parts.get("of")
    if not isinstance(of, Retriever):
        raise InputError(f'{kind!r} needs one stack to wrap: of = {{ kind = "bm25" }}')
    return of


def asked(inner: Retriever, text: str, depth: int, known: Mapping[str, Chunk]) -> list[Hit]:
    """Return the inner stack's hits for `text`, at most `depth`, each chunk once at its first rank.

    `known` maps chunk id to chunk. Raises `StackError` for more hits than were asked for, a chunk that the corpus
    does not hold or whose text it holds otherwise, and a score that rises or is no finite number. What the inner
    stack raises is passed on as it is.
    """
    hits = list(inner.search(text, depth))
    if len(hits) > depth:
        raise StackError(f"the wrapped stack returned {len(hits)} hits where {depth} were asked for")
    _check_order(hits)
    first: dict[str, Hit] = {}
    for hit in hits:
        chunk = known.get(hit.chunk)
        if chunk is None:
            raise StackError(
                f"the wrapped stack returned the chunk {hit.chunk!r}, which is not in the corpus of this board; "
                "a stack with an index of its own cannot be wrapped"
            )
        if hit.text is not None and hit.text != chunk.text:
            raise StackError(f"the wrapped stack returned another text for {hit.chunk!r} than the corpus holds")
        first.setdefault(hit.chunk, hit)
    return list(first.values())


def _check_order(hits: Sequence[Hit]) -> None:
    for rank, hit in enumerate(hits, 1):
        if not isinstance(hit, Hit):
            raise StackError(f"hit {rank} of the wrapped stack is {type(hit).__name__}, not a Hit")
        if not math.isfinite(hit.score):
            raise StackError(f"the wrapped stack gave {hit.chunk!r} the score {hit.score!r}, which is no finite number")
        if rank > 1 and hit.score > hits[rank - 2].score:
            raise StackError(f"the score of the wrapped stack rises at rank {rank}; hits come best first")


def by_page(chunks: Sequence[Chunk]) -> dict[str, list[Chunk]]:
    """Return the chunks of every page in page order: by start, then end, then as given."""
    pages: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        pages.setdefault(chunk.page, []).append(chunk)
    return {page: sorted(of_page, key=lambda chunk: (chunk.start, chunk.end)) for page, of_page in pages.items()}
