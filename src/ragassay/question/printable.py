"""Text from a file as it may be shown: nothing in it moves a cursor or turns a line around."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """Return `text` with control, format and line-breaking characters written as escapes."""
    return "".join(
        char if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") else f"\\u{ord(char):04x}"
        for char in text
    )
