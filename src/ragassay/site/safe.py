"""Text from a run is shown as text: what steers a terminal, hides or reorders is written out instead. Pure."""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufeff\uffa0\ufff9-\ufffc\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""C0 and C1 controls but tab and line feed, zero-width, bidirectional and tag characters, line breaks, surrogates, and
letters and symbols that show nothing."""


def visible(text: str) -> str:
    """Return `text` with every steering character written as [U+202E]; tabs and line feeds stay."""
    return STEERING.sub(lambda found: f"[U+{ord(found.group()):04X}]", text)


def one_line(text: str) -> str:
    """Return `text` visible and on one line, runs of white space collapsed."""
    return " ".join(visible(text).split())


def shortened(text: str, most: int) -> str:
    """Return `text` on one line, its end replaced by … where it has more than `most` characters."""
    line = one_line(text[: 4 * most])
    return line if len(line) <= most and len(text) <= 4 * most else line[:most] + "…"


def fitted(text: str, width: int, *, right: bool = False) -> str:
    """Return `text` on one line in exactly `width` terminal cells, cut with … where it is longer."""
    line = one_line(text)
    if cell_len(line) > width:
        return set_cell_size(line, width - 1) + "…" if width > 0 else ""
    room = " " * (width - cell_len(line))
    return room + line if right else line + room
