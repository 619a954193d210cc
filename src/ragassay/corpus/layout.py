"""Text with declared gaps between its blocks: the output side of the HTML block walk.

Only white space is ever added. Between two pieces of text stands the widest gap that was asked for:
a space, a tab (table cells), a line break, a blank line (blocks), or two blank lines (before a heading).
"""

from __future__ import annotations

import re
from enum import IntEnum

_SPACES = re.compile(r"[ \t\n\f\r]+")


class Gap(IntEnum):
    """White space between two pieces of text, narrow to wide."""

    NONE = 0
    SPACE = 1
    CELL = 2
    LINE = 3
    BLOCK = 4
    HEADING = 5


_WRITTEN = {Gap.NONE: "", Gap.SPACE: " ", Gap.CELL: "\t", Gap.LINE: "\n", Gap.BLOCK: "\n\n", Gap.HEADING: "\n\n\n"}


class Layout:
    """Collects text; `inline` and `verbatim` add words, `gap` asks for white space before the next words."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._pending = Gap.NONE
        self._opened = False

    def gap(self, wanted: Gap) -> None:
        """Ask for at least this gap before the next text."""
        self._pending = max(self._pending, wanted)

    def open_item(self, wanted: Gap) -> None:
        """Begin a list item or cell after this gap; a block that opens it does not widen the gap."""
        self.gap(wanted)
        self._opened = True

    def open_block(self, wanted: Gap) -> None:
        """Begin a block: after this gap, unless an item or cell was opened right before."""
        if not self._opened:
            self.gap(wanted)

    def inline(self, text: str) -> None:
        """Add running text: runs of white space are one space, at a block's edge none."""
        words = _SPACES.sub(" ", text)
        if words == " ":
            self.gap(Gap.SPACE)
        elif words:
            if words[0] == " ":
                self.gap(Gap.SPACE)
            self._add(words.strip(" "))
            if words[-1] == " ":
                self.gap(Gap.SPACE)

    def verbatim(self, text: str) -> None:
        """Add preformatted text with its inner white space, without its first line break and trailing blanks."""
        kept = text.removeprefix("\n").rstrip(" \t\n\f\r")
        if kept.strip(" \t\n\f\r"):
            self._add(kept)

    def text(self) -> str:
        """Return everything added so far."""
        return "".join(self._pieces)

    def _add(self, words: str) -> None:
        if self._pieces:
            self._pieces.append(_WRITTEN[self._pending])
        self._pending = Gap.NONE
        self._opened = False
        self._pieces.append(words)
