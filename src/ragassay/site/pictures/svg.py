"""Marks and their places as SVG: every word escaped, colours by name, no style, script, link or font. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

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
    body = Markup("").join(_element(mark, found[index]) for index, mark in enumerate(marks))
    opened = Markup('<svg class="pic-{}" viewBox="0 0 {} {}" role="img" aria-labelledby="{}" aria-describedby="{}">')
    heads = Markup('<title id="{}">{}</title><desc id="{}">{}</desc>')
    return Markup("{}{}{}</svg>").format(
        opened.format(name, frame.width, frame.height, f"{identity}-t", f"{identity}-d"),
        heads.format(f"{identity}-t", one_line(title), f"{identity}-d", one_line(description)),
        body,
    )


def _element(mark: Mark, place: Mapping[str, str]) -> Markup:
    if mark.kind == "text":
        return _text(mark, place)
    inside = Markup("<title>{}</title>").format(one_line(mark.title)) if mark.title else Markup("")
    tag = Markup(TAGS[mark.kind])
    attributes = _attributes({**place, **_look(mark)})
    return Markup("<{}{}>{}</{}>" if inside else "<{}{}/>").format(tag, attributes, inside, tag)


def _look(mark: Mark) -> dict[str, str]:
    colour = f"var(--{mark.ink})"
    if mark.kind == "band":
        return {"fill": colour}
    if mark.kind == "dot" and not mark.hollow:
        return {"r": f"{mark.size:g}", "fill": colour}
    if mark.kind == "dot":
        return {"r": f"{mark.size - 0.75:g}", "fill": "var(--paper)", "stroke": colour, "stroke-width": "1.5"}
    look = {"fill": "none", "stroke": colour} if mark.kind == "step" else {"stroke": colour}
    given = {"stroke-width": f"{mark.width:g}", "stroke-dasharray": mark.dash, "opacity": mark.opacity}
    return {**look, **{key: value for key, value in given.items() if value and (key, value) != ("stroke-width", "1")}}


def _text(mark: Mark, place: Mapping[str, str]) -> Markup:
    given = {
        "x": f"{float(place['cx']) + mark.dx:.2f}".rstrip("0").rstrip("."),
        "y": f"{float(place['cy']) + mark.dy:.2f}".rstrip("0").rstrip("."),
        "fill": f"var(--{mark.ink})",
        "text-anchor": mark.anchor if mark.anchor != "start" else None,
        "font-weight": "600" if mark.bold else None,
    }
    inside = Markup("<title>{}</title>").format(one_line(mark.title)) if mark.title else Markup("")
    return Markup("<text{}>{}{}</text>").format(_attributes(given), one_line(mark.text), inside)


def _attributes(given: Mapping[str, str | None]) -> Markup:
    return Markup("").join(Markup(' {}="{}"').format(name, value) for name, value in given.items() if value is not None)
