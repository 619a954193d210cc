"""What may be said about scores: intervals, paired tests, ranks, gaps. Pure; randomness only by seed."""

from __future__ import annotations

from ragassay.estimate.compare import compare
from ragassay.estimate.family import adjusted_pvalues, holm, leads, not_distinguished, rank_intervals
from ragassay.estimate.gap import gap_share
from ragassay.estimate.latency import percentiles
from ragassay.estimate.missing import coverage, missing_allowed, missing_bounds
from ragassay.estimate.results import (
    Bounds,
    Comparison,
    Coverage,
    GapShare,
    Interval,
    Percentiles,
    QuestionFlags,
    RankInterval,
    Span,
)
from ragassay.estimate.saturation import saturation
from ragassay.estimate.scores import RowScores, question_means
from ragassay.estimate.seeds import seed_from
from ragassay.estimate.wilson import row_interval
from ragassay.estimate.window import ScoredRun, competition_ranks, lower_median, window_range

__all__ = [
    "Bounds",
    "Comparison",
    "Coverage",
    "GapShare",
    "Interval",
    "Percentiles",
    "QuestionFlags",
    "RankInterval",
    "RowScores",
    "ScoredRun",
    "Span",
    "adjusted_pvalues",
    "compare",
    "competition_ranks",
    "coverage",
    "gap_share",
    "holm",
    "leads",
    "lower_median",
    "missing_allowed",
    "missing_bounds",
    "not_distinguished",
    "percentiles",
    "question_means",
    "rank_intervals",
    "row_interval",
    "saturation",
    "seed_from",
    "window_range",
]
