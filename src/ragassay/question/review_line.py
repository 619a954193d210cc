"""One decision about a drafted question, as it stands on one line of a review file, and what makes it none."""

from __future__ import annotations

import re
from typing import Literal

from ragassay import canon
from ragassay.question.sample import read_sample
from ragassay.question.written import name_problem, text_problem
from ragassay.records import Question, Record, to_json

Decision = Literal["accept", "edit", "reject", "undo"]

MAX_REASON = 2_000
"""The longest reason, in characters."""

_DIGEST = re.compile("[0-9a-f]{64}")


class SeenPassage(Record, frozen=True):
    """The characters of the page's text that stood around the evidence, and the digest of their UTF-8 bytes."""

    start: int
    end: int
    sha256: str


class Seen(Record, frozen=True):
    """What the page showed beside the question: the documentation's page, its passage, and the lint's rules."""

    page: str | None = None
    page_sha256: str | None = None
    passage: SeenPassage | None = None
    lint: tuple[str, ...] = ()
    """The rules that the form taken broke or, where they were waived, would break; each once, in order of name."""


class ReviewLine(Record, frozen=True):
    """One line of a review file: what a reviewer decided about a question as it was, and what was seen."""

    question: str
    material: str
    """`material()` of the question that was shown."""
    decision: Decision
    reviewer: str
    at: int
    """Unix seconds."""
    seen: Seen
    by_author: bool = False
    """True where the reviewer is named as the question's author, which the page said."""
    edited: Question | None = None
    """The whole question as it shall read, without provenance."""
    reason: str | None = None
    undoes: str | None = None
    """The `line_digest()` of the decision that is taken back."""

    def __post_init__(self) -> None:
        if problems := _line_problems(self):
            raise ValueError("; ".join(problems))


def encode_line(line: ReviewLine) -> bytes:
    """Return the canonical bytes of a line, without its line feed."""
    return canon.canonical(to_json(line))


def line_digest(line: ReviewLine) -> str:
    """Return the SHA-256 of a line's canonical bytes, by which it is taken back."""
    return canon.sha256(encode_line(line))


def _line_problems(line: ReviewLine) -> list[str]:
    problems = [f"the question's id {problem}" for problem in [name_problem(line.question)] if problem]
    problems += [f"the reviewer's name {problem}" for problem in [name_problem(line.reviewer)] if problem]
    passage = line.seen.passage
    digests = (line.material, line.undoes, line.seen.page_sha256, passage.sha256 if passage else None)
    if any(digest is not None and not _DIGEST.fullmatch(digest) for digest in digests):
        problems.append("a digest is 64 lower-case hexadecimal digits")
    if not 0 <= line.at <= canon.MAX_INTEGER:
        problems.append(f"`at` must be Unix seconds from 0 to 2^53 - 1, not {line.at}")
    if passage is not None and not 0 <= passage.start <= passage.end <= canon.MAX_INTEGER:
        problems.append("the passage ends before it starts")
    if (line.decision == "undo") is (line.undoes is None):
        problems.append("`undoes` stands where a decision is taken back, and only there")
    if (line.decision == "reject") is (line.reason is None):
        problems.append("a rejection has a reason, and nothing else has one")
    elif line.reason is not None:
        problems += reason_problems(line.reason)
    if (line.decision == "edit") is (line.edited is None):
        problems.append("an edit has the edited question, and nothing else has one")
    elif line.edited is not None:
        problems += edited_problems(line.edited, line.question)
    return problems


def reason_problems(reason: str) -> list[str]:
    """Return why a text is no reason for a rejection."""
    problem = text_problem(reason)
    if problem is None and len(reason) > MAX_REASON:
        problem = f"has {len(reason)} characters, more than the {MAX_REASON} allowed"
    return [f"the reason {problem}"] if problem else []


def edited_problems(edited: Question, question: str) -> list[str]:
    """Return why a question cannot stand for the one of this id, in the words in which a question file is refused."""
    problems: list[str] = []
    read_sample(to_json(edited), "", edited.id, problems)
    if edited.id != question:
        problems.append("the edited question has another id")
    if edited.provenance is not None:
        problems.append("the edited question has a provenance of its own; that of the question file stays")
    return problems
