"""Hits of any stack with their neighbours: each is widened by chunks before and after it on its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.plugins.stacks.inner import asked, by_page, inner_of, lacks_inner
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Progress, Retriever

ORDERS = ("page", "hit")


class Window:
    """Widens the hits of its part `of` by `before` and `after` chunks; `order` says what leads a window."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    deterministic: ClassVar[bool] = True
    """Where the stack in it is: the part speaks for itself."""

    def __init__(self, **params: Any) -> None:
        read = Parameters("window", params)
        self._before = read.integer("before", 1, low=0, high=1_000)
        self._after = read.integer("after", 1, low=0, high=1_000)
        self._order = read.choice("order", "page", ORDERS)
        read.finish()

    @classmethod
    def lacking(cls, entry: JSON) -> str | None:
        """Say which part the entry lacks; None where it has all."""
        return lacks_inner("window", entry)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Windows:
        """Return the wrapped stack; raises `InputError` unless `parts["of"]` is one built stack."""
        of = inner_of("window", parts)
        progress(len(chunks), len(chunks))
        return Windows(of, chunks, self._before, self._after, self._order)


class Windows:
    """A built stack whose hits are delivered with what stands around them."""

    def __init__(self, of: Retriever, chunks: Sequence[Chunk], before: int, after: int, order: str) -> None:
        self._of = of
        self._known = {chunk.id: chunk for chunk in chunks}
        self._pages = {page: [chunk.id for chunk in found] for page, found in by_page(chunks).items()}
        self._at = {chunk: at for page in self._pages.values() for at, chunk in enumerate(page)}
        self._before = before
        self._after = after
        self._order = order

    def search(self, text: str, k: int) -> list[Hit]:
        """Return the first k chunks of the windows: windows as their hits rank, each in page order.

        A chunk of two windows stands in the first. Every chunk has the score of the hit whose window it came with.
        The inner stack is asked for k hits: each adds itself at least, so no more can be needed.
        """
        if k < 1:
            return []
        delivered: dict[str, Hit] = {}
        for hit in asked(self._of, text, k, self._known):
            for chunk in self._window(hit.chunk):
                delivered.setdefault(chunk, Hit(chunk=chunk, score=hit.score))
            if len(delivered) >= k:
                break
        return list(delivered.values())[:k]

    def _window(self, hit: str) -> list[str]:
        page, at = self._pages[self._known[hit].page], self._at[hit]
        window = page[max(0, at - self._before) : at + self._after + 1]
        return [hit, *(chunk for chunk in window if chunk != hit)] if self._order == "hit" else window

    def describe(self) -> JSON:
        """Return the parameters and what the wrapped stack says of itself."""
        return {
            "kind": "window",
            "before": self._before,
            "after": self._after,
            "order": self._order,
            "of": self._of.describe(),
        }

    def close(self) -> None:
        """Close the wrapped stack."""
        self._of.close()
