"""What the tests of indexes that stay in a folder share: a corpus of any size, and what an index says of itself."""

from __future__ import annotations

from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Chunk
from ragassay.testing.stack_contract import corpus


def many(count: int) -> list[Chunk]:
    """Return as many chunks, all different."""
    return corpus([f"word{at} river fox number{at % 7}" for at in range(count)])


def told(index: VectorIndex) -> tuple[bool, tuple[str, ...]]:
    """Return whether it was reused and what else lies there."""
    assert index.stored is not None
    return index.stored.reused, index.stored.others
