"""The review file beside a question file, as it is written: one decision a line, on the disk before anyone is told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.append_only import AppendOnlyFile
from ragassay.question.reviews import ReviewLine, encode_line, line_digest, parse_reviews, reviews_beside, standing


class DecidedMeanwhile(InputError):
    """Another decision stands than the one that was shown; `line` is it, None where none stands any more."""

    def __init__(self, line: ReviewLine | None) -> None:
        who = (
            f"{line.reviewer} has decided this question meanwhile" if line else "the decision was taken back meanwhile"
        )
        super().__init__(f"{who}; look at it and decide again")
        self.line = line


class ReviewBook(AppendOnlyFile[ReviewLine]):
    """`<stem>.review.jsonl` beside a question file; several servers and threads may write it at once."""

    def __init__(self, questions: Path) -> None:
        super().__init__(reviews_beside(questions), ReviewLine, encode=encode_line)

    def decode(self, data: bytes) -> list[ReviewLine]:
        """Return the whole lines, oldest first; raises `InputError` that names those that are none."""
        try:
            return parse_reviews(data)
        except InputError as error:
            raise InputError(f"{self.path} {error.message}", error.problems) from error

    def decide(self, new: ReviewLine, shown: str | None) -> None:
        """Store a decision taken on sight of the standing one, named by its digest; None where none stood.

        Where the same reviewer's same decision stands already nothing is written. Raises `DecidedMeanwhile`.
        """

        def after(lines: Iterable[ReviewLine]) -> list[ReviewLine]:
            line = standing(lines).get(new.question)
            if line is not None and same_saying(line, new):
                return []
            if (None if line is None else line_digest(line)) != shown:
                raise DecidedMeanwhile(line)
            return [new]

        self.append(after)

    def undo(self, question: str, reviewer: str, line: str, at: int) -> None:
        """Take back the standing decision of a question, named by its digest, by whoever took it.

        Raises `DecidedMeanwhile` where it does not stand, and `InputError` where another reviewer took it.
        """

        def after(lines: Iterable[ReviewLine]) -> list[ReviewLine]:
            stands = standing(lines).get(question)
            if stands is None or line_digest(stands) != line:
                raise DecidedMeanwhile(stands)
            if stands.reviewer != reviewer:
                raise InputError(f"{stands.reviewer} took this decision; decide otherwise instead of taking it back")
            back = {"decision": "undo", "undoes": line, "edited": None, "reason": None, "at": at}
            return [msgspec.structs.replace(stands, **back)]

        self.append(after)


def same_saying(one: ReviewLine, other: ReviewLine) -> bool:
    """Tell whether two lines say the same of the same words by the same reviewer, whenever they were written."""
    return msgspec.structs.replace(one, at=0, seen=other.seen) == msgspec.structs.replace(other, at=0)
