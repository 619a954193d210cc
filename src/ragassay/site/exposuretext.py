"""The exposure of rows to the questions as text in a terminal. Needs nothing but the record. Pure."""

from __future__ import annotations

from ragassay.site.exposurewords import TITLE, said_of, worth_a_table
from ragassay.site.lines import wrapped
from ragassay.site.numbers import listed
from ragassay.site.record import Table


def exposure_lines(table: Table, width: int) -> list[str]:
    """Return a line for all rows of which the same is said, under a title; nothing where nothing is recorded of any."""
    if not worth_a_table(table.exposure):
        return []
    alike: dict[str, list[str]] = {}
    for one in table.exposure:
        alike.setdefault(said_of(one), []).append(one.row)
    lines = [line for said, rows in alike.items() for line in wrapped(f"{listed(rows)}: {said}", width)]
    return ["", f"{TITLE}:", *lines]
