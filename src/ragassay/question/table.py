"""CSV and JSONL become written samples, each with the line on which it begins."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from ragassay.question import tree
from ragassay.question.written import WrittenSample

COLUMNS = ("id", "input", "target", "page", "topic", "evidence", "claims", "provenance")
"""The columns that a CSV may have; `claims` and `provenance` hold JSON."""


def read_jsonl(text: str, problems: list[str]) -> list[tuple[str, object]]:
    """Return (place, object) of each line that is not blank; a line that is no JSON is a problem."""
    found: list[tuple[str, object]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}, "
        try:
            found.append((place, tree.parse(line, place, problems)))
        except ValueError as error:
            problems.append(f"line {number}: {_without_line(str(error))}")
    return found


def read_csv(text: str, problems: list[str]) -> list[tuple[str, object]]:
    """Return (place, object) of each row under the header; an empty cell of an optional column is absent."""
    rows = _rows(text, problems)
    header = [cell.strip() for cell in next(rows, (1, []))[1]]
    if not _header_is_usable(header, problems):
        return []
    found: list[tuple[str, object]] = []
    for line, cells in rows:
        if len(cells) != len(header):
            problems.append(
                f"line {line}: has {len(cells)} cells, the header has {len(header)}; quote cells with commas"
            )
        else:
            found.append((f"line {line}, ", _sample(dict(zip(header, cells, strict=True)), line, problems)))
    return found


def _rows(text: str, problems: list[str]) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        problems.append(f"line {line}: not CSV: {error}; from here on nothing was read")


def _header_is_usable(header: list[str], problems: list[str]) -> bool:
    before = len(problems)
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        problems.append("line 1: the header is one cell; columns must be separated by commas")
        return False
    for name in dict.fromkeys(header):
        if name not in COLUMNS:
            problems.append(f"line 1: unknown column {name!r}; known are {', '.join(COLUMNS)}")
        if header.count(name) > 1:
            problems.append(f"line 1: the column {name!r} stands twice")
    missing = [name for name in ("input", "target") if name not in header]
    problems.extend(f"line 1: the column {name!r} is missing" for name in missing)
    doubled = len(set(header)) != len(header)
    return len(problems) == before or not (missing or doubled)


def _sample(cells: dict[str, str], line: int, problems: list[str]) -> dict[str, Any]:
    required = ("input", "target")
    sample: dict[str, Any] = {}
    for name, cell in cells.items():
        if name not in COLUMNS or (not cell.strip() and name not in required):
            continue
        sample[name] = cell
        if name in ("claims", "provenance"):
            sample[name] = _json_cell(cell, f"line {line}, {name}", problems)
    return sample


def _json_cell(cell: str, place: str, problems: list[str]) -> Any:
    try:
        return tree.parse(cell, place, problems)
    except ValueError as error:
        problems.append(f"{place}: {_without_line(str(error))}")
        return None


def _without_line(message: str) -> str:
    return message.replace("at line 1, column", "at column")


assert set(COLUMNS) <= set(WrittenSample.__struct_fields__)
