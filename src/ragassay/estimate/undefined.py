"""The value of a number that the data do not define."""

from __future__ import annotations

from ragassay.records import Record


class Undefined(Record, frozen=True, tag_field="kind", tag="undefined"):
    """No number, and one sentence that says why: it is neither 0 nor 1 nor NaN, and nothing may be computed from it."""

    reason: str
