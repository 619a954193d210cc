"""Text from outside as a judge sees it: nothing invisible, inside a JSON string; and quotes found back in it.

Removed are control characters (tab, line feed and carriage return stay), format characters (zero-width, bidirectional,
soft hyphen, tags), variation selectors, the combining grapheme joiner and lone surrogates.
"""

from __future__ import annotations

import json
import unicodedata
from functools import lru_cache

from ragassay.fold import QUOTE, find

MAX_CHARS = 100_000
"""An answer or retrieved text is shown to a judge up to here, in characters; recorded in the judge's description."""


class _Removed(dict[int, int | None]):
    """A translation table that decides each character when it first meets it."""

    def __missing__(self, code: int) -> int | None:
        kept = None if _is_invisible(code) else code
        self[code] = kept
        return kept


def _is_invisible(code: int) -> bool:
    if code in (0x09, 0x0A, 0x0D):
        return False
    if code == 0x034F or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF:
        return True
    return unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs")


_REMOVED = _Removed()


@lru_cache(maxsize=64)
def visible(text: str) -> str:
    """Return `text` without its invisible characters."""
    return text.translate(_REMOVED)


def quoted(text: str) -> str:
    """Return the visible part of `text`, cut at `MAX_CHARS`, as one JSON string on one line."""
    return json.dumps(visible(text)[:MAX_CHARS], ensure_ascii=False)


def extent(text: str) -> str:
    """Return how much of `text` is shown, in words for the prompt."""
    total = len(visible(text))
    return f"{total} characters" if total <= MAX_CHARS else f"the first {MAX_CHARS} of {total} characters"


def quote_span(quote: str, answer: str) -> tuple[int, int, tuple[str, ...]] | None:
    """Return where `quote` stands in the original `answer` and which folds that took, or None (as for a blank quote).

    Declared folds: case, white space, and invisible characters, which the judge was not shown.
    """
    shown = visible(answer)
    wanted = visible(quote)
    if not wanted.strip() or (match := find(wanted, shown, QUOTE)) is None:
        return None
    if len(shown) == len(answer):
        return match.start, match.end, match.folds
    places = [at for at, char in enumerate(answer) if _REMOVED[ord(char)] is not None]
    start, end = places[match.start], places[match.end - 1] + 1
    folds = match.folds if end - start == match.end - match.start else (*match.folds, "invisible")
    return start, end, folds
