"""The stack inside a wrapper: found among the parts, asked, and held to its promises before its hits are used."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.errors import InputError, StackError
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Retriever


class OwnTexts:
    """A built stack that owns its corpus and does not say so itself: its class does."""

    owns_corpus = True

    def __init__(self, inner: Retriever) -> None:
        self._inner = inner

    def search(self, text: str, k: int) -> Sequence[Hit]:
        """Return its hits."""
        return self._inner.search(text, k)

    def describe(self) -> JSON:
        """Return what it says of itself."""
        return self._inner.describe()

    def close(self) -> None:
        """Close it."""
        self._inner.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def owns_texts(of: Retriever) -> bool:
    """Tell whether a built stack's hits are of a corpus of its own and carry their texts."""
    return bool(getattr(of, "owns_corpus", False))


def inner_of(kind: str, parts: Mapping[str, Any], *, takes_own_texts: bool = False) -> Retriever:
    """Return the part `of`, one built stack.

    Raises `InputError` when it is missing, a list, or no stack, and when it searches a corpus of its own, unless the
    wrapper takes the texts that come with hits.
    """
    of = parts.get("of")
    if not isinstance(of, Retriever):
        raise InputError(_needs_one(kind))
    if owns_texts(of) and not takes_own_texts:
        raise InputError(own_corpus_refused(kind, str(of.describe().get("kind"))))
    return of


def lacks_inner(kind: str, entry: JSON) -> str | None:
    """Say, of a wrapper's entry, that it does not hold one stack in `of`; None where it does."""
    return None if isinstance(entry.get("of"), dict) else _needs_one(kind)


def _needs_one(kind: str) -> str:
    return f'{kind!r} needs one stack to wrap: of = {{ kind = "bm25" }}'


def own_corpus_refused(kind: str, of: str) -> str:
    """Return what is said of a wrapper around a stack whose hits are none of the board's passages."""
    return (
        f"{kind!r} works on the passages of this board's corpus and cannot wrap {of!r}, which searches a corpus of its "
        "own"
    )


def asked(inner: Retriever, text: str, depth: int, known: Mapping[str, Chunk]) -> list[Hit]:
    """Return the inner stack's hits for `text`, at most `depth`, each chunk once at its first rank.

    `known` maps chunk id to chunk. Raises `StackError` for more hits than were asked for, a chunk that the corpus
    does not hold or whose text it holds otherwise, and a score that rises or is no finite number. Of a stack that owns
    its corpus each hit must have its text. What the inner stack raises is passed on as it is.
    """
    hits = list(inner.search(text, depth))
    if len(hits) > depth:
        raise StackError(f"the wrapped stack returned {len(hits)} hits where {depth} were asked for")
    _check_order(hits)
    first: dict[str, Hit] = {}
    for hit in hits:
        if first.setdefault(hit.chunk, hit).text != hit.text:
            raise StackError(f"the wrapped stack gave {hit.chunk!r} two texts")
    for hit in () if owns_texts(inner) else hits:
        chunk = known.get(hit.chunk)
        if chunk is None:
            raise StackError(
                f"the wrapped stack returned the chunk {hit.chunk!r}, which is not in the corpus of this board; "
                "a stack with an index of its own cannot be wrapped"
            )
        if hit.text is not None and hit.text != chunk.text:
            raise StackError(f"the wrapped stack returned another text for {hit.chunk!r} than the corpus holds")
    if owns_texts(inner) and any(hit.text is None for hit in hits):
        raise StackError("the wrapped stack searches a corpus of its own and gave a hit without its text")
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
