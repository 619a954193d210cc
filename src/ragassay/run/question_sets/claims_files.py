"""Where proposed claims lie beside a question file: the review file, the raw replies and the worksheets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.log_disk import read_file
from ragassay.question.printable import plural
from ragassay.question.proposals import (
    MAX_REVIEW_BYTES,
    Draft,
    Proposal,
    current,
    decode_review,
    encode_review,
)
from ragassay.question.worksheet import empty_sheet, read_sheet, sheet_name
from ragassay.records import Question
from ragassay.run.workspace import write_bytes

MAX_SHEET_BYTES = 4 * 1024 * 1024
"""The largest worksheet that is read, in bytes."""


class ClaimPlaces(NamedTuple):
    """The review file, the file of raw replies and the folder of worksheets that belong to a question file."""

    review: Path
    replies: Path
    worksheets: Path


class FilledSheet(NamedTuple):
    """What was written on a worksheet, and the SHA-256 of its bytes."""

    draft: Draft
    digest: str


def places_beside(questions: Path) -> ClaimPlaces:
    """Return where the proposals for a question file lie: named after it, in its folder."""
    folder = questions.with_name(f"{questions.stem}.claims")
    return ClaimPlaces(
        review=questions.with_name(f"{questions.stem}.claims.jsonl"),
        replies=folder / "replies.jsonl",
        worksheets=folder / "worksheets",
    )


class ReviewFile:
    """The proposals for the questions as they are now; `stale` names those whose question changed or is gone."""

    def __init__(self, path: Path, questions: Sequence[Question]) -> None:
        self.path = path
        self._order = [question.id for question in questions]
        self.proposals: dict[str, Proposal] = {}
        self.stale: list[str] = []
        if (data := read_file(path, MAX_REVIEW_BYTES)) is not None:
            try:
                found = decode_review(data)
            except InputError as error:
                raise InputError(f"{path}: {error.message}", error.problems) from error
            self.proposals, self.stale = current(found, questions)

    def put(self, proposals: Iterable[Proposal]) -> None:
        """Take these proposals in place of earlier ones and write the file, whole or not at all."""
        changed = {one.question: one for one in proposals}
        if not changed:
            return
        self.proposals |= changed
        write_bytes(self.path, encode_review(self.proposals[one] for one in self._order if one in self.proposals))


def write_sheets(folder: Path, questions: Mapping[int, Question]) -> list[Path]:
    """Write an empty worksheet for each question (by its position from 1) that has none, and return the new ones."""
    written = []
    for position, question in questions.items():
        path = folder / sheet_name(question, position)
        if not path.exists():
            write_bytes(path, empty_sheet(question))
            written.append(path)
    return written


def read_sheets(folder: Path, questions: Mapping[int, Question]) -> dict[str, FilledSheet]:
    """Return what was written on the worksheets, by question; raises `InputError` with every problem of all of them."""
    filled: dict[str, FilledSheet] = {}
    problems: list[str] = []
    for position, question in questions.items():
        path = folder / sheet_name(question, position)
        if (data := read_file(path, MAX_SHEET_BYTES)) is None:
            continue
        draft, wrong = read_sheet(data, question)
        problems += [f"{path.name}: {problem}" for problem in wrong]
        if draft is not None and not wrong:
            filled[question.id] = FilledSheet(draft, canon.sha256(data))
    if problems:
        raise InputError(
            f"the worksheets in {folder} have {plural(len(problems), 'problem')}; nothing was taken from them", problems
        )
    return filled
