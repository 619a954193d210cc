"""One picture per ranked row of a public board, to be shown elsewhere: name, score, interval, verified. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ragassay.site.numbers import bracket, exact
from ragassay.site.page import Placed, Site
from ragassay.site.record import BoardRow
from ragassay.site.render import environment
from ragassay.site.safe import shortened

CHARACTER = 7
"""px that one character takes at most on average in the badge's font."""
LONGEST = 40
"""Characters of a row's name; a longer one is cut with …"""
PADDING = 12


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a badge: its text, where it begins and how wide it is, in px."""

    text: str
    x: int
    width: int

    @property
    def middle(self) -> int:
        """Return where its text is centred."""
        return self.x + self.width // 2


def badges(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield `badges/<row>.svg` for each ranked row of the first table; a preview has none."""
    for placed in site.tables[:1]:
        for row in placed.table.rows:
            if (path := badge_path(site, placed, row)) is not None:
                score = f"{exact(row.score)} {bracket(row.interval)}".strip()
                yield path, badge((shortened(row.name, LONGEST), score, "verified"))


def badge_path(site: Site, placed: Placed, row: BoardRow) -> str | None:
    """Return where a row's badge stands, None for a row that has none."""
    if not site.public or not placed.table.main or row.standing != "ranked" or row.score is None:
        return None
    name = placed.paths.rows[row.key].rpartition("/")[2].removesuffix(".html")
    return f"badges/{name}.svg"


def badge(texts: tuple[str, ...]) -> bytes:
    """Return an SVG with one field per text; it loads nothing, and the texts are its name for a screen reader."""
    parts, at = [], 0
    for text in texts:
        width = len(text) * CHARACTER + 2 * PADDING
        parts.append(Part(text=text, x=at, width=width))
        at += width
    found = environment().get_template("badge.svg")
    return found.render(parts=parts, width=at, title=": ".join((texts[0], ", ".join(texts[1:])))).encode("utf-8")
