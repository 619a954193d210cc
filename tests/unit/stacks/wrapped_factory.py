"""Pages of small chunks and retrievers with a fixed ranking, for the tests of wrappers."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay import canon
from ragassay.records import JSON, Chunk, Hit


def page(name: str, *texts: str) -> list[Chunk]:
    """Return one chunk per text, each beginning where the one before ends; ids are `name#number`."""
    found, start = [], 0
    for number, text in enumerate(texts):
        end = start + len(text)
        digest = canon.sha256(text.encode())
        found.append(Chunk(id=f"{name}#{number}", page=name, start=start, end=end, text=text, sha256=digest))
        start = end
    return found


class Fixed:
    """Returns its hits whatever is asked, at most k, or raises its error."""

    def __init__(self, *hits: tuple[str, float], error: Exception | None = None, cut: bool = True) -> None:
        self.hits = [Hit(chunk=chunk, score=score) for chunk, score in hits]
        self.error = error
        self.cut = cut
        self.asked: list[tuple[str, int]] = []
        self.closed = 0

    def search(self, text: str, k: int) -> Sequence[Hit]:
        """Return the hits or raise."""
        self.asked.append((text, k))
        if self.error is not None:
            raise self.error
        return self.hits[:k] if self.cut else self.hits

    def describe(self) -> JSON:
        """Return the kind."""
        return {"kind": "fixed"}

    def close(self) -> None:
        """Count."""
        self.closed += 1
