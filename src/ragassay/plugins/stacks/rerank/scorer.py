"""What reranks: given a question and passages, it returns a score for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragassay.records import JSON


class Scorer(Protocol):
    """Scores passages; called from several threads. Higher is better."""

    def scores(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one finite number per passage, in their order; raises what is wrong, and never leaves one out."""
        ...

    def describe(self) -> JSON:
        """Return everything that can change a score."""
        ...

    def close(self) -> None:
        """Release what it holds; may be called twice."""
        ...
