"""Arithmetic on verdicts and ranks: one small pure file per measure."""

from __future__ import annotations

from ragassay.score.counts import count
from ragassay.score.evidence import EvidenceRanks, evidence_ranks
from ragassay.score.factual_consistency import insufficient, item_hundredths
from ragassay.score.mrr import reciprocal_rank
from ragassay.score.ndcg import ndcg_at_k
from ragassay.score.reach import count_tokens, reach_at_k, reach_within_tokens
from ragassay.score.run_score import run_score
from ragassay.score.status import status_of

__all__ = [
    "EvidenceRanks",
    "count",
    "count_tokens",
    "evidence_ranks",
    "insufficient",
    "item_hundredths",
    "ndcg_at_k",
    "reach_at_k",
    "reach_within_tokens",
    "reciprocal_rank",
    "run_score",
    "status_of",
]
