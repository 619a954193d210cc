"""A Vectorize metadata filter over what a chunk knows of itself: its page, and where on the page it stands."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ragassay.errors import InputError
from ragassay.records import JSON, Chunk

PROPERTIES: Mapping[str, str] = {"page": "string", "start": "number", "end": "number"}
"""What a filter can name, with the type of its metadata index."""

_ONE = ("$eq", "$ne")
_LISTS = ("$in", "$nin")
_RANGES = ("$lt", "$lte", "$gt", "$gte")
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$in": lambda value, wanted: value in wanted,
    "$nin": lambda value, wanted: value not in wanted,
    "$lt": operator.lt,
    "$lte": operator.le,
    "$gt": operator.gt,
    "$gte": operator.ge,
}
_MAX_BYTES = 2048
_INDEXED_BYTES = 64


def checked_filter(given: Mapping[str, Any] | None) -> list[str]:
    """Return what is wrong with a filter; an empty list where it can be sent."""
    if given is None:
        return []
    if not given:
        return ["filter is empty; leave it out"]
    problems = []
    for name, condition in given.items():
        if name not in PROPERTIES:
            problems.append(f"filter.{name}: a chunk has no such property; known are {', '.join(sorted(PROPERTIES))}")
        elif isinstance(condition, Mapping):
            problems += [] if condition else [f"filter.{name} is empty; leave it out"]
            problems += [fault for op, value in condition.items() if (fault := _fault(name, str(op), value))]
        elif not _of_type(name, condition):
            problems.append(f"filter.{name} must be a {PROPERTIES[name]} or a table of conditions")
    if not problems and len(msgspec.json.encode(dict(given))) >= _MAX_BYTES:
        problems.append(f"filter must be less than {_MAX_BYTES} bytes of JSON")
    return problems


def metadata_of(given: Mapping[str, Any] | None, chunks: Sequence[Chunk]) -> list[JSON]:
    """Return each chunk's properties that the filter names, an empty list without a filter.

    Raises `InputError` for a page whose name is longer than what is indexed of a text: it would be taken for another.
    """
    if given is None:
        return []
    long = sorted({chunk.page for chunk in chunks if len(chunk.page.encode()) > _INDEXED_BYTES})
    if "page" in given and long:
        raise InputError(
            f"Vectorize filters by the first {_INDEXED_BYTES} bytes of a text, and these pages have longer names", long
        )
    return [{name: getattr(chunk, name) for name in sorted(given)} for chunk in chunks]


def let_through(given: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Tell whether a filter lets a vector with this metadata through, by the documented meaning of its operators."""
    for name, condition in given.items():
        conditions = condition if isinstance(condition, Mapping) else {"$eq": condition}
        if not all(_COMPARED[op](metadata[name], value) for op, value in conditions.items()):
            return False
    return True


def _fault(name: str, op: str, value: object) -> str | None:
    place = f"filter.{name}.{op}"
    if op in _LISTS:
        usable = isinstance(value, list | tuple) and value and all(_of_type(name, one) for one in value)
        return None if usable else f"{place} must be a list of {PROPERTIES[name]}s"
    if op in (*_ONE, *_RANGES):
        return None if _of_type(name, value) else f"{place} must be a {PROPERTIES[name]}"
    return f"{place}: there is no such operator; known are {', '.join((*_ONE, *_LISTS, *_RANGES))}"


def _of_type(name: str, value: object) -> bool:
    """Tell whether a value is of the property's type; numbers are whole, texts are no longer than what is indexed."""
    if PROPERTIES[name] == "number":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str) and bool(value) and len(value.encode()) <= _INDEXED_BYTES
