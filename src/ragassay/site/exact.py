"""Numbers of a board that are no fractions in JSON: exact ratios, intervals as decimal strings."""

from __future__ import annotations

from ragassay.records import Record


class Ratio(Record, frozen=True):
    """An exact score or share num/den with its decimal (four places, half-up)."""

    num: int
    den: int
    decimal: str


class Interval(Record, frozen=True):
    """A 95 % interval as decimal strings of six places."""

    low: str
    high: str
