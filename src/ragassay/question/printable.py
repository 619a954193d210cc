"""Text from a file as it may be shown, where nothing moves a cursor or turns a line around, and counts in words."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """Return `text` with control, format and line-breaking characters written as escapes."""
    return "".join(
        char if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") else f"\\u{ord(char):04x}"
        for char in text
    )


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: 1 question, 1,200 questions."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
