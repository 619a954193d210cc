"""What may be said about scores: intervals, paired tests, ranks, gaps. Pure; randomness only by seed."""

from __future__ import annotations

from ragassay.estimate.agreement import (
    Agreement,
    Skew,
    agreement,
    exact_agreement,
    mean_absolute_error,
    mean_signed_difference,
)
from ragassay.estimate.alpha import krippendorff_alpha
from ragassay.estimate.calibration import Gate, calibration_gate
from ragassay.estimate.compare import compare
from ragassay.estimate.components import Component, Components, variance_components
from ragassay.estimate.correlation import Correlation, spearman
from ragassay.estimate.design import DifferenceVariance, difference_variance
from ragassay.estimate.drop import Drop, drop
from ragassay.estimate.family import adjusted_pvalues, holm, leads, not_distinguished, rank_intervals
from ragassay.estimate.gap import gap_share
from ragassay.estimate.kappa import Table, contingency, gwet_ac2, positive_agreement, quadratic_weighted_kappa
from ragassay.estimate.latency import percentiles
from ragassay.estimate.missing import coverage, missing_allowed, missing_bounds
from ragassay.estimate.noise import Noise, judge_noise
from ragassay.estimate.panel import SameSign, same_sign_under
from ragassay.estimate.ratings import LEVELS, nearest_level, paired
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
from ragassay.estimate.undefined import Undefined
from ragassay.estimate.wilson import row_interval
from ragassay.estimate.window import ScoredRun, competition_ranks, lower_median, window_range

__all__ = [
    "LEVELS",
    "Agreement",
    "Bounds",
    "Comparison",
    "Component",
    "Components",
    "Correlation",
    "Coverage",
    "DifferenceVariance",
    "Drop",
    "GapShare",
    "Gate",
    "Interval",
    "Noise",
    "Percentiles",
    "QuestionFlags",
    "RankInterval",
    "RowScores",
    "SameSign",
    "ScoredRun",
    "Skew",
    "Span",
    "Table",
    "Undefined",
    "adjusted_pvalues",
    "agreement",
    "calibration_gate",
    "compare",
    "competition_ranks",
    "contingency",
    "coverage",
    "difference_variance",
    "drop",
    "exact_agreement",
    "gap_share",
    "gwet_ac2",
    "holm",
    "judge_noise",
    "krippendorff_alpha",
    "leads",
    "lower_median",
    "mean_absolute_error",
    "mean_signed_difference",
    "missing_allowed",
    "missing_bounds",
    "nearest_level",
    "not_distinguished",
    "paired",
    "percentiles",
    "positive_agreement",
    "quadratic_weighted_kappa",
    "question_means",
    "rank_intervals",
    "row_interval",
    "same_sign_under",
    "saturation",
    "seed_from",
    "spearman",
    "variance_components",
    "window_range",
]
