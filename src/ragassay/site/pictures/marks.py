"""What a picture is drawn of: marks in the units of its data, and the frame that says which units those are. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

Ink: TypeAlias = Literal["ink", "soft", "rule", "accent", "band", "paper"]
"""A colour by its use: the page's custom property of that name, so that it follows light, dark and print."""
Kind: TypeAlias = Literal["band", "line", "step", "dot", "text"]
Anchor: TypeAlias = Literal["start", "middle", "end"]

SMALL = 12.0
"""Size of every text in a picture, in px at its natural width."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to draw; `x` and `y` are in data units, every other length in px.

    A band has two corners, a line two ends, a step its points from left to right, a dot and a text one point.
    """

    kind: Kind
    x: tuple[float, ...]
    y: tuple[float, ...]
    ink: Ink = "ink"
    width: float = 1.0
    """Of a stroke."""
    dash: str | None = None
    opacity: str | None = None
    size: float = 4.0
    """A dot's radius or a text's height."""
    hollow: bool = False
    text: str = ""
    anchor: Anchor = "start"
    dx: float = 0.0
    dy: float = 0.0
    bold: bool = False
    title: str = ""
    """Shown when a pointer rests on a dot."""


def band(x: tuple[float, float], y: tuple[float, float], ink: Ink = "band") -> Mark:
    """Return a filled rectangle."""
    return Mark(kind="band", x=x, y=y, ink=ink)


def line(
    x: tuple[float, float],
    y: tuple[float, float],
    ink: Ink = "rule",
    width: float = 1.0,
    *,
    dash: str | None = None,
    opacity: str | None = None,
) -> Mark:
    """Return a straight stroke between two points."""
    return Mark(kind="line", x=x, y=y, ink=ink, width=width, dash=dash, opacity=opacity)


def step(
    x: Sequence[float], y: Sequence[float], ink: Ink = "ink", width: float = 1.0, *, dash: str | None = None
) -> Mark:
    """Return a staircase: from each point level to the next one's x, then to its y."""
    return Mark(kind="step", x=tuple(x), y=tuple(y), ink=ink, width=width, dash=dash)


def dot(x: float, y: float, ink: Ink = "accent", size: float = 4.0, *, hollow: bool = False, title: str = "") -> Mark:
    """Return a disc, or a ring where it is hollow."""
    return Mark(kind="dot", x=(x,), y=(y,), ink=ink, size=size, hollow=hollow, title=title)


def text(
    x: float,
    y: float,
    words: str,
    ink: Ink = "soft",
    *,
    anchor: Anchor = "start",
    dx: float = 0.0,
    dy: float = 0.0,
    bold: bool = False,
) -> Mark:
    """Return words at a point, moved by `dx` to the right and `dy` down."""
    return Mark(kind="text", x=(x,), y=(y,), ink=ink, text=words, anchor=anchor, dx=dx, dy=dy, bold=bold, size=SMALL)


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The canvas in px, and the data ranges that its inner part spans; `y` rises upwards."""

    width: int
    height: int
    x: tuple[float, float]
    y: tuple[float, float]
    left: float = 0.0
    right: float = 0.0
    top: float = 0.0
    bottom: float = 0.0

    @property
    def x_limits(self) -> tuple[float, float]:
        """Return the data values at the canvas's left and right edges."""
        return _widened(self.x, self.width, self.left, self.right)

    @property
    def y_limits(self) -> tuple[float, float]:
        """Return the data values at the canvas's lower and upper edges."""
        return _widened(self.y, self.height, self.bottom, self.top)

    @property
    def x_unit(self) -> float:
        """Return how many data units one px is."""
        return (self.x[1] - self.x[0]) / (self.width - self.left - self.right)


def _widened(span: tuple[float, float], size: float, before: float, after: float) -> tuple[float, float]:
    unit = (span[1] - span[0]) / (size - before - after)
    return span[0] - before * unit, span[1] + after * unit
