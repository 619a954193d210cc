"""Reach: whether accepted evidence was delivered at all, within k texts or within a budget of tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragassay.score.evidence import EvidenceRanks

_TOKEN = re.compile(r"\w+|[^\w\s]")


def reach_at_k(found: EvidenceRanks, k: int) -> int | None:
    """Return 1 when accepted evidence stands within the first `k` texts, 0 when not, None without evidence.

    A search that returned nothing counts 0. Raises `ValueError` for k < 1.
    """
    if k < 1:
        raise ValueError("k counts from 1")
    if found.state == "none":
        return None
    return int(found.first is not None and found.first <= k)


def count_tokens(text: str) -> int:
    r"""Return the number of tokens of `text`: matches of ``\w+|[^\w\s]``, so that no model is needed to count."""
    return sum(1 for _ in _TOKEN.finditer(text))


def reach_within_tokens(found: EvidenceRanks, texts: Sequence[str], budget: int) -> int | None:
    """Return 1 when the texts up to and with the first that holds evidence take at most `budget` tokens, else 0.

    `texts` are the delivered texts that `found` was made from, in rank order. None without evidence. Raises
    `ValueError` when a rank of `found` lies outside `texts`.
    """
    if found.state == "none":
        return None
    if found.first is None:
        return 0
    if found.first > len(texts):
        raise ValueError(f"evidence at rank {found.first} of {len(texts)} texts: these are not the texts it is from")
    return int(sum(count_tokens(text) for text in texts[: found.first]) <= budget)
