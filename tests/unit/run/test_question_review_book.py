"""The review file as it is written: one decision at a time, seen by all, and never over what somebody has not seen."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ragassay.errors import InputError
from ragassay.question import load_reviews
from ragassay.question.reviews import ReviewLine, Seen, encode_line, line_digest, material, reviews_beside
from ragassay.records import Claim, Question
from ragassay.run.question_sets.question_reviews import DecidedMeanwhile, ReviewBook

QUESTION = Question(
    id="q", input="What is the Acme limit?", target="42.", claims=(Claim(id=1, text="It is 42.", central=True),)
)


def line(reviewer: str = "B. Reader", **changes: Any) -> ReviewLine:
    """Return an acceptance; `changes` replace members."""
    fields: dict[str, Any] = {"question": "q", "material": material(QUESTION), "decision": "accept", "at": 7}
    return ReviewLine(**{**fields, "reviewer": reviewer, "seen": Seen(), **changes})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a question file would be."""
    return tmp_path / "set.json"


def test_a_decision_is_taken_on_sight_of_the_one_that_stands(file: Path) -> None:
    """Who has not seen it is told whose it is, and nothing is written."""
    book = ReviewBook(file)
    first = line()
    book.decide(first, None)
    with pytest.raises(DecidedMeanwhile, match=r"B\. Reader has decided") as caught:
        book.decide(line("C. Other"), None)
    assert caught.value.line == first
    book.decide(line("C. Other"), line_digest(first))
    assert [one.reviewer for one in load_reviews(reviews_beside(file))] == ["B. Reader", "C. Other"]


def test_the_same_decision_again_is_not_written_again(file: Path) -> None:
    """A request that is sent twice is one decision, whatever it saw of the first."""
    book = ReviewBook(file)
    for at in (7, 8, 9):
        book.decide(line(at=at), None)
    assert reviews_beside(file).read_bytes() == encode_line(line()) + b"\n"


def test_only_the_standing_decision_is_taken_back_and_by_its_reviewer(file: Path) -> None:
    """Another reviewer decides otherwise instead; a decision that is gone is not taken back twice."""
    book = ReviewBook(file)
    first = line()
    book.decide(first, None)
    with pytest.raises(InputError, match="decide otherwise"):
        book.undo("q", "C. Other", line_digest(first), 8)
    with pytest.raises(DecidedMeanwhile):
        book.undo("q", "B. Reader", "0" * 64, 8)
    book.undo("q", "B. Reader", line_digest(first), 8)
    with pytest.raises(DecidedMeanwhile, match="taken back meanwhile"):
        book.undo("q", "B. Reader", line_digest(first), 9)
    assert [one.decision for one in book.lines()] == ["accept", "undo"]


def test_of_many_at_once_one_decides_first_and_all_others_are_told(file: Path) -> None:
    """Several books on one file write one after the other; none overwrites or tears a line."""

    def decide(number: int) -> bool:
        try:
            ReviewBook(file).decide(line(f"R. {number}"), None)
        except DecidedMeanwhile:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        stored = list(pool.map(decide, range(32)))
    assert stored.count(True) == 1
    assert len(load_reviews(reviews_beside(file))) == 1


def test_nothing_is_added_to_a_file_that_cannot_be_read(file: Path) -> None:
    """The error names the file, and its bytes stay."""
    path = reviews_beside(file)
    path.write_bytes(b"not a line\n")
    with pytest.raises(InputError, match=r"set\.review\.jsonl"):
        ReviewBook(file).decide(line(), None)
    assert path.read_bytes() == b"not a line\n"
