"""Where a text stands in another as whole words: exactly, or under presentation folds with the way back.

The one rule by which evidence is found, in a page of the corpus and in what was delivered.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

import msgspec

from ragassay import fold
from ragassay.fold import Match

_CONTEXT = 8
"""Characters beside a match that decide whether it cuts a word."""
_HYPHENS = "-_\u2010\u2011"


class Occurrences(msgspec.Struct, frozen=True, kw_only=True):
    """The first whole occurrence, how many whole ones there are, and the first inside a longer word or number."""

    first: Match | None
    count: int
    inside: Match | None


class Searched:
    """A text that is searched many times: what it says without its presentation is worked out once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def said(self) -> str:
        """The text under all presentation folds, without offsets."""
        return said(self.text)

    @cached_property
    def folded(self) -> fold.Folded:
        """The text under all presentation folds, with offsets."""
        return fold.fold(self.text, fold.PRESENTATION)

    def find(self, wanted: str) -> Occurrences:
        """Look for `wanted`: exact occurrences win; only without a whole one the text is searched under folds.

        Offsets are characters of the text itself.
        """
        text = self.text
        exact = _sorted_out(
            wanted, text, ((at, at + len(wanted), at, at + len(wanted)) for at in _starts(wanted, text)), text
        )
        words = said(wanted)
        if exact.first or not words or words not in self.said:
            return exact
        folded = _sorted_out(wanted, text, self._under_folds(wanted, words), self.folded.text)
        return Occurrences(first=folded.first, count=folded.count, inside=exact.inside or folded.inside)

    def _under_folds(self, wanted: str, words: str) -> Iterator[tuple[int, int, int, int]]:
        for at in _starts(words, self.folded.text):
            start, end = self.folded.span(at, at + len(words))
            if not self.text.startswith(wanted, start) or end - start != len(wanted):
                yield start, end, at, at + len(words)


def _sorted_out(wanted: str, text: str, spans: Iterable[tuple[int, int, int, int]], searched: str) -> Occurrences:
    """Sort spans (in `text`, and in the `searched` form of it) by whether they cut a word."""
    first = inside = None
    count = 0
    for start, end, begins, ends in spans:
        if _cuts(searched, begins, ends):
            inside = inside or _match(wanted, text, start, end)
        else:
            first = first or _match(wanted, text, start, end)
            count += 1
    return Occurrences(first=first, count=count, inside=inside)


def _match(wanted: str, text: str, start: int, end: int) -> Match:
    found = text[start:end]
    return Match(start, end, () if found == wanted else _needed(wanted, found))


def said(text: str) -> str:
    """Return what `text` says: the same as `fold(text, PRESENTATION)`, outer space dropped, without offsets."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        for char in set(text):
            if not char.isascii() and (shown := _shown(char)) != char:
                text = text.replace(char, shown)  # what is shown is ASCII, so that the order does not matter
    return " ".join(text.split())


def inside_word(left: str, right: str) -> bool:
    """True when the boundary between `left` and `right` lies inside a word or a number.

    Letters and digits that touch, a combining mark, a hyphen or underscore between letters or digits, `n't`, and a
    point or comma between digits hold a word together. Scripts without letter case, which may be written without
    spaces, never do.
    """
    left, right = _visible(left), _visible(right)
    if not left or not right:
        return False
    before, after = left[-1], right[0]
    if unicodedata.combining(after) or (_in_word(before) and _in_word(after)):
        return True
    beyond, behind = right[1:2], left[-2:-1]
    if (after in _HYPHENS and _in_word(before) and _in_word(beyond)) or (
        before in _HYPHENS and _in_word(after) and _in_word(behind)
    ):
        return True
    if (after in ".," and before.isdigit() and beyond.isdigit()) or (
        before in ".," and after.isdigit() and behind.isdigit()
    ):
        return True
    return before.isalpha() and after in "'’" and beyond in ("t", "T") and not _in_word(right[2:3])


def _starts(wanted: str, text: str) -> Iterator[int]:
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _cuts(text: str, start: int, end: int) -> bool:
    return any(inside_word(text[max(0, at - _CONTEXT) : at], text[at : at + _CONTEXT]) for at in (start, end))


def _needed(wanted: str, found: str) -> tuple[fold.FoldName, ...]:
    needed = fold.PRESENTATION
    for name in fold.PRESENTATION:
        fewer = tuple(other for other in needed if other != name)
        if fold.fold(wanted, fewer).text.strip() == fold.fold(found, fewer).text.strip():
            needed = fewer
    return needed or ("whitespace",)


def _in_word(char: str) -> bool:
    return char.isdigit() or (char.isalpha() and char.lower() != char.upper())


def _visible(text: str) -> str:
    return text if text.isascii() else "".join(map(_unless_invisible, text))


@lru_cache(maxsize=65_536)
def _unless_invisible(char: str) -> str:
    return fold.fold(char, ("invisible",)).text


@lru_cache(maxsize=65_536)
def _shown(char: str) -> str:
    return fold.fold(char, ("ligatures", "invisible", "quotes", "dashes")).text
