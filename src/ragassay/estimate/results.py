"""What the estimates say, as frozen records: every float is finite, rounded to 12 decimals, and absent is None."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ragassay.records import Record

PLACES = 12
"""Decimals that results keep, so that the last bits of a linear algebra library never reach a board file."""


def settle(value: float) -> float:
    """Return `value` rounded to 12 decimals, without a negative zero; a value that is not finite is our bug."""
    if not math.isfinite(value):
        raise ArithmeticError(f"an estimate came out as {value!r}: it must be a finite number or absent")
    return round(float(value), PLACES) + 0.0


class Span(Record, frozen=True):
    """An interval from `low` to `high`, both in it."""

    low: float
    high: float


class Interval(Record, frozen=True):
    """The mean of a row (0..1) with its 95 % interval; `low` and `high` are None where `note` says why.

    `n` counts scored questions, `n_eff` is the number of coin tosses that would be as certain.
    """

    mean: float
    low: float | None
    high: float | None
    n: int
    n_eff: float | None
    note: str | None = None


class Bounds(Record, frozen=True):
    """What a number would be with every missing item at its worst and at its best; `items` counts them."""

    worst: float
    best: float
    items: int


class Comparison(Record, frozen=True):
    """Row `a` minus row `b` on the questions that both have; differences lie in -1..1.

    A field that cannot be had is None, and the note beside it says why.
    """

    a: str
    b: str
    seed: int
    n: int
    """Questions with a score in both rows."""
    excluded: tuple[str, ...]
    """Questions with no score in at least one of the rows, sorted."""
    units: int
    """What varies independently: questions, or documents where questions share them."""
    difference: float | None
    interval: Span | None
    """Better on such questions: the 95 % paired t interval of the difference."""
    interval_note: str | None
    repeatability: Span | None
    """Repeatable on these questions: the 95 % interval from the noise of the passes alone."""
    repeatability_note: str | None
    p: float | None
    """Two-sided sign-flip permutation p, not adjusted for other pairs."""
    p_note: str | None
    p_draws: int | None
    """Random draws behind `p`; None where all sign patterns were counted."""
    nonzero: int
    """Units whose difference is not 0."""
    mde: float | None
    """The smallest difference that this design shows with power .8."""
    power_note: str | None
    questions_needed: int | None
    """About how many such questions would show a difference of this size with power .8."""
    wins: int
    ties: int
    losses: int
    deciding: tuple[str, ...]
    """Questions on which the rows differ, largest difference first."""
    differences: Mapping[str, float]
    """Question id to its difference, for every common question."""
    bounds: Bounds | None
    """The difference with everything missing against `a` and for it; None when nothing is missing."""
    bound_p: float | None
    """`p` with everything missing set against the row that leads."""
    depends_on_missing: bool
    window_note: str | None
    """Where the lower medians that a board shows have the other sign, or the numbers of passes mislead."""


class GapShare(Record, frozen=True):
    """How much of the way from control to oracle a row goes; `share` is None unless the gap is established."""

    share: float | None
    low: float | None
    high: float | None
    established: bool
    gap: float | None
    """Oracle minus control on the common questions."""
    gap_low: float | None
    """The lower bound of the gap, which must be above 0."""
    n: int
    seed: int
    draws: int
    note: str | None = None


class RankInterval(Record, frozen=True):
    """The ranks that row can have once chance is allowed for: from `first` (best) to `last`."""

    row: str
    first: int
    last: int
    above: tuple[str, ...]
    """Rows that are significantly better."""
    below: tuple[str, ...]
    """Rows that are significantly worse."""


class Coverage(Record, frozen=True):
    """How many questions of how many have a score, per pass and over all passes."""

    asked: int
    scored: int
    """Questions with a score in at least one pass."""
    per_pass: tuple[int, ...]
    allowed: int
    """Missing questions that a pass may have and stay eligible: one in fifty, rounded down."""
    enough: bool
    """True when no pass misses more than that and every question has a score."""


class QuestionFlags(Record, frozen=True):
    """Why a question separates no rows, or is no test of retrieval."""

    question: str
    ceiling: bool
    """Every row that has it answers it fully."""
    floor: bool
    """No row that has it scores anything."""
    known_without_retrieval: bool
    """The control scores at least .25 on it."""


class Percentiles(Record, frozen=True):
    """Latency percentiles by nearest rank, in the unit of what was given; None where there are too few calls."""

    p50: int | None
    p95: int | None
    p99: int | None
    n: int
