"""BM25 as tantivy computes it, in double precision and from the text: one score a chunk, whatever else was asked for.

Tantivy adds the parts of a score in 32 bits and in an order that depends on how many hits are wanted, so that the last
digits of a score, and the order of chunks that are equal, would follow from `top_k`. Its hits are therefore scored
anew. Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with Lucene's idf.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from ragassay.plugins.stacks.tantivy.settings import K1, B

_EXACT_BELOW = 24
"""Lengths up to 39 words are kept as they are: 24 so, the rest by their four highest bits."""


class Weights:
    """What each word of one question weighs, over one index."""

    def __init__(self, counts: Mapping[str, int], holding: Mapping[str, int], chunks: int, average: float) -> None:
        """`counts` says how often a word stands in the question, `holding` how many chunks hold it."""
        self._weights = {word: count * (K1 + 1) * rarity(chunks, holding[word]) for word, count in counts.items()}
        self._average = average

    def score(self, words: Sequence[str]) -> float:
        """Return the score of a chunk with these words, above 0 where it holds one of the question's."""
        found: dict[str, int] = {}
        for word in words:
            if word in self._weights:
                found[word] = found.get(word, 0) + 1
        norm = K1 * (1 - B + B * kept_length(len(words)) / self._average)
        return math.fsum(self._weights[word] * often / (often + norm) for word, often in found.items())

    def slack(self) -> float:
        """Return by which share tantivy's own score may differ."""
        return (len(self._weights) + 16) * 2.0**-22


def rarity(chunks: int, holding: int) -> float:
    """Return the idf of a word, `ln(1 + (N - df + 0.5) / (df + 0.5))`, above 0 up to about eight million chunks.

    The logarithm is of tantivy's own number, which has 32 bits: for a word of nearly every chunk they are what counts.
    """
    half, one = np.float32(0.5), np.float32(1)
    return math.log(one + (np.float32(chunks - holding) + half) / (np.float32(holding) + half))


def kept_length(words: int) -> int:
    """Return a chunk's length as the index keeps it, in one byte: whole below 40, rounded down above."""
    beyond = words - _EXACT_BELOW
    lost = max(0, beyond.bit_length() - 4) if beyond > 0 else 0
    return _EXACT_BELOW + (beyond >> lost << lost) if beyond > 0 else words


def explained(explanation: str, name: str) -> float | None:
    """Return the number that tantivy's explanation of a score gives under a name, None where it does not."""
    parts = [msgspec.json.decode(explanation)]
    while parts:
        part: Any = parts.pop()
        if part.get("description", "").startswith(f"{name}, "):
            return float(part["value"])
        parts += part.get("details") or []
    return None
