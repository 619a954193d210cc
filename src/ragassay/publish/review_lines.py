"""How a reader's name is written, in what they say now and in the lines of the review's files."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from ragassay.errors import InputError
from ragassay.manifest.append_only import AppendOnlyFile
from ragassay.publish.review_folder import FOLDER
from ragassay.records.publication import Reached, Seen, SignOff
from ragassay.site.calibration.ratings import rater_name

_Line = TypeVar("_Line", Seen, Reached, SignOff)


def reader_name(text: str) -> str:
    """Return a reader's name in one spelling, as a rater's of a calibration; raises `InputError` where it is none."""
    return rater_name(text, "reader")


def reader_file(workspace: Path, name: str, kind: type[_Line]) -> AppendOnlyFile[_Line]:
    """Return the file of a workspace whose lines each name a reader, who must be spelt as names are."""
    return AppendOnlyFile(workspace / FOLDER / name, kind, check=_check_reader)


def _check_reader(line: Seen | Reached | SignOff, known: set[str]) -> None:
    """Refuse a line of somebody whom no page can show or name; `known` are the names that were looked at."""
    if line.reader in known:
        return
    if reader_name(line.reader) != line.reader:
        raise InputError(f"{line.reader!r} is not the spelling of a reader's name: NFC, with single spaces")
    known.add(line.reader)
