"""Text from outside as a judge sees it: nothing invisible, inside a JSON string; and quotes found back in it.

Removed are control characters (tab, line feed and carriage return stay), format characters (zero-width, bidirectional,
soft hyphen, tags), lone surrogates, and whatever else Unicode lets a display ignore: variation selectors, joiners,
fillers.

Written as JSON escapes, so that the text is the same and the characters are not, are the two Unicode line separators
and the first or last bracket of what chat templates use as turn tokens: servers are known to read those as such inside
a message too.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ragassay.fold import QUOTE, find

MAX_CHARS = 100_000
"""An answer or retrieved text is shown to a judge up to here, in characters; recorded in the judge's description."""


ENCODING = "visible-json/2"
"""How text from outside is put into a prompt; a change of it gives the judge other bytes, and so is its identity."""


_ONE_LINE = json.JSONEncoder(ensure_ascii=False).encode


class _Removed(dict[int, int | None]):
    """A translation table that decides each character when it first meets it."""

    def __missing__(self, code: int) -> int | None:
        kept = None if _is_invisible(code) else code
        self[code] = kept
        return kept


_IGNORABLE = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Unicode's Default_Ignorable_Code_Point as far as the categories Cc, Cf and Cs do not hold it."""

_TURN_TOKEN = re.compile(
    r"<(?=[|｜])|(?<=[|｜])>"  # <|im_start|>, <|eot_id|>, and DeepSeek's with wide bars
    r"|<(?i:(?=/?(?:s|bos|eos|pad|unk|mask|think|system|user|assistant|[a-z]+(?:_[a-z]+)+)>))"  # <start_of_turn>
    r"|<(?=</?SYS>>)"
    r"|\[(?=/?[A-Z][A-Z_]{2,40}\])"  # [INST], [SYSTEM_PROMPT], [TOOL_CALLS]
)
_NAMED = re.compile(r"\[/?[A-Z]")
"""What each turn token in square brackets begins with."""
_LINE_SEPARATOR = re.compile("[\u2028\u2029]")


def _is_invisible(code: int) -> bool:
    if code in (0x09, 0x0A, 0x0D):
        return False
    if any(first <= code <= last for first, last in _IGNORABLE):
        return True
    return unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs")


_REMOVED = _Removed()


@lru_cache(maxsize=64)
def visible(text: str) -> str:
    """Return `text` without its invisible characters."""
    return text.translate(_REMOVED)


def is_blank(text: str) -> bool:
    """Return whether `text` shows nothing: only white space, the blank of braille and invisible characters."""
    return not visible(text).replace("\u2800", " ").strip()


def material(parts: Mapping[str, Any]) -> str:
    """Return `parts` (strings, integers, lists and objects) as JSON over several lines, every string made visible."""
    return _inert(_written(parts, "\n"))


def quoted(text: str) -> str:
    """Return the visible part of `text`, cut at `MAX_CHARS`, as one JSON string on one line."""
    return _inert(_ONE_LINE(visible(text)[:MAX_CHARS]))


def listed(text: str) -> str:
    """Return `quoted(text)`, followed by how much that is where it was cut."""
    total = len(visible(text))
    return quoted(text) if total <= MAX_CHARS else f"{quoted(text)} ({extent(text)})"


def _written(value: Any, line: str) -> str:
    """Return JSON as `json.dumps` writes it with an indent of 1, strings made visible; `line` begins a line here."""
    if isinstance(value, str):
        return _ONE_LINE(visible(value))
    inner = line + " "
    if isinstance(value, Mapping) and value:
        members = [f"{_ONE_LINE(key)}: {_written(member, inner)}" for key, member in value.items()]
        return "{" + inner + f",{inner}".join(members) + line + "}"
    if isinstance(value, list | tuple) and value:
        return "[" + inner + f",{inner}".join([_written(member, inner) for member in value]) + line + "]"
    return _ONE_LINE(value)


def _inert(encoded: str) -> str:
    """Return JSON that says the same with the characters escaped on which a line or a turn could end."""
    if encoded.isascii() and "<" not in encoded and ">" not in encoded and not _NAMED.search(encoded):
        return encoded
    escaped = _TURN_TOKEN.sub(lambda match: f"\\u{ord(match[0]):04x}", encoded)
    return _LINE_SEPARATOR.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped)


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
