"""The contract of stacks, for a retriever of another library that lies in a folder of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.records import Chunk
from ragassay.testing.stack_cases import LONG_QUESTION, QUESTIONS
from ragassay.testing.stack_contract import StackContract

LAB = Path(__file__).parent / "foreign"


class ForeignContract(StackContract):
    """Gives the folder as the runner does, and asks no blank question: some of these libraries refuse it."""

    questions = (*(one for one in QUESTIONS if one.strip()), LONG_QUESTION)

    def parts(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:
        """Return the folder that a board would lie in."""
        return {"folder": LAB}
