"""The items of runs as CSV after RFC 4180, with cells that a spreadsheet would execute made harmless.

A cell of text that begins, after white space, with `=`, `+`, `-`, `@` or a full-width form of them, or with a tab or a
carriage return, gets an apostrophe in front; so does one that begins with an apostrophe, so that taking one away gives
every text back. Missing is an empty cell, an empty text is `""`.
"""

from __future__ import annotations

import json
from typing import BinaryIO

from ragassay.export.source import RunSource
from ragassay.export.table import COLUMNS, Cell, Column, cells

FORMULA = "=+-@＝＋－＠"
NUL_SHOWN = "\u2400"
"""What stands for U+0000, at which many readers of CSV end a cell or a file."""


def write_csv(source: RunSource, file: BinaryIO, *, raw: bool = False) -> int:
    """Write the items of every run, a line for each, and return how many; `raw` puts no apostrophe in front."""
    file.write(_line([column.name for column in COLUMNS]))
    written = 0
    for run in source:
        for item in run.items():
            file.write(
                _line([_shown(c, cell, raw=raw) for c, cell in zip(COLUMNS, cells(run.facts, item), strict=True)])
            )
            written += 1
    source.require_some()
    return written


def _line(fields: list[str]) -> bytes:
    return (",".join(fields) + "\r\n").encode("utf-8")


def _shown(column: Column, cell: Cell, *, raw: bool) -> str:
    if cell is None:
        return ""
    if column.kind == "text":
        return quoted(cell if raw else harmless(cell))
    if column.kind == "flag":
        return "true" if cell else "false"
    if column.kind in ("integer", "number"):
        return repr(cell)
    return quoted(json.dumps(cell, ensure_ascii=False))


def harmless(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: with an apostrophe in front where it could."""
    begins = text.lstrip()[:1]
    risky = (begins and begins in FORMULA) or text[:1] in ("\t", "\r", "'")
    return f"'{text}" if risky else text


def quoted(text: str) -> str:
    """Return text as a field of RFC 4180; an empty one is quoted, since a field that is not there is empty."""
    text = text.replace("\0", NUL_SHOWN)
    if text and not any(mark in text for mark in '",\r\n') and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'
