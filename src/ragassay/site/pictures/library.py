"""The one place that calls the chart library: marks in, their places on the canvas out.

The library sees numbers only. A mark travels as a colour that is its number, so no text of a run reaches the library,
and of what comes back only coordinates are taken: no style sheet, no id (the library draws them at random), no font.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lets_plot import (
    aes,
    geom_point,
    geom_rect,
    geom_segment,
    geom_step,
    ggplot,
    ggsize,
    scale_color_identity,
    scale_fill_identity,
    scale_x_continuous,
    scale_y_continuous,
    theme,
    theme_void,
)
from lxml import etree

from ragassay.site.pictures.marks import Frame, Kind, Mark

SVG = "{http://www.w3.org/2000/svg}"
PLACES = {
    "circle": ("cx", "cy"),
    "line": ("x1", "y1", "x2", "y2"),
    "path": ("d",),
    "rect": ("x", "y", "width", "height"),
}
"""What is taken of each element."""
TAGS: dict[Kind, str] = {"band": "rect", "line": "line", "step": "path", "dot": "circle", "text": "circle"}
MOST = 60_000
"""Marks of one picture: the library's own greys begin above it."""
QUIET = {"tooltips": "none", "sampling": "none", "show_legend": False}


def places(marks: Sequence[Mark], frame: Frame) -> dict[int, Mapping[str, str]]:
    """Return the attributes that say where each mark stands (`cx`, `x1`, `d`, …), in px, by the mark's index.

    Raises `ValueError` where a mark lies outside the canvas: it would be missing from the picture without a word.
    """
    if not marks:
        return {}
    if len(marks) > MOST:
        raise ValueError(f"a picture of {len(marks):,} marks; at most {MOST:,}")
    outside = [mark for mark in marks if not (_within(mark.x, frame.x_limits) and _within(mark.y, frame.y_limits))]
    if outside:
        raise ValueError(f"marks outside the canvas: {outside[:3]}")
    found = dict(_found(_chart(marks, frame).to_svg(), marks))
    if len(found) != len(marks):
        raise ValueError(f"the chart library drew {len(found)} of {len(marks)} marks")
    return found


def _within(values: Sequence[float], limits: tuple[float, float]) -> bool:
    return all(limits[0] <= value <= limits[1] for value in values)


def _chart(marks: Sequence[Mark], frame: Frame) -> Any:
    chart = ggplot() + scale_color_identity() + scale_fill_identity()
    kinds: dict[Kind, list[int]] = {}
    for index, mark in enumerate(marks):
        kinds.setdefault("dot" if mark.kind == "text" else mark.kind, []).append(index)
    for kind, indices in kinds.items():
        chart += _layer(kind, [(index, marks[index]) for index in indices])
    chart += scale_x_continuous(limits=list(frame.x_limits), expand=[0, 0])
    chart += scale_y_continuous(limits=list(frame.y_limits), expand=[0, 0])
    chart += ggsize(frame.width, frame.height)
    return chart + theme_void() + theme(legend_position="none", plot_margin=0, plot_inset=0)


def _layer(kind: Kind, marks: Sequence[tuple[int, Mark]]) -> Any:
    if kind == "step":
        points = [(index, x, y) for index, mark in marks for x, y in zip(mark.x, mark.y, strict=True)]
        steps = {
            "n": [_sentinel(i) for i, _, _ in points],
            "x": [x for _, x, _ in points],
            "y": [y for *_, y in points],
        }
        return geom_step(aes(x="x", y="y", color="n", group="n"), data=steps, **QUIET)
    data: dict[str, list[Any]] = {
        "n": [_sentinel(index) for index, _ in marks],
        "x": [mark.x[0] for _, mark in marks],
        "y": [mark.y[0] for _, mark in marks],
    }
    if kind == "dot":
        return geom_point(aes(x="x", y="y", color="n"), data=data, **QUIET)
    data["x2"] = [mark.x[1] for _, mark in marks]
    data["y2"] = [mark.y[1] for _, mark in marks]
    if kind == "line":
        return geom_segment(aes(x="x", y="y", xend="x2", yend="y2", color="n"), data=data, **QUIET)
    return geom_rect(aes(xmin="x", xmax="x2", ymin="y", ymax="y2", fill="n"), data=data, **QUIET)


def _sentinel(index: int) -> str:
    return f"#{index + 1:06x}"


def _found(svg: str, marks: Sequence[Mark]) -> Iterator[tuple[int, Mapping[str, str]]]:
    tree = etree.fromstring(svg.encode("utf-8"), etree.XMLParser(resolve_entities=False, no_network=True))
    for tag, names in PLACES.items():
        for element in tree.iter(f"{SVG}{tag}"):
            given = element.attrib
            index = _index(str(given.get("stroke" if tag in ("line", "path") else "fill", "")))
            if 0 <= index < len(marks) and TAGS[marks[index].kind] == tag:
                yield index, {name: " ".join(_rounded(part) for part in str(given[name]).split()) for name in names}


def _index(colour: str) -> int:
    """Return the index of the mark that a colour stands for, or −1; the library's own colours stand for none."""
    if colour.startswith("rgb("):
        red, green, blue = (int(part) for part in colour[4:-1].split(","))
        return ((red << 16) | (green << 8) | blue) - 1
    return int(colour[1:], 16) - 1 if colour.startswith("#") else -1


def _rounded(number: str) -> str:
    """Write a coordinate, with its path letter if it has one, to a hundredth of a px."""
    letter = number[0] if number[0].isalpha() else ""
    text = f"{float(number[len(letter) :]):.2f}".rstrip("0").rstrip(".")
    return letter + ("0" if text == "-0" else text)
