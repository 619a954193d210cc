"""How much of what an exact search finds a graph finds too, measured with chunks of the corpus as questions."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay.canon import decimal_string
from ragassay.plugins.stacks.exact import cosines, nearest_of_each
from ragassay.records import JSON

K = 10
QUERIES = 200


class Finds(Protocol):
    """What is measured."""

    def nearest(self, text: str, vector: list[float], limit: int) -> list[tuple[int, float]]:
        """Return positions and scores, best first."""
        ...


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """Of the `wanted` nearest neighbours so many were `found`."""

    queries: int
    wanted: int
    found: int

    def described(self) -> JSON:
        """Return it as it is recorded: rounded down, so that 1 is all; null where there was nothing to find."""
        value = None
        if self.wanted:
            share = Decimal(self.found) / Decimal(self.wanted)
            value = decimal_string(share.quantize(Decimal("0.0001"), ROUND_DOWN))
        return {"k": K, "queries": self.queries, "of": "chunks of the corpus, themselves left out", "value": value}


def measured(engine: Finds, matrix: NDArray[np.float32], names: NDArray[np.int64]) -> Recall:
    """Return the recall@10 for at most 200 of the different vectors, evenly spread; `names` are their positions.

    A found chunk counts where its exact cosine is no lower than that of the tenth: of equal ones any will do.
    """
    asked = names[(np.arange(min(QUERIES, len(names))) * len(names)) // max(1, min(QUERIES, len(names)))]
    exact = nearest_of_each(matrix, matrix[asked], K + 1) if len(asked) else []
    wanted = found = 0
    for at, (positions, scores) in zip(asked.tolist(), exact, strict=True):
        true = scores[positions != at][:K]
        if not len(true):
            continue
        hits = [place for place, _ in engine.nearest("", matrix[at].tolist(), K + 1) if place != at][:K]
        wanted += len(true)
        found += int((cosines(matrix[hits], matrix[at]) >= true[-1]).sum())
    return Recall(queries=len(asked), wanted=wanted, found=found)
