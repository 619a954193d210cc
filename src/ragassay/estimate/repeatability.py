"""The difference of two rows on these very questions: only the noise between passes counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragassay.estimate.results import Span, settle
from ragassay.estimate.scores import RowScores, item_scores
from ragassay.estimate.units import student


def repeatability(a: RowScores, b: RowScores, questions: Sequence[str]) -> tuple[Span | None, str | None]:
    """Return the 95 % interval of a - b if the same questions were asked again, or a sentence why there is none.

    Over the questions with at least two scored passes in both rows: d ± t_v · √(Σ(s²_Ai/k_Ai + s²_Bi/k_Bi))/n with
    v = Σ(k_Ai - 1 + k_Bi - 1).
    """
    fixed = [row.name for row in (a, b) if row.deterministic]
    if fixed:
        return None, f"deterministic: identical passes ({' and '.join(fixed)})"
    pairs = [(item_scores(a.passes, q), item_scores(b.passes, q)) for q in questions]
    repeated = [(left, right) for left, right in pairs if min(len(left), len(right)) >= 2]
    if not repeated:
        return None, "one pass: how far the difference would repeat on these questions is not known"
    noise = math.fsum(_variance_of_mean(scores) for pair in repeated for scores in pair)
    if noise == 0:
        return None, "identical passes: no noise between passes was seen on these questions"
    df = sum(len(scores) - 1 for pair in repeated for scores in pair)
    mean = math.fsum(sum(x) / len(x) - sum(y) / len(y) for x, y in repeated) / (100 * len(repeated))
    reach = student(df) * math.sqrt(noise) / (100 * len(repeated))
    part = f"over the {len(repeated)} of {len(questions)} questions with two passes in both rows"
    note = None if len(repeated) == len(questions) else part
    return Span(low=settle(max(-1.0, mean - reach)), high=settle(min(1.0, mean + reach))), note


def _variance_of_mean(scores: Sequence[int]) -> float:
    """Return s²/k of k ≥ 2 integers, from exact sums: 0 exactly where all are equal."""
    k = len(scores)
    return (k * sum(x * x for x in scores) - sum(scores) ** 2) / (k * k * (k - 1))
