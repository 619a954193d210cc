"""Reciprocal rank, whose mean over questions is MRR."""

from __future__ import annotations

from ragassay.score.evidence import EvidenceRanks


def reciprocal_rank(found: EvidenceRanks) -> float | None:
    """Return 1 over the first rank that holds accepted evidence, 0.0 when none does, None without evidence."""
    if found.state == "none":
        return None
    return 0.0 if found.first is None else 1.0 / found.first
