"""A stream of bytes becomes numbered lines, none longer than a cap, and each line of JSON one object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import msgspec

from ragassay.question.foreign.seen import Kind, Seen

MAX_LINE = 16 * 1024 * 1024
"""The longest line that is read, in bytes: what a page of a corpus may have."""
_MARK = b"\xef\xbb\xbf"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a source: its name in messages, its bytes, how they are encoded, and where things are counted."""

    name: str
    stream: IO[bytes]
    seen: Seen
    encoding: str = "utf-8"

    def place(self, line: int) -> str:
        """Return the name of a line in messages."""
        return f"{self.name}:{line}"


def lines(source: Source, fault: Callable[[int, str], None], *, cap: int = MAX_LINE) -> Iterator[tuple[int, str]]:
    """Yield each line that is not blank, from 1, without its end; `fault` gets those that cannot be read."""
    number = 0
    while data := source.stream.readline(cap + 1):
        number += 1
        if len(data) > cap and not data.endswith(b"\n"):
            size = len(data)
            while rest := source.stream.readline(cap + 1):
                size += len(rest)
                if rest.endswith(b"\n"):
                    break
            fault(number, f"the line has {size:,} bytes, more than the {cap:,} allowed")
            continue
        if number == 1 and data.startswith(_MARK):
            data = data[len(_MARK) :]
        try:
            text = data.decode(source.encoding)
        except UnicodeDecodeError as error:
            bad = f"the byte 0x{data[error.start]:02x} at column {error.start + 1} is not {source.encoding.upper()}"
            fault(number, f"{bad}; save the file as UTF-8, or name its --encoding")
            continue
        if text.strip():
            yield number, text.rstrip("\r\n")


def objects(source: Source, kind: Kind) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the object on each line of a JSONL file; a line that holds none is a fault. Every line is counted."""

    def fault(number: int, reason: str) -> None:
        source.seen.saw(kind)
        source.seen.leave(kind, source.place(number), reason, fault=True)

    for number, text in lines(source, fault):
        try:
            value = msgspec.json.decode(text)
        except (ValueError, RecursionError) as error:
            fault(number, f"is no JSON: {error}")
            continue
        if isinstance(value, dict):
            source.seen.saw(kind)
            yield number, value
        else:
            fault(number, "is no JSON object")


def first_key(value: dict[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of these names that the object has with a value, None where it has none of them."""
    return next((name for name in names if value.get(name) is not None), None)


def as_id(value: object) -> str | None:
    """Return an id as text, None where it is neither a text nor a whole number."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def count_others(value: dict[str, Any], taken: Sequence[str], kind: Kind, seen: Seen) -> None:
    """Count the fields that are not taken and are not empty."""
    for name, member in value.items():
        if name not in taken and member not in (None, "", [], {}):
            seen.not_taken[f"{kind}.{name}"] += 1
