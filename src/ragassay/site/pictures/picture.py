"""A picture as the pages take it: one SVG for wide pages, one for narrow ones, and the same in words and as a table."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec
from markupsafe import Markup
from rich.cells import cell_len

from ragassay.site.numbers import listed
from ragassay.site.pictures.library import places
from ragassay.site.pictures.marks import Frame, Mark
from ragassay.site.pictures.svg import svg
from ragassay.site.record import BoardRow
from ragassay.site.safe import one_line

WIDE, NARROW = 720, 340
"""Natural widths in px: the pages show the narrow picture below 48rem."""
NARROW_LETTERS, WIDE_LETTERS = frozenset("iljtfrI.,:;'|!()[]/ "), frozenset("mwMW@%—…")
LONGEST = 40
"""Characters of a name in a sentence."""


class Twin(msgspec.Struct, frozen=True, kw_only=True):
    """What a picture shows, as a table; every cell is a finished string, and `–` is unknown."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A drawing with its text twin; `svg` is empty where there is nothing to draw, and `description` says so."""

    svg: Markup
    """Both drawings, wide and narrow; the style sheet shows one of them."""
    title: str
    description: str
    """What it shows, in numbers; also what a screen reader says."""
    twin: Twin
    note: str = ""
    """How to read it; printed below the drawing."""


Drawing = Callable[[int], tuple[Frame, Sequence[Mark]]]
"""From a width in px to a frame and its marks."""


def picture(drawing: Drawing | None, *, seed: str, title: str, description: str, twin: Twin, note: str = "") -> Picture:
    """Return a picture drawn at both widths, the same bytes for the same input.

    Its ids are made from its words and `seed`, which tells pictures of equal words in one page apart.
    """
    words = msgspec.json.encode((seed, *(one_line(cell) for row in twin.rows for cell in row)))
    identity = hashlib.sha256(words).hexdigest()[:10]
    parts = []
    for width, name in ((WIDE, "wide"), (NARROW, "narrow")):
        if drawing is None:
            continue
        frame, marks = drawing(width)
        found = places(marks, frame)
        named = f"pic-{identity}-{name[0]}"
        parts.append(svg(frame, marks, found, identity=named, name=name, title=title, description=description))
    drawn = Markup("").join(parts)
    return Picture(svg=drawn, title=title, description=description, twin=twin, note=note if parts else "")


def cut(words: str, room: float) -> str:
    """Return `words` on one line, its end replaced by … where it would take more than `room` px."""
    line = one_line(words[:1000])
    if sum(map(_px, line)) <= room:
        return line
    used, kept = _px("…"), []
    for letter in line:
        used += _px(letter)
        if used > room:
            break
        kept.append(letter)
    return "".join(kept).rstrip() + "…"


def _px(letter: str) -> float:
    """Return what a letter takes at most in the widest of the fonts that systems use by default, at a text's size."""
    if letter in NARROW_LETTERS:
        return 4.8
    if letter in WIDE_LETTERS:
        return 12.0
    return 13.0 if cell_len(letter) > 1 else 9.2 if letter.isupper() else 7.7


def row_names(rows: Iterable[BoardRow]) -> dict[str, str]:
    """Return what each row is called, by its key; rows of equal names carry 8 digits of what they measure."""
    found = {row.key: (one_line(row.name), row.measure[:8]) for row in rows}
    counts = Counter(name for name, _ in found.values())
    return {
        key: f"{name} ({measure})" if counts[name] > 1 and measure else name for key, (name, measure) in found.items()
    }


def some(names: Sequence[str], most: int = 6) -> str:
    """Write names as a list of words, each cut where it is long, the last ones as a count where there are many."""
    short = [name if len(name) <= LONGEST else name[: LONGEST - 1] + "…" for name in names]
    if len(short) > most:
        short = [*short[: most - 1], f"{len(short) - most + 1} more"]
    return listed(short)
