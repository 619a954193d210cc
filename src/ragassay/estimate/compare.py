"""The comparison of two rows, question by question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragassay.estimate.missing import filled_means, missing_items
from ragassay.estimate.paired import Paired, paired_difference
from ragassay.estimate.repeatability import repeatability
from ragassay.estimate.results import Bounds, Comparison, Span, settle
from ragassay.estimate.scores import RowScores, asked
from ragassay.estimate.signflip import DRAWS, SignFlip, sign_flip
from ragassay.estimate.units import Floats, Units

ALPHA = 0.05
FEWEST = 6
"""Non-zero differences below which no sign-flip p can reach .05: five all one way give 2/32 = .0625."""

POWER_NOTE = "this design could not have shown it"
LUCKY_NOTE = "shown, though smaller than what this design shows with power .8"
"""For a difference below the detectable one with p ≤ .05: saying that it could not be shown would be false."""


def compare(
    a: RowScores, b: RowScores, *, seed: int, documents: Mapping[str, str] | None = None, draws: int = DRAWS
) -> Comparison:
    """Return what may be said of `a` minus `b`, on the questions that both have a score for.

    `documents` (question to document) makes documents the independent units. `seed` feeds PCG64 where the sign-flip
    test has to draw. Swapping the rows changes signs and nothing else. Raises `InputError` for a bad item score.
    """
    found = _gather(a, b, seed, documents, draws)
    signs = np.sign(list(found.differences.values()))
    return Comparison(
        a=a.name,
        b=b.name,
        seed=seed,
        n=len(found.differences),
        excluded=tuple(q for q in found.questions if q not in found.differences),
        units=found.units.count,
        difference=found.paired.difference,
        interval=found.paired.interval,
        interval_note=found.paired.note,
        repeatability=found.repeat[0],
        repeatability_note=found.repeat[1],
        p=found.flip.p,
        p_note=_p_note(found.flip, found.units),
        p_draws=found.flip.draws,
        nonzero=found.flip.nonzero,
        mde=found.paired.mde,
        power_note=_power_note(found.paired, found.flip.p),
        questions_needed=found.paired.questions_needed,
        wins=int(np.count_nonzero(signs > 0)),
        ties=int(np.count_nonzero(signs == 0)),
        losses=int(np.count_nonzero(signs < 0)),
        deciding=_deciding(found.differences),
        differences={q: settle(value) for q, value in found.differences.items()},
        bounds=found.bounds,
        bound_p=found.bound_p,
        depends_on_missing=_depends(found),
        window_note=_window_note(a, b, found.paired),
    )


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """What was computed from two rows, before it is worded."""

    questions: list[str]
    differences: dict[str, float]
    units: Units
    paired: Paired
    flip: SignFlip
    repeat: tuple[Span | None, str | None]
    bounds: Bounds | None
    bound_p: float | None


def _gather(a: RowScores, b: RowScores, seed: int, documents: Mapping[str, str] | None, draws: int) -> _Found:
    questions = asked([*a.passes, *b.passes])
    differences = _differences(a, b, questions)
    common, values = list(differences), np.array(list(differences.values()), dtype=np.float64)
    units = Units(common, documents)
    paired = paired_difference(values, units)
    bounds, opposed = _bounds(a, b, questions, paired)
    bound_p = None
    if opposed is not None:
        bound_p = sign_flip(Units(questions, documents).sums(opposed), seed=seed, draws=draws).p
    return _Found(
        questions=questions,
        differences=differences,
        units=units,
        paired=paired,
        flip=sign_flip(units.sums(values), seed=seed, draws=draws),
        repeat=repeatability(a, b, common),
        bounds=bounds,
        bound_p=bound_p,
    )


def _differences(a: RowScores, b: RowScores, questions: Sequence[str]) -> dict[str, float]:
    """Return a - b for each of `questions` that both rows have; equal means differ by exactly 0.

    A mean is one division of integers, so equal fractions are equal floats.
    """
    means_a, means_b = a.means(), b.means()
    pairs = {q: (means_a.get(q), means_b.get(q)) for q in questions}
    return {q: x - y for q, (x, y) in pairs.items() if x is not None and y is not None}


def _p_note(flip: SignFlip, units: Units) -> str | None:
    if flip.p is None:
        return "no question has a score in both rows: nothing can be tested"
    if flip.nonzero < FEWEST:
        verb = "differs" if flip.nonzero == 1 else "differ"
        return f"only {flip.nonzero} of {units.count} {units.noun} {verb}: cannot reach p ≤ .05"
    return None


def _power_note(paired: Paired, p: float | None) -> str | None:
    if paired.mde is None or paired.difference is None or abs(paired.difference) >= paired.mde:
        return None
    return POWER_NOTE if p is None or p > ALPHA else LUCKY_NOTE


def _deciding(differences: Mapping[str, float]) -> tuple[str, ...]:
    ranked = sorted(differences.items(), key=lambda item: (-round(abs(item[1]), 9), item[0]))
    return tuple(question for question, value in ranked if value != 0)


def _bounds(
    a: RowScores, b: RowScores, questions: Sequence[str], paired: Paired
) -> tuple[Bounds | None, Floats | None]:
    """Return the difference at both extremes of what is missing, and the differences that oppose the leader most."""
    items = missing_items(a.passes, questions) + missing_items(b.passes, questions)
    if not items:
        return None, None
    against = np.subtract(filled_means(a.passes, questions, 0), filled_means(b.passes, questions, 100))
    favour = np.subtract(filled_means(a.passes, questions, 100), filled_means(b.passes, questions, 0))
    worst, best = (settle(math.fsum(values) / len(questions)) for values in (against, favour))
    bounds = Bounds(worst=worst, best=best, items=items)
    if not paired.difference:
        return bounds, None
    return bounds, against if paired.difference > 0 else favour


def _depends(found: _Found) -> bool:
    """True when the leader's lead, or its p ≤ .05, would not survive the worst that missing items could hide."""
    difference, p = found.paired.difference, found.flip.p
    if not difference or p is None or found.bounds is None or found.bound_p is None:
        return False
    survives = found.bounds.worst > 0 if difference > 0 else found.bounds.best < 0
    return not survives or p <= ALPHA < found.bound_p


def _window_note(a: RowScores, b: RowScores, paired: Paired) -> str | None:
    notes = []
    if paired.difference is not None and a.shown is not None and b.shown is not None:
        shown = a.shown.num * b.shown.den - b.shown.num * a.shown.den
        if shown * paired.difference < 0:
            notes.append("the lower medians shown have the other sign than this difference of means")
    k_a, k_b = len(a.passes), len(b.passes)
    if k_a != k_b or k_a % 2 == 0:
        notes.append(f"lower medians of {k_a} and {k_b} passes: compare rows at an equal, odd number")
    return "; ".join(notes) or None
