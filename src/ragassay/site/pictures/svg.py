"""Marks and their places as SVG: every word escaped, colours by name, no style, script, link or font. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from ragassay.site.pictures.marks import Frame, Mark
from ragassay.site.safe import one_line

TAGS = {"band": "rect", "line": "line", "step": "path", "dot": "circle", "text": "text"}


def svg(
    frame: Frame,
    marks: Sequence[Mark],
    found: Mapping[int, Mapping[str, str]],
    *,
    identity: str,
    name: str,
    title: str,
    description: str,
) -> Markup:
    """Return one drawing as an image with a name and a description; `identity` must be unique within a page."""
    head, body = f"{identity}-t", f"{identity}-d"
    parts = [
        f'<svg class="pic-{name}" viewBox="0 0 {frame.width} {frame.height}" role="img"'
        f' aria-labelledby="{head}" aria-describedby="{body}">',
        f'<title id="{head}">{_words(title)}</title><desc id="{body}">{_words(description)}</desc>',
        *(_element(mark, found[index]) for index, mark in enumerate(marks)),
        "</svg>",
    ]
    return Markup("".join(parts))


def _words(text: str) -> str:
    """Return text of a run as it may stand in markup: one line, steering characters written out, escaped."""
    return str(escape(one_line(text)))


def _element(mark: Mark, place: Mapping[str, str]) -> str:
    tag = TAGS[mark.kind]
    attributes = _attributes(_of_text(mark, place) if mark.kind == "text" else {**place, **_look(mark)})
    inside = _words(mark.text) if mark.kind == "text" else ""
    if mark.title:
        inside += f"<title>{_words(mark.title)}</title>"
    return f"<{tag}{attributes}>{inside}</{tag}>" if inside else f"<{tag}{attributes}/>"


def _look(mark: Mark) -> dict[str, str | None]:
    colour = f"var(--{mark.ink})"
    if mark.kind == "band":
        return {"fill": colour}
    if mark.kind == "dot" and not mark.hollow:
        return {"r": f"{mark.size:g}", "fill": colour}
    if mark.kind == "dot":
        return {"r": f"{mark.size - 0.75:g}", "fill": "var(--paper)", "stroke": colour, "stroke-width": "1.5"}
    return {
        "fill": "none" if mark.kind == "step" else None,
        "stroke": colour,
        "stroke-width": None if mark.width == 1 else f"{mark.width:g}",
        "stroke-dasharray": mark.dash,
        "opacity": mark.opacity,
    }


def _of_text(mark: Mark, place: Mapping[str, str]) -> dict[str, str | None]:
    return {
        "x": f"{float(place['cx']) + mark.dx:.2f}".rstrip("0").rstrip("."),
        "y": f"{float(place['cy']) + mark.dy:.2f}".rstrip("0").rstrip("."),
        "fill": f"var(--{mark.ink})",
        "text-anchor": None if mark.anchor == "start" else mark.anchor,
        "font-weight": "600" if mark.bold else None,
    }


def _attributes(given: Mapping[str, str | None]) -> str:
    """Write attributes; every value is a number, a word of ours, or a place that the library computed from numbers."""
    return "".join(f' {name}="{value}"' for name, value in given.items() if value is not None)
