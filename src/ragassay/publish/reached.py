"""How far readers are in outputs of several pages: a file of a workspace, so that a long output is not begun anew."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from ragassay.publish.review_lines import reader_file, reader_name
from ragassay.records.publication import Reached

PAGES = "pages.jsonl"


class PagesFile:
    """`review/pages.jsonl` of a workspace (its `.ragassay` folder); what a method that writes has returned is there."""

    def __init__(self, workspace: Path) -> None:
        self._file = reader_file(workspace, PAGES, Reached)

    def reached(self, reader: str, unit: str) -> Mapping[int, str]:
        """Return the pages of a unit whose end a reader had on the screen, each with the form that it had.

        Raises `InputError` that names each line of the file that is none.
        """
        return _standing(reader, unit, self._file.lines())

    def mark(self, reader: str, unit: str, page: int, form: str, *, at: int | None = None) -> None:
        """Store that the end of a page was on the screen; where that stands already nothing is written."""
        name, when = reader_name(reader), _now(at)

        def after(lines: list[Reached]) -> list[Reached]:
            stands = _standing(name, unit, lines)
            new = Reached(reader=name, unit=unit, page=page, form=form, at=when)
            return [] if stands.get(page) == form else [new]

        self._file.append(after)

    def unmark(self, reader: str, unit: str, *, at: int | None = None) -> None:
        """Take back every page of a unit; where none stands nothing is written."""
        name, when = reader_name(reader), _now(at)

        def after(lines: list[Reached]) -> list[Reached]:
            stands = _standing(name, unit, lines)
            return [Reached(reader=name, unit=unit, page=p, form=f, at=when, undone=True) for p, f in stands.items()]

        self._file.append(after)


def _standing(reader: str, unit: str, lines: Iterable[Reached]) -> dict[int, str]:
    found: dict[int, str] = {}
    for line in lines:
        if (line.reader, line.unit) == (reader, unit):
            found.pop(line.page, None)
            if not line.undone:
                found[line.page] = line.form
    return found


def _now(at: int | None) -> int:
    return int(time.time()) if at is None else at
