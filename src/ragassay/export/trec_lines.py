"""Words and scores as the files of TREC hold them. Pure.

A line of such a file is split at white space, so ids are escaped as in an address: `%` and whatever is white space or
cannot be printed becomes `%` and two hex digits per byte of UTF-8. `urllib.parse.unquote` gives the id back. Tools read
scores as 32-bit floats and sort by them, so scores fall strictly in that width, or the order would be lost.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from urllib.parse import quote

NOT_DELIVERED = "%not-delivered"
"""The document that qrels name where no delivered text holds the evidence; no id is escaped to it."""
EMPTY = "%"
"""How an empty id is written; `%` itself is written `%25`."""
_LARGEST = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def escaped(word: str) -> str:
    """Return an id as one word without white space, control characters or `%` of its own."""
    if word.isprintable() and "%" not in word and " " not in word:
        return word or EMPTY
    return "".join(quote(char, safe="") if _unsafe(char) else char for char in word) or EMPTY


def _unsafe(char: str) -> bool:
    return char == "%" or char.isspace() or not char.isprintable()


def falling(scores: Sequence[str | None]) -> tuple[list[str], int] | None:
    """Return scores in their order as words that fall strictly, and how many had to be lowered for that.

    A score that is not below the one before it, tied or out of order, becomes the next 32-bit float below that one.
    None where a score is unknown or where there is no float left below.
    """
    found: list[str] = []
    lowered, before = 0, None
    for score in scores:
        value = None if score is None else _narrow(float(score))
        if value is None or value != value:
            return None
        if before is not None and value >= before:
            value, lowered = _below(before), lowered + 1
        if value < -_LARGEST:
            return None
        found.append(f"{value:.9g}")
        before = value
    return found, lowered


def by_rank(count: int) -> list[str]:
    """Return `count` scores that say the order and nothing else: count, count - 1, …, 1."""
    return [str(count - at) for at in range(count)]


def _narrow(value: float) -> float:
    """Return the 32-bit float next to a number; what is too large becomes the largest."""
    try:
        narrow: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        narrow = _LARGEST if value > 0 else -_LARGEST
    return max(-_LARGEST, min(_LARGEST, narrow)) if value == value else value


def _below(value: float) -> float:
    """Return the next 32-bit float below a 32-bit float: of the same sign, its bits count up with its size."""
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    if value == 0.0:
        bits = -0x7FFFFFFF  # the smallest negative float
    else:
        bits += -1 if bits > 0 else 1
    below: float = struct.unpack("<f", struct.pack("<i", bits))[0]
    return below
