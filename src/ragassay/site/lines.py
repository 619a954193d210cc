"""A text as lines of a terminal. Pure."""

from __future__ import annotations

from rich.cells import cell_len, chop_cells

from ragassay.site.safe import one_line


def wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    """Return a text as lines of at most `width` terminal cells, further lines indented; long words are cut."""
    lines: list[str] = []
    line = ""
    for word in one_line(text).split(" "):
        if line and cell_len(line) + 1 + cell_len(word) <= width:
            line = f"{line} {word}"
            continue
        pieces = chop_cells(word, width - len(indent)) if word else [""]
        lines += [line] if line else []
        lines += [(indent if lines else "") + piece for piece in pieces[:-1]]
        line = (indent if lines else "") + pieces[-1]
    return [*lines, line]
