"""Token weights for a sparse index: the part of BM25 that a chunk decides; the engine multiplies by the rarity.

With the engine's IDF modifier, a chunk's score for a question is Σ over the question's tokens of idf(t) · w(t, chunk),
idf(t) = ln(1 + (N − n + 0.5) / (n + 0.5)) over the N chunks of the index, of which n hold t.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

TOKENIZER = r"\w+, lower-cased, not stemmed"
_TOKEN = re.compile(r"\w+")

Sparse = tuple[list[int], list[float]]
"""Token numbers, rising, and the weight of each."""


class TokenWeights:
    """The weights of a corpus: w = f / (f + k1 · (1 − b + b · length / mean length)), f the count of a token.

    A token's number is its place in the sorted vocabulary of the corpus, so that no two share one.
    """

    def __init__(self, texts: Sequence[str], k1: float, b: float) -> None:
        counted = [Counter(_tokens(text)) for text in texts]
        self._number = {token: at for at, token in enumerate(sorted({token for row in counted for token in row}))}
        lengths = [row.total() for row in counted]
        mean = sum(lengths) / max(1, len(lengths)) or 1.0
        self.rows: list[Sparse | None] = [
            self._weighted(row, k1 * (1 - b + b * length / mean)) if row else None
            for row, length in zip(counted, lengths, strict=True)
        ]
        """By position; None for a text without a token."""

    def question(self, text: str) -> Sparse | None:
        """Return how often each token of the corpus stands in `text`; None where none does."""
        counted = Counter(token for token in _tokens(text) if token in self._number)
        if not counted:
            return None
        numbers = sorted((self._number[token], float(count)) for token, count in counted.items())
        return [number for number, _ in numbers], [count for _, count in numbers]

    def _weighted(self, row: Counter[str], saturation: float) -> Sparse:
        numbers = sorted((self._number[token], count / (count + saturation)) for token, count in row.items())
        return [number for number, _ in numbers], [weight for _, weight in numbers]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())
