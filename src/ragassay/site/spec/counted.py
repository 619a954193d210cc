"""Counts in sentences: 36 of 36 questions name no reviewer, 1 of 36 names none. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragassay.site.numbers import plural
from ragassay.site.spec.document import Said, Span, series

NAMED = 6
"""Ids or names that are spelled out; the others are counted."""


def of_all(count: int, total: int, noun: str, one: str, many: str) -> str:
    """Return '3 of 36 questions name', '1 of 36 questions names': the verb follows the count."""
    return f"{count:,} of {plural(total, noun)} {one if count == 1 else many}"


WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def word(count: int) -> str:
    """Return a count up to twelve in words, a larger one in figures."""
    return WORDS[count] if count < len(WORDS) else f"{count:,}"


def spelled(count: int, noun: str, many: str | None = None) -> str:
    """Return a count up to twelve in words, a larger one in figures, with its noun: four topics."""
    return f"{word(count)} {noun if count == 1 else many or noun + 's'}"


def opening(text: str) -> str:
    """Return text with its first letter in upper case, as it begins a sentence."""
    return text[:1].upper() + text[1:]


def verb(count: int, one: str, many: str) -> str:
    """Return the word that goes with a count."""
    return one if count == 1 else many


def some(names: Sequence[Said], most: int = NAMED) -> tuple[Span, ...]:
    """Return the first `most` names as a list in words, and how many more there are."""
    rest = len(names) - most
    return series([*names[:most], *([f"{rest:,} more"] if rest > 0 else [])])


def shares(values: Sequence[str | None]) -> list[tuple[str, int]]:
    """Return each value with how often it occurs, the most frequent first, then in the order of their first."""
    found = Counter(value for value in values if value)
    return found.most_common()
