"""Text from a run is shown as text: what steers a terminal, hides or reorders is written out instead. Pure."""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""C0 and C1 controls but tab and line feed, zero-width, bidirectional and tag characters, line breaks, surrogates."""


def visible(text: str) -> str:
    """Return `text` with every steering character written as [U+202E]; tabs and line feeds stay."""
    return STEERING.sub(lambda found: f"[U+{ord(found.group()):04X}]", text)


def one_line(text: str) -> str:
    """Return `text` visible and on one line, runs of white space collapsed."""
    return " ".join(visible(text).split())


def fitted(text: str, width: int, *, right: bool = False) -> str:
    """Return `text` on one line in exactly `width` terminal cells, cut with … where it is longer."""
    line = one_line(text)
    if cell_len(line) > width:
        return set_cell_size(line, width - 1) + "…" if width > 0 else ""
    room = " " * (width - cell_len(line))
    return room + line if right else line + room
