"""An item set that is not in our form, read as far as it can be: ids, questions and reference answers. Pure.

Three forms are known, and the first characters tell which: one JSON object with a list `samples`, JSON Lines, or CSV
with a header. Each item has a text `id` and a text `input`, and may have a text `target`; whatever else stands there is
left alone. The bytes are UTF-8, wherever they are read.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NoReturn

import msgspec

from ragassay.records import Benchmark, Question

UNNAMED_SCORER = "published-score"
"""What a metric is called whose scorer the item set does not name."""
MAX_READ_BYTES = 8 << 20
"""The most bytes of a foreign item set that are read; beyond, its bytes are hashed and its items stay unknown."""
MAX_ITEMS = 100_000
MAX_DEPTH = 500

Form = Literal["json", "jsonl", "csv"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_PUBLISHED_ITEM = frozenset({"id", "input", "target"})


class Unreadable(ValueError):
    """The bytes are in none of the three forms; the message says why."""


class ForeignItem(msgspec.Struct, frozen=True, kw_only=True):
    """One item of a foreign set; `target` is None where the set gives no reference answer."""

    id: str
    input: str
    target: str | None = None


class ForeignSet(msgspec.Struct, frozen=True, kw_only=True):
    """A foreign set as it was read; `published` when it is `samples` of id, input and target, with a scorer key."""

    form: Form
    items: tuple[ForeignItem, ...]
    scorer_key: str | None = None
    published: bool = False


def read_foreign(data: bytes) -> ForeignSet:
    """Return the items of a foreign set in their order; raises `Unreadable`, whatever the bytes are."""
    if len(data) > MAX_READ_BYTES:
        raise Unreadable(f"it has {len(data)} bytes, and at most {MAX_READ_BYTES} are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte {error.start} is not UTF-8") from error
    if not text.lstrip().startswith("{"):
        return ForeignSet(form="csv", items=_csv_items(text))
    _check_depth(text)
    first = _first_object(text)
    if first is None or "samples" not in first:
        return ForeignSet(form="jsonl", items=_items(_lines(text)))
    samples, scorer = first["samples"], first.get("scorerKey")
    if not isinstance(samples, list):
        raise Unreadable("`samples` is no list")
    named = type(scorer) is str and _SURROGATE.search(scorer) is None
    return ForeignSet(
        form="json",
        items=_items((f"samples[{at}]", sample) for at, sample in enumerate(samples)),
        scorer_key=scorer if named else None,
        published=named
        and set(first) == {"samples", "scorerKey"}
        and all(set(sample) == _PUBLISHED_ITEM for sample in samples),
    )


def foreign_benchmark(data: bytes, *, name: str, version: str) -> Benchmark:
    """Return a foreign set as questions without claims and evidence; raises `Unreadable`.

    `name` and `version` are what the publisher of the run calls it: the set's bytes say neither.
    """
    read = read_foreign(data)
    return Benchmark(
        name=name,
        version=version,
        scorer_key=read.scorer_key or UNNAMED_SCORER,
        questions=tuple(
            Question(id=item.id, input=item.input, target=item.target or "", claims=()) for item in read.items
        ),
    )


def _check_depth(text: str) -> None:
    """Refuse what is nested too deeply before anything is parsed, the same on every host."""
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        mark = text[found.start()]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise Unreadable(f"it is nested deeper than {MAX_DEPTH} levels")
        elif mark != '"':
            depth -= 1


def _first_object(text: str) -> dict[str, Any] | None:
    """Return the one JSON object that the whole text is, or None where it is no single document."""
    try:
        value = _parse(text)
    except json.JSONDecodeError:
        return None
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error
    return value if isinstance(value, dict) else None


def _lines(text: str) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = _parse(line)
        except json.JSONDecodeError as error:
            raise Unreadable(f"line {number} is no JSON: {error.msg}") from error
        except RecursionError as error:
            raise Unreadable(f"line {number} is nested too deeply") from error
        yield f"line {number}", value


def _cells(text: str) -> Iterator[tuple[str, object]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if header is None:
                    header = _header(cells)
                elif len(cells) != len(header):
                    raise Unreadable(f"line {line} has {len(cells)} cells, the header has {len(header)}")
                else:
                    yield f"line {line}", dict(zip(header, cells, strict=True))
            line = reader.line_num + 1
    except csv.Error as error:
        raise Unreadable(f"line {line} is no CSV: {error}") from error


def _csv_items(text: str) -> tuple[ForeignItem, ...]:
    try:
        return _items(_cells(text))
    except Unreadable as error:
        if not text.lstrip().startswith("["):
            raise
        said = 'a JSON list is none of the forms; write {"samples": [...]}, or one object a line'
        raise Unreadable(said) from error


def _header(cells: list[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    for name in ("id", "input"):
        if name not in header:
            raise Unreadable(f"it is neither JSON nor CSV with a column `{name}`")
    if len(set(header)) != len(header):
        raise Unreadable("a column of the header stands twice")
    return header


def _items(found: Iterator[tuple[str, object]]) -> tuple[ForeignItem, ...]:
    items: list[ForeignItem] = []
    places: dict[str, str] = {}
    for place, value in found:
        if len(items) == MAX_ITEMS:
            raise Unreadable(f"it has more than {MAX_ITEMS} items")
        item = _item(place, value)
        if (first := places.setdefault(item.id, place)) != place:
            raise Unreadable(f"{place}: the id {item.id[:80]!r} stands already at {first}")
        items.append(item)
    if not items:
        raise Unreadable("it holds no item")
    return tuple(items)


def _item(place: str, value: object) -> ForeignItem:
    if not isinstance(value, Mapping):
        raise Unreadable(f"{place} is no object")
    identity, text, target = _text(place, value, "id"), _text(place, value, "input"), None
    if value.get("target") is not None:
        target = _text(place, value, "target")
    return ForeignItem(id=identity, input=text, target=target)


def _text(place: str, item: Mapping[str, object], name: str) -> str:
    text = item.get(name)
    if type(text) is not str:
        raise Unreadable(f"{place}: `{name}` is no text")
    if name != "target" and not text.strip():
        raise Unreadable(f"{place}: `{name}` is empty")
    if _SURROGATE.search(text):
        raise Unreadable(f"{place}: `{name}` holds half of a surrogate pair")
    return text


class _Number(str):
    """The digits of a number, which is no text."""

    __slots__ = ()


def _parse(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_unique, parse_int=_Number, parse_float=_Number, parse_constant=_refuse)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Unreadable("a key stands twice in an object")
    return members


def _refuse(text: str) -> NoReturn:
    raise Unreadable(f"{text} is no JSON")
