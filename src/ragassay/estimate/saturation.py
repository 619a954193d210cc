"""Questions that separate no rows, and questions that the model knows without retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay.estimate.results import QuestionFlags
from ragassay.estimate.scores import present
from ragassay.estimate.units import NOTHING

KNOWN_FROM = 0.25
"""Control mean from which a question counts as known without retrieval."""


def saturation(
    rows: Sequence[Mapping[str, float | None]], control: Mapping[str, float | None] | None = None
) -> dict[str, QuestionFlags]:
    """Return the flags of every question that has one, from the question means of ranked rows and the control.

    Ceiling and floor need at least two rows with a mean: one row separates nothing anyway. Unscored is no flag.
    """
    kept = [present(means) for means in rows]
    known = {q for q, mean in present(control or {}).items() if mean >= KNOWN_FROM - NOTHING}
    flags: dict[str, QuestionFlags] = {}
    for question in sorted({q for means in kept for q in means} | known):
        scores = [means[question] for means in kept if question in means]
        several = len(scores) >= 2
        flag = QuestionFlags(
            question=question,
            ceiling=several and min(scores) >= 1 - NOTHING,
            floor=several and max(scores) <= NOTHING,
            known_without_retrieval=question in known,
        )
        if flag.ceiling or flag.floor or flag.known_without_retrieval:
            flags[question] = flag
    return flags
