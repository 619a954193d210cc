"""A file of published scores becomes checked lines, or one error that lists every problem with its line. Pure.

Each line is one JSON object {"id", "question", "answer", "score", "judge"}, UTF-8.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import msgspec

from ragassay.errors import InputError, first_of
from ragassay.records import Question

MAX_SCORES_BYTES = 64 << 20
"""The most bytes of a file of scores."""
MAX_PROBLEMS = 1000
"""How many problems of one file are written out; the rest is counted."""
MEMBERS = ("id", "question", "answer", "score", "judge")

_JSON_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?")
_DECIMAL = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")
_SURROGATE = re.compile("[\ud800-\udfff]")


class PublishedScore(msgspec.Struct, frozen=True, kw_only=True):
    """One published item: `score` in hundredths; it and `answer` are None where they were not published."""

    id: str
    question: str
    answer: str | None
    score: int | None


class PublishedScores(msgspec.Struct, frozen=True, kw_only=True):
    """All items in the order of the item set, their one judge, and how many scores were rounded to hundredths."""

    scores: tuple[PublishedScore, ...]
    judge: str
    rounded: int


class _Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


class _Problem(ValueError):
    """What is wrong with a line."""


class _Problems:
    """What is wrong with a file: line by line first, then what is wrong with it as a whole."""

    def __init__(self) -> None:
        self._found: list[tuple[float, str]] = []

    def of_line(self, number: int, text: str) -> None:
        """Note a problem of one line."""
        self._found.append((number, f"line {number}: {text}"))

    def of_file(self, text: str) -> None:
        """Note a problem of the file."""
        self._found.append((math.inf, text))

    def __len__(self) -> int:
        return len(self._found)

    def error(self) -> InputError:
        """Return the error that lists them."""
        told = [text for _, text in sorted(self._found, key=lambda found: found[0])]
        count = f"{len(told)} problem{'s' if len(told) != 1 else ''}"
        return InputError(
            f"the file of scores has {count}; nothing was imported", first_of(told, MAX_PROBLEMS, "problems")
        )


def read_scores(
    data: bytes, questions: Sequence[Question], *, judge: str | None = None, rounding: bool = False
) -> PublishedScores:
    """Return the scores in `data`, one per question, in the order of `questions`.

    `judge` is the judge of lines that name none. A score is a number or decimal text from 0 to 1; more than two
    decimals are refused, or with `rounding` rounded half-up by integers. Raises `InputError` with every problem.
    """
    problems = _Problems()
    found: list[_Line] = []
    for number, text in _lines(data):
        try:
            found.append(_Line(number, _parse(text)))
        except _Problem as problem:
            problems.of_line(number, str(problem))
    if not found and not problems:
        problems.of_file("it holds no line")
    by_id = _by_id(found, questions, problems, partial=bool(problems))
    rounded = 0
    scores: dict[str, PublishedScore] = {}
    for line in found:
        rounded += _read(line, by_id, scores, rounding, problems)
    name = _one_judge(found, judge, problems)
    if problems:
        raise problems.error()
    return PublishedScores(scores=tuple(scores[q.id] for q in questions), judge=name, rounded=rounded)


class _Line:
    """One line: its number and its members."""

    def __init__(self, number: int, members: Mapping[str, Any]) -> None:
        self.number = number
        self.members = members


def _lines(data: bytes) -> list[tuple[int, str]]:
    if len(data) > MAX_SCORES_BYTES:
        raise InputError(f"the file of scores has more than the {MAX_SCORES_BYTES} bytes allowed")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"line {line}: the byte 0x{data[error.start]:02x} is not UTF-8; save it as UTF-8") from error
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _parse(text: str) -> dict[str, Any]:
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_int=_Number, parse_float=_Number, parse_constant=_Number
        )
    except json.JSONDecodeError as error:
        raise _Problem(f"is no JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise _Problem("is nested too deeply") from error
    if not isinstance(value, dict):
        raise _Problem("is no object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Problem(f"the member {twice[:80]!r} stands twice")
    return members


def _by_id(
    found: Sequence[_Line], questions: Sequence[Question], problems: _Problems, *, partial: bool
) -> dict[str, Question]:
    """Return the questions by id, after saying which lines and questions have no partner.

    A question without a line is told even where other lines could not be read; those may be its own.
    """
    by_id = {question.id: question for question in questions}
    first: dict[str, int] = {}
    for line in found:
        name = line.members.get("id")
        if type(name) is not str:
            continue  # told with the other members of its line
        if name not in by_id:
            problems.of_line(line.number, f"id: {name[:80]!r} is no question of the item set")
        elif (before := first.setdefault(name, line.number)) != line.number:
            problems.of_line(line.number, f"id: {name[:80]!r} stands already on line {before}")
    hint = ", unless it is on a line that cannot be read" if partial else ""
    for name in by_id:
        if name not in first:
            problems.of_file(f"question {name[:80]!r} has no line{hint}")
    return by_id


def _read(
    line: _Line,
    by_id: Mapping[str, Question],
    scores: dict[str, PublishedScore],
    rounding: bool,
    problems: _Problems,
) -> bool:
    """Add the score of one line to `scores`, or its problems to `problems`; tell whether it was rounded."""
    members, own = line.members, list(_form_problems(line.members))
    hundredths, rounded = None, False
    if members.get("score") is not None:
        try:
            hundredths, rounded = _hundredths(members["score"], rounding)
        except _Problem as problem:
            own.append(f"score: {problem}")
    name, question = members.get("id"), members.get("question")
    wanted = by_id.get(name) if type(name) is str else None
    if wanted is not None and type(question) is str and question != wanted.input:
        own.append(f"question: is not the text that the item set has for {wanted.id[:80]!r}")
    for said in own:
        problems.of_line(line.number, said)
    if not own and wanted is not None:
        scores[wanted.id] = PublishedScore(
            id=wanted.id, question=wanted.input, answer=members["answer"], score=hundredths
        )
    return rounded


def _form_problems(members: Mapping[str, Any]) -> list[str]:
    found = [
        f"{name[:80]!r} is an unknown member; known are {', '.join(MEMBERS)}" for name in members if name not in MEMBERS
    ]
    for name in ("id", "question", "answer", "score"):
        if name not in members:
            found.append(
                f"{name}: is missing" + ("" if name in ("id", "question") else "; write null where none is known")
            )
        elif name != "score":
            found.extend(_text_problem(name, members[name], optional=name == "answer"))
    if "judge" in members:
        found.extend(_text_problem("judge", members["judge"], optional=True))
    return found


def _text_problem(name: str, value: object, *, optional: bool) -> list[str]:
    if value is None and optional:
        return []
    if type(value) is not str:
        return [f"{name}: is no text{' and not null' if optional else ''}"]
    if _SURROGATE.search(value):
        return [f"{name}: holds half of a surrogate pair"]
    if not value.strip() and name != "answer":
        return [f"{name}: is empty"]
    return []


def _hundredths(value: object, rounding: bool) -> tuple[int, bool]:
    """Return a score as hundredths, and whether it had to be rounded."""
    if not isinstance(value, str):
        raise _Problem("is neither a number, a decimal text nor null")
    shown, pattern = value[:40], _JSON_NUMBER if isinstance(value, _Number) else _DECIMAL
    if not pattern.fullmatch(value):
        raise _Problem(f"{shown!r} is no decimal number")
    exact = 100 * Fraction(value)
    if not 0 <= exact <= 100:
        raise _Problem(f"{shown} is not from 0 to 1")
    if exact.denominator == 1:
        return exact.numerator, False
    if not rounding:
        raise _Problem(
            f"{shown} has more than two decimals, and an item score is a whole number of hundredths (--round)"
        )
    return (2 * exact.numerator + exact.denominator) // (2 * exact.denominator), True


def _one_judge(found: Sequence[_Line], given: str | None, problems: _Problems) -> str:
    """Return the one judge of all lines, or tell which judge stands on which lines."""
    lines: dict[str, list[int]] = {}
    for line in found:
        name = line.members.get("judge")
        if name is None and given is None:
            problems.of_line(line.number, "judge: is missing; name the one judge of all lines with --judge")
        elif name is None or (type(name) is str and name.strip()):
            lines.setdefault(str(given if name is None else name), []).append(line.number)
    if given is not None and set(lines) - {given}:
        lines.setdefault(given, [])
    if len(lines) > 1:
        problems.of_file("JUDGE_MIXED: a run has one judge, and each judge's scores are a run of their own")
        for name, numbers in lines.items():
            problems.of_file(f"JUDGE_MIXED: judge {name[:80]!r}: {_named(numbers)}")
    return next(iter(lines), "")


def _named(numbers: Sequence[int]) -> str:
    """Write line numbers as ranges: lines 1-40, 42."""
    if not numbers:
        return "no line (it is the one given with --judge)"
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    words = [str(a) if a == b else f"{a}-{b}" for a, b in spans]
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(words)}"
