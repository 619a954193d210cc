"""Waivers: which findings of the lint a person lets stand, and why; one per line beside the question file."""

from __future__ import annotations

import re
from pathlib import Path

from ragassay.errors import InputError
from ragassay.question import tree
from ragassay.question.printable import printable
from ragassay.records import Record

SUFFIX = ".waive"
ALL = "*"
"""In place of a question: the finding that is about the whole set."""
MAX_BYTES = 1_048_576
"""The largest file of waivers that is read, in bytes."""

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^\s"#]\S*)(?=\s|$)')
_REASON = re.compile(r"\s*(?:#\s*(.*?)\s*)?$", re.DOTALL)
_HOW = "write RULE QUESTION [QUESTION]  # reason"


class Waiver(Record, frozen=True):
    """One finding, or several of one rule and question, that fail nothing; `reason` is empty where none was given.

    `questions` names every question of the finding, in any order; `line` counts from 1 in the file it was read from.
    """

    rule: str
    questions: tuple[str, ...]
    reason: str
    line: int | None = None


def waivers_path(path: Path) -> Path:
    """Return where the waivers of a question file stand: its own name with the suffix `.waive`."""
    return path.with_suffix(SUFFIX)


def load_waivers(path: Path) -> tuple[Waiver, ...]:
    """Return the waivers beside the question file `path` (or in `path`, where it ends in `.waive`), none where absent.

    Raises `InputError` that names the file and lists every line that cannot be read.
    """
    file = waivers_path(path)
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise InputError(f"the waivers {file} cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"the waivers {file} have more than the {MAX_BYTES} bytes allowed")
    try:
        text = tree.decode(data)
    except ValueError as error:
        raise InputError(f"the waivers {file} cannot be read", [str(error)]) from error
    problems: list[str] = []
    found = parse_waivers(text, problems)
    if problems:
        raise InputError(f"the waivers {file} cannot be read", problems)
    return found


def parse_waivers(text: str, problems: list[str]) -> tuple[Waiver, ...]:
    """Return the waivers of a text; blank lines and lines that begin with `#` say nothing.

    An id with spaces, or one that begins with `#`, stands in double quotes. A line that is no waiver is a problem.
    """
    found: list[Waiver] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            waiver = _waiver(line, number)
            if waiver is None:
                problems.append(f"line {number}: {printable(line.strip())[:80]!r} is no waiver; {_HOW}")
            else:
                found.append(waiver)
    return tuple(found)


def _waiver(line: str, number: int) -> Waiver | None:
    words: list[str] = []
    at = 0
    while token := _TOKEN.match(line, at):
        words.append(_plain(token[1]))
        at = token.end()
    reason = _REASON.match(line, at)
    if reason is None or not 2 <= len(words) <= 3 or not all(words):
        return None
    return Waiver(rule=words[0], questions=tuple(words[1:]), reason=reason[1] or "", line=number)


def _plain(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token.startswith('"') else token
