"""The exposure of rows to the questions in words. Needs nothing but the record. Pure."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ragassay.site.numbers import plural
from ragassay.site.questionrecord import ExposureLine

TITLE = "Exposure of rows to these questions"
NOT_RECORDED = "not recorded"
LATEST = 253_402_300_800
"""The first Unix second of the year 10000, which has no date of four digits."""


def exposure_warnings(line: ExposureLine | None) -> list[str]:
    """Say where a row's declaration is contradicted by its own earlier runs."""
    if line is None or not line.contradicted:
        return []
    return [f"declares that it was not shaped on these questions (exposure none), but {earlier_words(line)}"]


def earlier_words(line: ExposureLine) -> str:
    """Say how often a row was run otherwise on the same questions, and since when."""
    were = "was" if line.earlier == 1 else "were"
    return f"{plural(line.earlier, 'earlier configuration')} of it {were} run on these questions, first on {day(line)}"


def day(line: ExposureLine) -> str:
    """Return the day (UTC) of the first of them."""
    if line.first is None or not 0 < line.first < LATEST:
        return "a day that is not recorded"
    return time.strftime("%Y-%m-%d", time.gmtime(line.first))


def said_of(line: ExposureLine) -> str:
    """Say in a few words what one row declares and what its runs show."""
    said = f"declared {line.declared.replace('-', ' ')}" if line.declared else NOT_RECORDED
    return f"{said}; {earlier_words(line)}" if line.earlier else said


def worth_a_table(lines: Sequence[ExposureLine]) -> bool:
    """Tell whether there is more to say than that nothing is recorded of any row."""
    return any(line.declared or line.earlier for line in lines)
