"""Reads the lines of the review's files: every one that is none is named, and none is passed over. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from ragassay.errors import InputError
from ragassay.records.publication import Reached, Seen, SignOff
from ragassay.site.calibration.ratings import rater_name

MAX_LISTED = 50
"""How many problems of a file are named."""

_Line = TypeVar("_Line", Seen, Reached, SignOff)


def reader_name(text: str) -> str:
    """Return a reader's name in one spelling, as a rater's of a calibration; raises `InputError` where it is none."""
    return rater_name(text, "reader")


def decoded(path: Path, kind: type[_Line], lines: Sequence[bytes]) -> list[_Line]:
    """Return lines as records of one kind; raises `InputError` that names those of `path` that are none.

    A line whose reader is not spelt as names are is none: it would be of somebody whom no page can show or name.
    """
    decode: Callable[[bytes], _Line] = msgspec.json.Decoder(kind).decode
    found: list[_Line] = []
    names: set[str] = set()
    problems: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            one = decode(line)
            if one.reader not in names:
                names.add(_spelt(one.reader))
        except (msgspec.DecodeError, UnicodeDecodeError, InputError) as error:
            problems.append(f"line {number}: {error}")
        else:
            found.append(one)
    if problems:
        beyond: list[str] = [f"and {len(problems) - MAX_LISTED} more lines"] if len(problems) > MAX_LISTED else []
        shown = [*problems[:MAX_LISTED], *beyond]
        raise InputError(f"{path} has lines that cannot be read; put them back, or move the file away", shown)
    return found


def _spelt(name: str) -> str:
    if reader_name(name) != name:
        raise InputError(f"{name!r} is not the spelling of a reader's name: NFC, with single spaces")
    return name
