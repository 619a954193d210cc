"""Long texts are searched in short pieces, so that no pattern takes more than a moment on any text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

PIECE = 1_000
OVERLAP = 200
"""A match of up to `OVERLAP` characters is found wherever a text is cut."""
_REACH = 200
"""How far a cut is moved to stand at white space; a longer word is cut."""

_SPACE = re.compile(r"\s")


def pieces(
    text: str, start: int = 0, end: int | None = None, *, size: int = PIECE, overlap: int = OVERLAP
) -> Iterator[tuple[int, str]]:
    """Yield (offset, piece) over `text[start:end]`: pieces of about `size` characters that overlap."""
    end = len(text) if end is None else end
    reach = min(_REACH, size // 4)
    while end - start > size:
        cut = _cut_after(text, start + size, end, reach)
        yield start, text[start:cut]
        start = max(start + 1, _cut_before(text, cut - overlap, reach))
    yield start, text[start:end]


def around(
    text: str, anchor: re.Pattern[str], before: int, after: int, *, size: int = PIECE
) -> Iterator[tuple[int, str]]:
    """Yield (offset, piece) over the surroundings of every match of `anchor`; surroundings that touch are joined."""
    low = high = -1
    for match in anchor.finditer(text):
        start = _cut_before(text, max(0, match.start() - before))
        end = _cut_after(text, match.end() + after, len(text))
        if start > high and high >= 0:
            yield from pieces(text, low, high, size=size)
        low, high = (low, max(high, end)) if 0 <= start <= high else (start, end)
    if high >= 0:
        yield from pieces(text, low, high, size=size)


def _cut_after(text: str, at: int, end: int, reach: int = _REACH) -> int:
    """Return the first white space from `at` on, within reach, else `at`; never beyond `end`."""
    if at >= end:
        return end
    space = _SPACE.search(text, at, min(end, at + reach))
    return space.start() if space else at


def _cut_before(text: str, at: int, reach: int = _REACH) -> int:
    """Return the place after the last white space before `at`, within reach, else `at`; 0 where the text begins."""
    low = max(0, at - reach)
    for place in range(at, low, -1):
        if text[place - 1].isspace():
            return place
    return at if low > 0 else 0
