"""What stands beside the rows of a table as letters: each sentence once, whatever number of rows it holds for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

import msgspec

from ragassay.site.record import BoardRow

UNLETTERED = "*"
"""What stands for a note beyond the letters that there are: a to z, aa to zz."""
LETTERS = (*ascii_lowercase, *(first + second for first in ascii_lowercase for second in ascii_lowercase))


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence that holds for a row: its place among those of the table from 1, its letter, its text."""

    number: int
    letter: str
    text: str


def table_notes(rows: Sequence[BoardRow]) -> list[Note]:
    """Return each sentence that is said of any row, once, in the order in which the rows come to it."""
    texts = dict.fromkeys(said for row in rows for said in _said(row, rows))
    return [
        Note(number=number, letter=LETTERS[number - 1] if number <= len(LETTERS) else UNLETTERED, text=text)
        for number, text in enumerate(texts, 1)
    ]


def row_notes(row: BoardRow, rows: Sequence[BoardRow], notes: Sequence[Note]) -> list[Note]:
    """Return those of the table's `notes` that hold for a row of it, in the order of their letters."""
    by_text = {note.text: note for note in notes}
    return sorted((by_text[said] for said in _said(row, rows)), key=lambda note: note.number)


def _said(row: BoardRow, rows: Sequence[BoardRow]) -> list[str]:
    """Return the warnings of a row, and why it has no share of the gap where the table does not say so itself."""
    ends = {"control", "oracle"} <= {other.role for other in rows}
    return [*row.warnings, *([row.gap.note] if ends and row.gap and row.gap.note else [])]
