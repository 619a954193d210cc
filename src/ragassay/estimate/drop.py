"""Whether a row dropped by more than it may: the rule of `ragassay check`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from ragassay.errors import InputError
from ragassay.estimate.paired import paired_difference
from ragassay.estimate.results import Span
from ragassay.estimate.scores import present
from ragassay.estimate.signflip import DRAWS, SignFlip, sign_flip
from ragassay.estimate.units import Floats, Units
from ragassay.records import Record

DropOutcome: TypeAlias = Literal["held", "dropped", "inconclusive"]
SLACK = 1e-9
"""Means of hundredths that differ by less are equal: only rounding lies between them."""
POWER = 0.80


class Drop(Record, frozen=True):
    """A row now minus the same row before, on the questions that both have, and what follows for a permitted drop.

    `held`: the mean fell by at most `allowed`. `dropped`: it fell by more, the whole paired interval lies below
    -`allowed`, and the sign-flip p is at most 1 - `level`. `inconclusive`: it fell by more, and these questions cannot
    tell that from chance; `note` says why, `needed` with about how many such questions it would be told with power .8.
    """

    outcome: DropOutcome
    allowed: float
    level: float
    n: int
    difference: float
    interval: Span | None
    """At `level`; None where the spread cannot be estimated."""
    p: float | None
    """Two-sided sign-flip p of the difference."""
    draws: int | None
    """Random sign patterns behind `p`; None where all were counted."""
    units: int
    """What varies independently: questions, or documents that questions share."""
    note: str | None
    needed: int | None


def drop(
    now: Mapping[str, float],
    before: Mapping[str, float],
    *,
    allowed: float,
    level: float = 0.95,
    seed: int,
    documents: Mapping[str, str] | None = None,
    draws: int = DRAWS,
) -> Drop:
    """Return what may be said of `now` minus `before`, question means in 0..1, where a drop of `allowed` is permitted.

    `documents` (question to document) makes documents the independent units. Both measures of a paired difference must
    agree that a row dropped, because each errs where the other does not: few questions of the same change look certain
    to the t interval, and the sign flips know no permitted drop. Raises `InputError` where no question is common.
    """
    if not 0.0 <= allowed < 1.0 or not 0.5 <= level < 1.0:
        raise InputError(f"a permitted drop lies in [0, 1) and a confidence in [.5, 1); given are {allowed}, {level}")
    a, b = present(now), present(before)
    common = [question for question in a if question in b]
    if not common:
        raise InputError("no question has a score on both sides: nothing can be compared")
    values = np.array([a[q] - b[q] for q in common], dtype=np.float64)
    units = Units(common, documents)
    paired = paired_difference(values, units, level)
    flip = sign_flip(units.sums(values), seed=seed, draws=draws)
    difference = paired.difference
    assert difference is not None, "a common question has a difference"
    outcome = _outcome(difference, paired.interval, flip, allowed, level, units.count)
    return Drop(
        outcome=outcome,
        allowed=allowed,
        level=level,
        n=len(common),
        difference=difference,
        interval=paired.interval,
        p=flip.p,
        draws=flip.draws,
        units=units.count,
        note=_note(paired.interval, flip, units, allowed, level) if outcome == "inconclusive" else paired.note,
        needed=_needed(difference, units, values, flip, allowed, level) if outcome == "inconclusive" else None,
    )


def _outcome(
    difference: float, interval: Span | None, flip: SignFlip, allowed: float, level: float, units: int
) -> DropOutcome:
    if difference >= -allowed - SLACK:
        return "held"
    below = interval.high < -allowed - SLACK if interval is not None else units > 1
    rare = flip.p is not None and flip.p <= 1 - level + SLACK
    return "dropped" if below and rare else "inconclusive"


def fewest(level: float) -> int:
    """Return the non-zero differences, all one way, from which a sign-flip p can be at most 1 - `level`: 6 at .95."""
    return next(count for count in range(1, 64) if 2.0 ** (1 - count) <= 1 - level + SLACK)


def _note(interval: Span | None, flip: SignFlip, units: Units, allowed: float, level: float) -> str:
    if units.count == 1:
        return f"one {units.noun} in common: chance cannot be told from a drop"
    if flip.nonzero < fewest(level):
        verb = "differs" if flip.nonzero == 1 else "differ"
        return (
            f"only {flip.nonzero} of {units.count} {units.noun} {verb}, and fewer than {fewest(level)} may all have "
            "fallen by chance"
        )
    if interval is not None and interval.high >= -allowed - SLACK:
        return "its interval reaches above what is allowed"
    return "signs drawn by chance give as large a difference too often"


def _needed(
    difference: float, units: Units, values: Floats, flip: SignFlip, allowed: float, level: float
) -> int | None:
    """Return about how many such questions would show the excess over `allowed` with power .8; None if unknown."""
    excess = -difference - allowed
    if units.count < 2 or excess <= SLACK:
        return None
    n, factor = values.size, float(ndtri(0.5 + level / 2) + ndtri(POWER))
    by_spread = math.ceil(n * (factor * units.standard_error(values) / excess) ** 2 - SLACK)
    by_signs = math.ceil(n * fewest(level) / max(1, flip.nonzero))
    needed = max(by_spread, by_signs)
    return needed if needed > n else None
