"""From item hundredths of several passes to one mean per question, absent where no pass has a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ragassay.errors import InputError
from ragassay.estimate.window import ScoredRun
from ragassay.records import Record

Pass = Mapping[str, int | None]
"""Question id to item hundredths (0..100) of one pass; None, like an id that is not there, is missing."""


class RowScores(Record, frozen=True):
    """One row's passes, with what the board shows for it."""

    name: str
    passes: tuple[Mapping[str, int | None], ...]
    deterministic: bool = False
    """True when another pass would be identical, so that pass noise does not exist."""
    shown: ScoredRun | None = None
    """The lower median that a board prints for this row, if any."""

    def means(self) -> dict[str, float | None]:
        """Return the mean of each question over the passes that have it."""
        return question_means(self.passes)


def check_passes(passes: Sequence[Pass]) -> None:
    """Raise `InputError`, listing every place, unless each score is None or an integer from 0 to 100."""
    problems = [
        f"pass {number}, question {question!r}: {score!r}"
        for number, scores in enumerate(passes, 1)
        for question, score in scores.items()
        if score is not None and not (_is_integer(score) and 0 <= score <= 100)
    ]
    if problems:
        raise InputError("item scores are integer hundredths from 0 to 100, or None where there is none", problems)


def _is_integer(score: object) -> bool:
    return isinstance(score, int | np.integer) and not isinstance(score, bool)


def asked(passes: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the ids of every question that any of `passes` names, sorted."""
    return sorted({question for scores in passes for question in scores})


def item_scores(passes: Sequence[Pass], question: str) -> list[int]:
    """Return the hundredths of one question in the passes that have them, in order of the passes."""
    return [int(score) for scores in passes if (score := scores.get(question)) is not None]


def question_means(passes: Sequence[Pass]) -> dict[str, float | None]:
    """Return the mean (0..1) of each question over the passes that have it, None where none has; ids sorted.

    Raises `InputError` for a score that is no integer from 0 to 100.
    """
    check_passes(passes)
    means: dict[str, float | None] = {}
    for question in asked(passes):
        scores = item_scores(passes, question)
        means[question] = sum(scores) / (100 * len(scores)) if scores else None
    return means


def present(means: Mapping[str, float | None]) -> dict[str, float]:
    """Return the questions that have a mean, ids sorted; `InputError` for a mean outside 0..1."""
    kept = {question: float(mean) for question, mean in sorted(means.items()) if mean is not None}
    problems = [f"question {question!r}: {mean!r}" for question, mean in kept.items() if not 0.0 <= mean <= 1.0]
    if problems:
        raise InputError("question means lie between 0 and 1", problems)
    return kept
