"""Declared text folds that keep the way back: every folded character knows the span it came from.

A fold changes how a text is written and never what it says; a match says which folds it needed. Offsets are
character indices into the original text, half-open.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

FoldName = Literal["whitespace", "quotes", "dashes", "invisible", "ligatures", "nfc", "nfkc", "case", "thousands"]

PRESENTATION: tuple[FoldName, ...] = ("nfc", "ligatures", "invisible", "quotes", "dashes", "whitespace")
"""Folds under which two texts still say the same words and digits; NFKC is not one (it turns 10² into 102)."""

LITERAL: tuple[FoldName, ...] = ("nfkc", "invisible", "quotes", "dashes", "case", "thousands", "whitespace")
"""What the literal judge folds before it looks for a literal."""

QUOTE: tuple[FoldName, ...] = ("case", "whitespace")
"""What a judge's quote may differ in from the answer that it quotes."""

_QUOTES = dict.fromkeys("‘’‚‛′ʼ´", "'") | dict.fromkeys("“”„‟″«»", '"')
_DASHES = dict.fromkeys("‐‑‒–—―−﹘﹣－", "-")
_INVISIBLE = dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u061c", "")
_LIGATURES = {chr(0xFB00 + i): text for i, text in enumerate(("ff", "fi", "fl", "ffi", "ffl", "st", "st"))}


class Folded(msgspec.Struct, frozen=True):
    """A folded text; `starts[i]`, `ends[i]` are the original span of folded character i."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original half-open span of the folded span [start, end), which must not be empty."""
        return self.starts[start], self.ends[end - 1]


class Match(msgspec.Struct, frozen=True):
    """Where a needle stands in a text, in original offsets, and the folds without which it would not match."""

    start: int
    end: int
    folds: tuple[FoldName, ...]

    @property
    def exact(self) -> bool:
        """True when no fold was needed."""
        return not self.folds


def fold(text: str, folds: Sequence[FoldName]) -> Folded:
    """Apply `folds` in their fixed order and keep, for each character, the original span it came from."""
    pieces: list[tuple[str, int, int]] = [(char, i, i + 1) for i, char in enumerate(text)]
    if not text.isascii():
        if "nfc" in folds or "nfkc" in folds:
            pieces = list(_normalised(text, "NFKC" if "nfkc" in folds else "NFC"))
        for name, table in (("ligatures", _LIGATURES), ("invisible", _INVISIBLE)):
            if name in folds:
                pieces = list(_mapped(pieces, table))
    if "quotes" in folds and not text.isascii():
        pieces = list(_mapped(pieces, _QUOTES))
    if "dashes" in folds and not text.isascii():
        pieces = list(_mapped(pieces, _DASHES))
    if "case" in folds:
        pieces = [(char, a, b) for piece, a, b in pieces for char in piece.casefold()]
    if "thousands" in folds:
        pieces = list(_without_thousands(pieces))
    if "whitespace" in folds:
        pieces = list(_collapsed(pieces))
    return Folded("".join(p[0] for p in pieces), [p[1] for p in pieces], [p[2] for p in pieces])


def _normalised(text: str, form: Literal["NFC", "NFKC"]) -> Iterator[tuple[str, int, int]]:
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and _continues(text[end]):
            end += 1
        for char in unicodedata.normalize(form, text[start:end]):
            yield char, start, end
        start = end


def _continues(char: str) -> bool:
    return unicodedata.category(char) in ("Mn", "Mc") or "\u1160" <= char <= "\u11ff"


def _mapped(pieces: list[tuple[str, int, int]], table: dict[str, str]) -> Iterator[tuple[str, int, int]]:
    for char, start, end in pieces:
        for replaced in table.get(char, char):
            yield replaced, start, end


def _collapsed(pieces: list[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    run: tuple[int, int] | None = None
    for char, start, end in pieces:
        if char.isspace():
            run = (run[0] if run else start, end)
            continue
        if run:
            yield " ", *run
            run = None
        yield char, start, end
    if run:
        yield " ", *run


def _without_thousands(pieces: list[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Drop a separator inside a number of groups of three: 2,000 and 2 000 and 12'500 become 2000 and 12500."""
    text = "".join(piece[0] for piece in pieces)
    index = 0
    while index < len(text):
        end = _grouped_number(text, index)
        for at in range(index, end or index + 1):
            if end is None or text[at].isdecimal():
                yield pieces[at]
        index = end or index + 1


_SEPARATORS = frozenset(",'_\u00a0\u202f\u2009 ")


def _grouped_number(text: str, start: int) -> int | None:
    """Return the end of a number with thousands groups that begins at `start`, or None."""
    if not text[start].isdecimal() or (start and (text[start - 1].isalnum() or text[start - 1] in ".,_")):
        return None
    head = start
    while head < len(text) and head - start < 4 and text[head].isdecimal():
        head += 1
    if head - start > 3 or head >= len(text) or text[head] not in _SEPARATORS:
        return None
    separator, end = text[head], head
    while (
        text[end : end + 1] == separator and text[end + 1 : end + 4].isdecimal() and len(text[end + 1 : end + 4]) == 3
    ):
        end += 4
    if end == head or text[end : end + 1].isdecimal() or text[end : end + 1] == "_":
        return None
    return end


@lru_cache(maxsize=4096)
def _folded(text: str, folds: tuple[FoldName, ...]) -> Folded:
    return fold(text, folds)


def find(needle: str, haystack: str, folds: Sequence[FoldName] = PRESENTATION) -> Match | None:
    """Find `needle` in `haystack`: exactly, else under the fewest of `folds` that make it match, else None."""
    at = haystack.find(needle)
    if at >= 0 and needle:
        return Match(at, at + len(needle), ())
    if (found := _find_under(needle, haystack, tuple(folds))) is None:
        return None
    needed = tuple(folds)
    for name in folds:
        fewer = tuple(f for f in needed if f != name)
        if fewer != needed and (without := _find_under(needle, haystack, fewer)) is not None:
            needed, found = fewer, without
    return Match(*found, needed)


def _find_under(needle: str, haystack: str, folds: tuple[FoldName, ...]) -> tuple[int, int] | None:
    wanted = fold(needle, folds).text.strip()
    folded = _folded(haystack, folds)
    at = folded.text.find(wanted)
    return folded.span(at, at + len(wanted)) if wanted and at >= 0 else None


def quotes_of(text: str) -> Callable[[str], bool]:
    """Return what tells whether a quote stands in `text` as `find` under `QUOTE` says, quickly and without a place.

    `text` is folded once at most.
    """
    folded: list[str] = []

    def stands(quote: str) -> bool:
        if not quote.strip():
            return False
        if quote in text:
            return True
        if not folded:
            folded.append(_quoted(text))
        return _quoted(quote) in folded[0]

    return stands


def _quoted(text: str) -> str:
    return " ".join(text.casefold().split())
