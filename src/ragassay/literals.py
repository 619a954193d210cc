"""Where a short literal stands in a text, and what literals say of a claim: pure, deterministic, no model.

A literal is looked for after the folds of `fold.LITERAL` (NFKC, invisible characters, quotes, dashes, case, thousands
separators, whitespace). Two boundary rules are applied to the folded literal:

- one to four ASCII letters or digits without spaces stand as a whole word;
- a literal that begins or ends with a digit touches no other digit there, nor `.` or `,` followed by one.

One thing is kept out of NFKC: a character of Unicode category No (superscript, subscript, fraction, circled number) is
compared as it is written and counts as a digit at a boundary, so that 10² contains neither 102 nor 10.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from ragassay.errors import InputError
from ragassay.fold import LITERAL, Folded, fold
from ragassay.records import Claim, VerdictWord

Span = tuple[int, int]
"""Half-open character offsets into the original text."""

_SHORT = re.compile(r"[a-z0-9]{1,4}", re.ASCII)
_KEPT = 0xF0000
"""Where characters of category No are parked (private use planes) while NFKC runs."""


def hits(literal: str, text: str) -> Span | None:
    """Return the original span of the first hit of `literal` in `text`, or None; a blank literal hits nothing."""
    wanted = _folded(literal).text
    if not wanted.strip():
        return None
    folded = _folded(text)
    at = folded.text.find(wanted)
    while at >= 0:
        if _stands_alone(folded.text, at, at + len(wanted)):
            return folded.span(at, at + len(wanted))
        at = folded.text.find(wanted, at + 1)
    return None


def first_hit(literals: Sequence[str], text: str) -> Span | None:
    """Return the earliest hit of any of `literals` (the longer one of two that begin together), or None."""
    found = [span for literal in literals if (span := hits(literal, text)) is not None]
    return min(found, key=lambda span: (span[0], -span[1])) if found else None


def judgeable(claim: Claim) -> bool:
    """Return whether the claim carries literals: `must` is not empty, and no list in it holds only blanks."""
    return bool(claim.must) and all(any(literal.strip() for literal in choices) for choices in claim.must)


def judge_claim(claim: Claim, text: str) -> tuple[VerdictWord, Span | None]:
    """Return SUPPORTS, CONTRADICTS or OMITS, and the original span that shows it (None for OMITS).

    SUPPORTS: every list of `must` has a hit; its span runs from the first to the last of them. Otherwise a hit of any
    literal of `must_not` is CONTRADICTS. Raises `InputError` for a claim without literals.
    """
    if not judgeable(claim):
        raise InputError(f"claim {claim.id} carries no literals (`must` is empty); give it some or take an llm judge")
    found = [first_hit(choices, text) for choices in claim.must]
    spans = [span for span in found if span is not None]
    if len(spans) == len(found):
        return "SUPPORTS", (min(start for start, _ in spans), max(end for _, end in spans))
    if (denied := first_hit(claim.must_not, text)) is not None:
        return "CONTRADICTS", denied
    return "OMITS", None


@lru_cache(maxsize=1024)
def _folded(text: str) -> Folded:
    if not text.isascii():
        text = "".join(chr(_KEPT + ord(char)) if unicodedata.category(char) == "No" else char for char in text)
    return fold(text, LITERAL)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether the boundary rules hold for the folded hit [start, end)."""
    wanted, before, after = text[start:end], text[max(start - 2, 0) : start], text[end : end + 2]
    if _SHORT.fullmatch(wanted) and (_in_word(before[-1:]) or _in_word(after[:1])):
        return False
    if _digit(wanted[0]) and _touches_number(before[::-1]):
        return False
    return not (_digit(wanted[-1]) and _touches_number(after))


def _touches_number(outward: str) -> bool:
    """Return whether the next two characters outward are a digit, or a separator and a digit."""
    return _digit(outward[:1]) or (outward[:1] in (".", ",") and _digit(outward[1:2]))


def _digit(char: str) -> bool:
    return char.isdigit() or (char != "" and ord(char) >= _KEPT)


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_" or (char != "" and (ord(char) >= _KEPT or unicodedata.combining(char) > 0))
