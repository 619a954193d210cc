"""Repairs that cannot change what a question says: spaces, composed letters, a question mark that was left out."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from ragassay.errors import InputError
from ragassay.question import tree
from ragassay.question.parse import parse_benchmark
from ragassay.question.rules.asked import begins_as_question, ends_as_question
from ragassay.question.rules.wording import tidied
from ragassay.records import Benchmark, Claim, Question, Record

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+')
_CLOSED = re.compile(r"[\w`\"'”’)\]}][.。]?$")

Path_ = tuple[str | int, ...]


class Repair(Record, frozen=True):
    """One text that is written anew: in which question, which key, and how."""

    question: str
    key: Literal["input", "target"]
    before: str
    after: str


def repairs(benchmark: Benchmark) -> list[Repair]:
    """Return what can be mended without a person, in the order of the questions."""
    found: list[Repair] = []
    for question in benchmark.questions:
        asked = _asked(tidied(question.input))
        if asked != question.input:
            found.append(Repair(question=question.id, key="input", before=question.input, after=asked))
        if (target := tidied(question.target)) != question.target:
            found.append(Repair(question=question.id, key="target", before=question.target, after=target))
    return found


def repaired(data: bytes, *, name: str, suffix: str, wanted: Sequence[Repair]) -> bytes:
    """Return the bytes of a question file with `wanted` in it; in JSON and JSONL nothing else changes.

    A CSV is written anew, with quotes only where they are needed. Raises `InputError` where the mended file would not
    say exactly what the old one said but for the repairs.
    """
    before = parse_benchmark(data, name=name, suffix=suffix)
    text = tree.decode(data)
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    changes: dict[tuple[str, str], str] = {(repair.question, repair.key): repair.after for repair in wanted}
    write: Callable[[str, Benchmark, Mapping[tuple[str, str], str]], str] = _in_csv
    if suffix.lower() != ".csv":
        write = _in_json if suffix.lower() == ".json" else _in_lines
    made = mark + write(text, before, changes).encode()
    expected = tuple(_mended(question, changes) for question in before.questions)
    if parse_benchmark(made, name=name, suffix=suffix) != msgspec.structs.replace(before, questions=expected):
        raise InputError("the file cannot be mended in place; mend it by hand")
    return made


def _asked(text: str) -> str:
    if ends_as_question(text) or not begins_as_question(text) or not _CLOSED.search(text):
        return text
    return f"{text.rstrip('.。')}?"


def _mended(question: Question, changes: Mapping[tuple[str, str], str]) -> Question:
    asked = changes.get((question.id, "input"), question.input)
    target = changes.get((question.id, "target"), question.target)
    claims: tuple[Claim, ...] = question.claims
    if question.unsplit:
        claims = tuple(msgspec.structs.replace(claim, text=target) for claim in claims)
    return msgspec.structs.replace(question, input=asked, target=target, claims=claims)


def _in_json(text: str, benchmark: Benchmark, changes: Mapping[tuple[str, str], str]) -> str:
    return _replaced(text, ("samples",), list(benchmark.questions), changes)


def _in_lines(text: str, benchmark: Benchmark, changes: Mapping[tuple[str, str], str]) -> str:
    questions = iter(benchmark.questions)
    lines = [_replaced(line, (), [next(questions)], changes) if line.strip() else line for line in text.split("\n")]
    return "\n".join(lines)


def _replaced(text: str, base: Path_, questions: Sequence[Question], changes: Mapping[tuple[str, str], str]) -> str:
    """Return a JSON text with the strings of the changed keys in place; the samples stand in the list at `base`."""
    pieces: list[str] = []
    done = 0
    for path, start, end in _strings(text):
        inner = path[len(base) :] if path[: len(base)] == base else ()
        index, inner = (0, inner) if not base else (inner[0] if inner else None, inner[1:])
        if not isinstance(index, int) or index >= len(questions):
            continue
        question = questions[index]
        key = "target" if question.unsplit and inner == ("claims", 0, "text") else inner[0] if len(inner) == 1 else None
        if isinstance(key, str) and (after := changes.get((question.id, key))) is not None:
            ascii_only = "\\u" in text[start:end]
            pieces += [text[done:start], json.dumps(after, ensure_ascii=ascii_only)]
            done = end
    return "".join([*pieces, text[done:]])


def _strings(text: str) -> Iterator[tuple[Path_, int, int]]:
    """Yield the place of every string value of a valid JSON text, with the keys and indexes that lead there."""
    path: list[str | int] = []
    opened: list[str] = []
    key_next = False
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in "{[":
            opened.append(token)
            path.append(0 if token == "[" else "")
            key_next = token == "{"
        elif token in "}]":
            opened.pop()
            path.pop()
            key_next = False
        elif token == "," and opened:
            key_next = opened[-1] == "{"
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else ""
        elif token.startswith('"') and key_next:
            path[-1], key_next = json.loads(token), False
        elif token.startswith('"'):
            yield tuple(path), found.start(), found.end()


def _in_csv(text: str, benchmark: Benchmark, changes: Mapping[tuple[str, str], str]) -> str:
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    header = [cell.strip() for cell in filled[0]]
    for question, row in zip(benchmark.questions, filled[1:], strict=True):
        for key in ("input", "target"):
            if (after := changes.get((question.id, key))) is not None:
                row[header.index(key)] = after
    made = io.StringIO(newline="")
    csv.writer(made, lineterminator="\r\n" if "\r\n" in text else "\n").writerows(rows)
    return made.getvalue()
