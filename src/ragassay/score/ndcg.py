"""nDCG for one relevant thing per question: the gain of its first rank, the ideal DCG being 1."""

from __future__ import annotations

from math import log2

from ragassay.score.evidence import EvidenceRanks


def ndcg_at_k(found: EvidenceRanks, k: int) -> float | None:
    """Return 1/log2(1 + r) for the first rank r ≤ k that holds accepted evidence, 0.0 when none, None without evidence.

    Järvelin and Kekäläinen's discount. A question is credited once, so the ideal ranking has DCG 1/log2(2) = 1 and no
    number of further texts with the same evidence lifts the value above 1. Raises `ValueError` for k < 1.
    """
    if k < 1:
        raise ValueError("k counts from 1")
    if found.state == "none":
        return None
    return 1.0 / log2(1 + found.first) if found.first is not None and found.first <= k else 0.0
