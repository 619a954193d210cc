"""The worksheet of queries that have no answer: written for a spreadsheet, and read back with what was filled in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

import msgspec

from ragassay.question import tree
from ragassay.question.written import text_problem
from ragassay.records import Record

COLUMNS = ("id", "input", "target", "evidence", "page", "document")
"""What a worksheet holds: `target` and `evidence` are to be filled in, the others are for reading."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would compute; such a cell is written behind an apostrophe."""


class Answer(Record, frozen=True):
    """What a person wrote for one query; `evidence` is None where nothing was written."""

    target: str
    evidence: str | None = None
    line: int = 0


class Row(Record, frozen=True):
    """One row of a worksheet."""

    id: str
    input: str
    page: str = ""
    document: str = ""
    """The text of the page that was judged most relevant, to write from."""


def worksheet(rows: Iterable[Row]) -> bytes:
    """Return a worksheet as CSV in UTF-8, with a byte order mark so that spreadsheets read it as such."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_shown(row.id), _shown(row.input), "", "", _shown(row.page), _shown(row.document)])
    return text.getvalue().encode("utf-8-sig")


def read_answers(data: bytes, suffix: str) -> tuple[dict[str, Answer], list[str]]:
    """Return the answers of a filled worksheet (or of JSONL with `id`, `target`, `evidence`) by id, and every problem.

    A row without a target is not answered yet, and is left out.
    """
    problems: list[str] = []
    found: dict[str, Answer] = {}
    try:
        text = tree.decode(data)
    except ValueError as error:
        return {}, [str(error)]
    for line, row in _csv(text, problems) if suffix == ".csv" else _jsonl(text, problems):
        id_ = row.get("id", "")
        if not id_:
            problems.append(f"line {line}: has no id")
        elif id_ in found:
            problems.append(f"line {line}: the id {id_!r} stands already on line {found[id_].line}")
        elif text_problem(row.get("target", "")) is None:
            evidence = row.get("evidence", "")
            found[id_] = Answer(
                target=row["target"], evidence=evidence if text_problem(evidence) is None else None, line=line
            )
        elif text_problem(row.get("evidence", "")) is None:
            problems.append(f"line {line}: has evidence and no target; write the answer too, or clear the evidence")
    return found, problems


def answer_of(answers: dict[str, Answer], id_: str) -> Answer | None:
    """Return the answer to a query, whose id a worksheet may hold behind an apostrophe."""
    return answers.get(id_, answers.get(_shown(id_)))


def unknown_answers(answers: dict[str, Answer], ids: Iterable[str]) -> list[str]:
    """Return a problem for each answer to a query that the source has not."""
    known = {name for id_ in ids for name in (id_, _shown(id_))}
    return [f"line {one.line}: the source has no query {id_!r}" for id_, one in answers.items() if id_ not in known]


def _shown(text: str) -> str:
    text = text.replace("\0", "")
    return f"'{text}" if text.startswith(_FORMULA) else text


def _csv(text: str, problems: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            at, line = line, reader.line_num + 1
            if header is None:
                header = [cell.strip() for cell in cells]
                if missing := [name for name in COLUMNS[:1] + COLUMNS[2:3] if name not in header]:
                    problems.append(f"line 1: the column {missing[0]!r} is missing; known are {', '.join(COLUMNS)}")
                    return
            elif len(cells) == len(header):
                yield at, dict(zip(header, cells, strict=True))
            elif any(cell.strip() for cell in cells):
                problems.append(f"line {at}: has {len(cells)} cells, the header has {len(header)}")
    except csv.Error as error:
        problems.append(f"line {line}: not CSV: {error}")


def _jsonl(text: str, problems: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=dict[str, str | None])
        except (ValueError, RecursionError) as error:
            problems.append(f"line {number}: is no object of texts: {error}")
            continue
        yield number, {name: value for name, value in row.items() if value is not None}
