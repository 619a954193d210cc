"""The control: retrieval switched off, so that every other row can be read against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON, Chunk, Hit
from ragassay.seams import Progress


class NoRetrieval:
    """The stack that retrieves nothing; takes no parameters."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    deterministic: ClassVar[bool] = True
    control: ClassVar[bool] = True
    """True for the control alone: the runner records its retrieval as `off`, not as `empty`."""

    def __init__(self, **params: Any) -> None:
        Parameters("none", params).finish()

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Nothing:
        """Return a retriever that finds nothing."""
        return Nothing()


class Nothing:
    """Finds nothing for any question."""

    def search(self, text: str, k: int) -> list[Hit]:
        """Return an empty list."""
        return []

    def describe(self) -> JSON:
        """Return the kind."""
        return {"kind": "none"}

    def close(self) -> None:
        """Do nothing."""
