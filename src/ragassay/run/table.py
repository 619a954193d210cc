"""Reads one TOML table with declared keys and collects every problem instead of stopping at the first."""

from __future__ import annotations

import datetime
import difflib
import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from ragassay.canon import MAX_INTEGER
from ragassay.records import JSON

T = TypeVar("T")

MAX_NAME = 200
MAX_PATH = 1000
MAX_NESTING = 24
_DECIMAL = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?")


class Table:
    """One table of a file; `problems` is shared by all tables of that file, each entry naming its place."""

    def __init__(self, data: object, place: str, problems: list[str]) -> None:
        self.place = place
        self.problems = problems
        self.data: Mapping[str, Any] = data if isinstance(data, dict) else {}
        if not isinstance(data, dict):
            self.problem("", f"must be a table, not {_kind(data)}")
        self._taken: set[str] = set()

    def problem(self, key: str, text: str) -> None:
        """Record one problem at `key` of this table ('' for the table itself)."""
        place = ".".join(part for part in (self.place, key) if part)
        self.problems.append(f"{place or 'the file'}: {text}")

    def take(self, key: str, kind: type[T], default: Any = None, *, required: bool = False) -> Any:
        """Return the value at `key` if it is of type `kind` (bool is no int); else record why and return `default`."""
        self._taken.add(key)
        if key not in self.data:
            if required:
                self.problem(key, "is missing")
            return default
        value = self.data[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.problem(key, f"must be {_NAMES[kind]}, not {_kind(value)}")
            return default
        return value

    def text(self, key: str, default: str | None = None, *, required: bool = False) -> Any:
        """Return a non-empty string."""
        value = self.take(key, str, default, required=required)
        if key in self.data and value == "":
            self.problem(key, "must not be empty")
        return value

    def name(self, key: str, *, required: bool = False) -> Any:
        """Return a string that can be printed on one line: not blank, no control characters, at most 200 long."""
        value = self.text(key, required=required)
        return self._on_one_line(key, value, MAX_NAME)

    def path(self, key: str, *, required: bool = False) -> Any:
        """Return a string that can be a path."""
        return self._on_one_line(key, self.text(key, required=required), MAX_PATH)

    def _on_one_line(self, key: str, value: str | None, most: int) -> str | None:
        if not value:
            return value
        if not value.isprintable() or not value.strip():
            self.problem(key, f"must be visible text on one line, without control characters, not {ascii(value)[:80]}")
            return None
        if len(value) > most:
            self.problem(key, f"must have at most {most} characters, not {len(value)}")
            return None
        return value

    def decimal(self, key: str, *, low: str | None = None, high: str | None = None, required: bool = False) -> Any:
        """Return a decimal string such as '0.2' within [low, high], or None."""
        text: str | None = self.text(key, required=required)
        if not text:
            return None
        if not _DECIMAL.fullmatch(text):
            self.problem(key, f"must be a decimal number in quotes, such as '0.2', not {ascii(text)[:80]}")
            return None
        if (low is not None and Decimal(text) < Decimal(low)) or (high is not None and Decimal(text) > Decimal(high)):
            self.problem(key, f"must be from {low} to {high}, not {text}")
            return None
        return text

    def free(self, key: str, default: JSON | None = None, *, required: bool = False) -> JSON:
        """Return a table whose keys the plugin that it goes to knows; every value in it can be written as JSON."""
        value: JSON = self.take(key, dict, default if default is not None else {}, required=required)
        for place, fault in _unwritable(value, key, 0):
            self.problem(place, fault)
        return value

    def count(self, key: str, default: int, *, low: int = 1, high: int = 10**9) -> int:
        """Return an integer within [low, high]."""
        value: int = self.take(key, int, default)
        if not low <= value <= high:
            self.problem(key, f"must be from {low} to {high}, not {value}")
            return default
        return value

    def choice(self, key: str, choices: tuple[str, ...], default: str) -> str:
        """Return one of `choices`."""
        value: str = self.take(key, str, default)
        if value not in choices:
            self.problem(key, f"must be one of {', '.join(choices)}, not {value!r}")
            return default
        return value

    def table(self, key: str, *, required: bool = False) -> Table | None:
        """Return the table at `key`, or None where it is absent."""
        self._taken.add(key)
        if key not in self.data:
            if required:
                self.problem(key, "is missing")
            return None
        return Table(self.data[key], ".".join(p for p in (self.place, key) if p), self.problems)

    def tables(self, key: str) -> list[Table]:
        """Return the tables of the array at `key`."""
        found: list[Any] = self.take(key, list, [])
        return [Table(entry, f"{key}[{index}]", self.problems) for index, entry in enumerate(found)]

    def rest_must_be_empty(self) -> None:
        """Record every key that nobody took, with the nearest known one."""
        for key in self.data:
            if key not in self._taken:
                near = difflib.get_close_matches(key, self._taken, 1)
                self.problem(key, "is not known here" + (f"; did you mean {near[0]!r}?" if near else ""))


def _unwritable(value: object, place: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield what in a free table cannot be recorded: fractions without an end, wide integers, dates, depth."""
    if depth > MAX_NESTING:
        yield place[:80] + "…", f"is nested deeper than {MAX_NESTING} levels"
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _unwritable(member, f"{place}.{key}", depth + 1)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _unwritable(member, f"{place}[{index}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        yield place, f"must be a finite number, not {value}"
    elif isinstance(value, int) and abs(value) > MAX_INTEGER:
        yield place, f"must be an integer within ±{MAX_INTEGER}"
    elif isinstance(value, datetime.date | datetime.time):
        yield place, "must not be a date or time; write it as a string in quotes"


_NAMES = {str: "a string", int: "an integer", bool: "true or false", dict: "a table", list: "an array"}


def _kind(value: object) -> str:
    for kind, name in (
        (bool, "a boolean"),
        (int, "an integer"),
        (float, "a float"),
        (str, "a string"),
        (list, "an array"),
    ):
        if isinstance(value, kind):
            return name
    return "a table" if isinstance(value, dict) else type(value).__name__
