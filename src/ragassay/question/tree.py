"""Text becomes plain JSON values, and everything in it that a canonical document cannot hold is named by place."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from ragassay import canon

MAX_BYTES = 64 * 1024 * 1024
"""The largest question file that is read, in bytes."""


class _Object(dict[str, Any]):
    """A JSON object that remembers which of its keys stood more than once."""

    twice: tuple[str, ...] = ()


class _Number(str):
    """The text of a number that is no integer within ±(2^53 - 1)."""


def decode(data: bytes) -> str:
    """Return the text of a UTF-8 file without its byte order mark; `ValueError` says what the bytes are instead."""
    if len(data) > MAX_BYTES:
        raise ValueError(f"the file has {len(data)} bytes, more than the {MAX_BYTES} allowed; split the set")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError("the file is UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: the byte 0x{data[error.start]:02x} is not UTF-8; save it as UTF-8") from error


def parse(text: str, place: str, problems: list[str]) -> Any:
    """Return the value of a JSON text as plain dicts and lists; each problem found is added with its place.

    `ValueError` where the text is no JSON at all. Duplicate keys, fractional numbers, integers beyond ±(2^53 - 1),
    lone surrogates and nesting deeper than 64 levels are problems; the value then holds None in their place.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_float=_Number, parse_constant=_Number, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise ValueError(f"nested deeper than {canon.MAX_DEPTH} levels") from error
    return _plain(value, place, problems, canon.MAX_DEPTH)


def join(place: str, key: str) -> str:
    """Return the place of `key` inside `place`."""
    return f"{place}{'' if not place or place.endswith(' ') else '.'}{key}"


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    if len(made) != len(pairs):
        made.twice = tuple(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
    return made


def _integer(text: str) -> int | _Number:
    if len(text) > 17 or text == "-0" or abs(int(text)) > canon.MAX_INTEGER:
        return _Number(text)
    return int(text)


def _plain(value: Any, place: str, problems: list[str], depth: int) -> Any:
    where = place.rstrip(" :,") or "the file"
    if isinstance(value, _Number):
        problems.append(f"{where}: the number {value[:40]} is no integer within ±(2^53 - 1); write it as a string")
        return None
    if isinstance(value, str):
        return _text(value, where, problems)
    if isinstance(value, dict | list) and depth == 0:
        problems.append(f"{where}: nested deeper than {canon.MAX_DEPTH} levels")
        return None
    if isinstance(value, _Object):
        problems.extend(f"{where}: the key {name!r} stands twice in one object" for name in value.twice)
        return {
            _text(name, where, problems): _plain(member, join(place, name), problems, depth - 1)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [_plain(member, f"{place}[{i}]", problems, depth - 1) for i, member in enumerate(value)]
    return value


def _text(value: str, where: str, problems: list[str]) -> str:
    if value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value):
        return value
    problems.append(f"{where}: holds half of a surrogate pair, which no UTF-8 file can carry")
    return value.encode("utf-8", "replace").decode()
