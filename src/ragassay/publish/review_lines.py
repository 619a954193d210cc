"""How a reader's name is written, in what they say now and in the lines of the review's files. Pure."""

from __future__ import annotations

from ragassay.errors import InputError
from ragassay.records.publication import Reached, Seen, SignOff
from ragassay.site.calibration.ratings import rater_name


def reader_name(text: str) -> str:
    """Return a reader's name in one spelling, as a rater's of a calibration; raises `InputError` where it is none."""
    return rater_name(text, "reader")


def check_reader(line: Seen | Reached | SignOff, known: set[str]) -> None:
    """Raise `InputError` for a line whose reader is not spelt as names are; `known` are names that were looked at.

    It would be of somebody whom no page can show or name.
    """
    if line.reader in known:
        return
    if reader_name(line.reader) != line.reader:
        raise InputError(f"{line.reader!r} is not the spelling of a reader's name: NFC, with single spaces")
    known.add(line.reader)
