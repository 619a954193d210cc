"""The exposure of rows to the questions as text in a terminal. Needs nothing but the record. Pure."""

from __future__ import annotations

from ragassay.site.exposurewords import TITLE, said_of, worth_a_table
from ragassay.site.lines import wrapped
from ragassay.site.record import Table


def exposure_lines(table: Table, width: int) -> list[str]:
    """Return a line per row, under a title; nothing where nothing is recorded of any row."""
    if not worth_a_table(table.exposure):
        return []
    lines = [line for one in table.exposure for line in wrapped(f"{one.row}: {said_of(one)}", width)]
    return ["", f"{TITLE}:", *lines]
