"""What people decided about drafted questions: which lines of a review file stand, and the set that they leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from ragassay import canon
from ragassay.errors import InputError, first_of
from ragassay.question.printable import printable
from ragassay.question.review_line import Decision, ReviewLine, Seen, SeenPassage, encode_line, line_digest
from ragassay.records import Benchmark, Provenance, Question, Record, to_json

__all__ = [
    "Decision",
    "ReviewLine",
    "ReviewState",
    "Reviewed",
    "Seen",
    "SeenPassage",
    "encode_line",
    "line_digest",
    "load_reviews",
    "material",
    "parse_reviews",
    "reviewed",
    "reviews_beside",
    "standing",
    "state_of",
]

ReviewState = Literal["accepted", "edited", "rejected", "unreviewed", "stale"]

MAX_BYTES = 64 << 20
"""The largest review file that is read, in bytes."""
MAX_LISTED = 50
"""How many problems of a file are named; the rest is counted."""

_BY_DECISION: Mapping[Decision, ReviewState] = {"accept": "accepted", "edit": "edited", "reject": "rejected"}


class Reviewed(Record, frozen=True):
    """A question set with its review: `benchmark` holds the questions that were not rejected, edits applied.

    Each question's id is in exactly one of the tuples, in the file's order; `unknown` are ids that lines name and the
    file does not. In `benchmark`, `provenance.reviewedBy` is set for what was accepted or edited; no other is changed.
    """

    benchmark: Benchmark
    accepted: tuple[str, ...]
    edited: tuple[str, ...]
    rejected: tuple[str, ...]
    unreviewed: tuple[str, ...]
    stale: tuple[str, ...]
    unknown: tuple[str, ...]


@lru_cache(maxsize=4096)
def material(question: Question) -> str:
    """Return the SHA-256 over the question's canonical form without provenance: what a decision is about."""
    return canon.digest(to_json(msgspec.structs.replace(question, provenance=None)))


def reviews_beside(questions: Path) -> Path:
    """Return where the decisions about a question file stand: `<stem>.review.jsonl` in its folder."""
    return questions.with_name(f"{questions.stem}.review.jsonl")


def load_reviews(path: Path) -> list[ReviewLine]:
    """Return every whole line of a review file, oldest first; none where there is no file.

    Raises `InputError` with every line that is none, by its number.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"the review file {path} cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{path} has more than the {MAX_BYTES} bytes allowed; move it away")
    try:
        return parse_reviews(data)
    except InputError as error:
        raise InputError(f"{path} {error.message}", error.problems) from error


def parse_reviews(data: bytes) -> list[ReviewLine]:
    """Return the lines in a file's bytes; a torn last one, which a kill leaves, is none. Raises `InputError`."""
    found: list[ReviewLine] = []
    problems: list[str] = []
    stacks: dict[str, list[tuple[str, ReviewLine]]] = {}
    for number, raw in enumerate(data.split(b"\n")[:-1], 1):
        try:
            line = msgspec.json.decode(raw, type=ReviewLine)
            if encode_line(line) != raw:
                raise ValueError("is not the canonical form of what it says")
            if not _push(stacks, line, canon.sha256(raw)):
                raise ValueError("takes back a decision that does not stand")
        except (ValueError, UnicodeDecodeError) as error:
            problems.append(f"line {number}: {printable(str(error))}")
        else:
            found.append(line)
    if problems:
        message = "has lines that are no decisions; put them back, or move the file away"
        raise InputError(message, first_of(problems, MAX_LISTED, "lines"))
    return found


def standing(lines: Iterable[ReviewLine]) -> dict[str, ReviewLine]:
    """Return the decision that stands for each question: the last that was not taken back."""
    stacks: dict[str, list[tuple[str, ReviewLine]]] = {}
    for line in lines:
        _push(stacks, line, line_digest(line))
    return {question: stack[-1][1] for question, stack in stacks.items() if stack}


def state_of(question: Question, line: ReviewLine | None) -> ReviewState:
    """Return what the standing line means for a question: `stale` where it is about other words than today's.

    Words that the reviewer wrote are the reviewer's own once they stand in the question file.
    """
    if line is None:
        return "unreviewed"
    known = {line.material} if line.edited is None else {line.material, material(line.edited)}
    return _BY_DECISION[line.decision] if material(question) in known else "stale"


def reviewed(benchmark: Benchmark, lines: Iterable[ReviewLine]) -> Reviewed:
    """Return the set as its reviewers left it, and which questions are accepted, edited, rejected, open or stale.

    Raises `InputError` where the edits do not make one set, because two questions then ask the same.
    """
    found = standing(lines)
    by_state: dict[ReviewState, list[str]] = {}
    kept: list[Question] = []
    for question in benchmark.questions:
        line = found.get(question.id)
        state = state_of(question, line)
        by_state.setdefault(state, []).append(question.id)
        if state != "rejected":
            kept.append(question if line is None or state == "stale" else _taken(question, line))
    _check_inputs(kept)
    known = {question.id for question in benchmark.questions}
    return Reviewed(
        benchmark=msgspec.structs.replace(benchmark, questions=tuple(kept)),
        accepted=tuple(by_state.get("accepted", ())),
        edited=tuple(by_state.get("edited", ())),
        rejected=tuple(by_state.get("rejected", ())),
        unreviewed=tuple(by_state.get("unreviewed", ())),
        stale=tuple(by_state.get("stale", ())),
        unknown=tuple(question for question in found if question not in known),
    )


def _taken(question: Question, line: ReviewLine) -> Question:
    provenance = msgspec.structs.replace(question.provenance or Provenance(), reviewed_by=line.reviewer)
    return msgspec.structs.replace(line.edited or question, provenance=provenance)


def _check_inputs(questions: Sequence[Question]) -> None:
    first: dict[str, str] = {}
    twice = [
        f"{printable(question.id)} asks what {printable(other)} asks"
        for question in questions
        if (other := first.setdefault(question.input.strip(), question.id)) != question.id
    ]
    if twice:
        raise InputError("the edits make two questions the same; edit or reject one of them", twice)


def _push(stacks: dict[str, list[tuple[str, ReviewLine]]], line: ReviewLine, digest: str) -> bool:
    """Put a decision on its question's stack, or take one off; False where the one to take off is not on top."""
    stack = stacks.setdefault(line.question, [])
    if line.decision != "undo":
        stack.append((digest, line))
        return True
    if not stack or stack[-1][0] != line.undoes:
        return False
    stack.pop()
    return True
