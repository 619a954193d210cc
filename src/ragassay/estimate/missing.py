"""What missing items could change: bounds, coverage, and the floor below which a row has no headline number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ragassay.estimate.results import Bounds, Coverage, settle
from ragassay.estimate.scores import Pass, asked, check_passes, item_scores


def missing_allowed(questions: int) -> int:
    """Return how many of `questions` a pass may miss and stay eligible: one in fifty, rounded down."""
    return questions // 50


def coverage(passes: Sequence[Pass], questions: Iterable[str] | None = None) -> Coverage:
    """Count scored questions per pass and over all passes; `questions` are those asked (default: all named)."""
    ids = sorted(set(questions)) if questions is not None else asked(passes)
    per_pass = tuple(sum(scores.get(q) is not None for q in ids) for scores in passes)
    scored = sum(bool(item_scores(passes, q)) for q in ids)
    allowed = missing_allowed(len(ids))
    enough = bool(ids) and scored == len(ids) and all(len(ids) - count <= allowed for count in per_pass)
    return Coverage(asked=len(ids), scored=scored, per_pass=per_pass, allowed=allowed, enough=enough)


def filled_means(passes: Sequence[Pass], questions: Sequence[str], fill: int) -> list[float]:
    """Return the mean (0..1) of each question with every missing item of every pass taken as `fill` hundredths."""
    count = max(1, len(passes))
    means = []
    for question in questions:
        scores = item_scores(passes, question)
        means.append((sum(scores) + fill * (count - len(scores))) / (100 * count))
    return means


def missing_items(passes: Sequence[Pass], questions: Sequence[str]) -> int:
    """Return how many (question, pass) items have no score; a row without a pass misses every question once."""
    return sum(max(1, len(passes)) - len(item_scores(passes, q)) for q in questions)


def missing_bounds(passes: Sequence[Pass], questions: Iterable[str] | None = None) -> Bounds | None:
    """Return a row's mean with all missing items at 0 and at 1; None when nothing is missing or nothing was asked."""
    check_passes(passes)
    ids = sorted(set(questions)) if questions is not None else asked(passes)
    items = missing_items(passes, ids)
    if not items:
        return None
    worst, best = (math.fsum(filled_means(passes, ids, fill)) / len(ids) for fill in (0, 100))
    return Bounds(worst=settle(worst), best=settle(best), items=items)
