"""The difference of two rows on such questions: paired t interval, detectable difference, questions needed."""

from __future__ import annotations

import math

import msgspec

from ragassay.estimate.results import Span, settle
from ragassay.estimate.units import Floats, Units, student

POWER_FACTOR = 2.80
"""z(.975) + z(.80): a two-sided test at .05 with power .8."""


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """A mean difference with its interval, or why there is none; `mde` is the smallest that power .8 shows."""

    difference: float | None
    interval: Span | None
    note: str | None
    mde: float | None
    questions_needed: int | None


def paired_difference(differences: Floats, units: Units, level: float = 0.95) -> Paired:
    """Return the mean of `differences` (one per question) with its paired t interval at `level`, 95 % by default.

    The interval is cut at -1 and 1, beyond which no difference can lie. It is absent for one unit, and where all
    units agree: no spread is not the same as no doubt.
    """
    if units.count == 0:
        return _without_interval(None, "no question has a score in both rows")
    mean = math.fsum(differences) / differences.size
    if units.count == 1:
        return _without_interval(mean, f"one {units.noun} in common: no interval can be given")
    error = units.standard_error(differences)
    if error == 0:
        return _without_interval(mean, f"the same difference on all {units.noun}: its spread cannot be estimated")
    reach = student(units.count - 1, level) * error
    span = Span(low=settle(max(-1.0, mean - reach)), high=settle(min(1.0, mean + reach)))
    mde = POWER_FACTOR * error
    return Paired(
        difference=settle(mean),
        interval=span,
        note=f"over {units.count} documents that {differences.size} questions share" if units.shared else None,
        mde=settle(mde),
        questions_needed=_needed(mean, mde, differences.size),
    )


def _without_interval(mean: float | None, note: str) -> Paired:
    difference = None if mean is None else settle(mean)
    return Paired(difference=difference, interval=None, note=note, mde=None, questions_needed=None)


def _needed(mean: float, mde: float, n: int) -> int | None:
    """Questions at which `mde` would shrink to the observed difference; None for a difference of 0."""
    if abs(mean) <= 1e-9:
        return None
    return math.ceil(n * (mde / mean) ** 2 - 1e-9)
