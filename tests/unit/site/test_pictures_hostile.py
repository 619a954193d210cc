"""Names that attack a page, names that repeat, and what may stand in a drawing at all."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

import pictures_factory as make
import pytest
from lxml import etree
from test_pictures_drawn import every

from ragassay.site.pictures import difference_plot, heat_map, score_picture
from ragassay.site.pictures.picture import row_names, some
from ragassay.site.record import Table
from ragassay.site.render import environment

ELEMENTS = {"svg", "title", "desc", "rect", "line", "path", "circle", "text"}
ATTRIBUTES = {
    "class", "viewBox", "role", "aria-labelledby", "aria-describedby", "id", "x", "y", "width", "height", "x1", "y1",
    "x2", "y2", "cx", "cy", "r", "d", "fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "text-anchor",
    "font-weight",
}  # fmt: skip
NAMES = [make.HOSTILE, "x" * 200, "\u202etac\u202c", "& < > \" '", "]]>", "名前" * 100, "a\nb\tc", "T1", "#000001"]


def hostile_table() -> Table:
    """Return a table whose rows have hostile names, one of them twice."""
    rows = [make.row(name, 1000 + 300 * n, key=f"k{n}") for n, name in enumerate(NAMES)]
    twin = make.row(NAMES[0], 900, key="again", measure="ff" * 32)
    return make.table(*rows, twin, questions=make.questions(12, tuple(rows)))


@pytest.mark.parametrize("index", range(5), ids=["scores", "reach", "costs", "runs", "differences"])
def test_hostile_names_stay_text(index: int) -> None:
    """The drawing is well-formed, of known elements and attributes, without links, styles, scripts or raw colours."""
    picture = every(hostile_table())[index]
    for drawing in etree.fromstring(f"<both>{picture.svg}</both>") if picture.svg else ():
        for element in drawing.iter():
            assert element.tag in ELEMENTS
            assert set(element.attrib) <= ATTRIBUTES
            for name in ("fill", "stroke"):
                assert re.fullmatch(r"var\(--[a-z]+\)|none", element.get(name, "none"))
    assert "\u202e" not in picture.svg
    assert "http" not in re.sub(r">[^<]*<", "><", picture.svg)


def test_every_colour_is_one_of_the_page_s_own() -> None:
    """Each custom property that a picture names is set in the style sheet, for light and for dark."""
    css = files("ragassay.site").joinpath("templates/style.css").read_text(encoding="utf-8")
    used = {name for picture in every(make.table(*make.five_rows())) for name in re.findall(r"--[a-z]+", picture.svg)}
    assert used
    assert all(css.count(f"{name}:") >= 2 for name in used)


def test_ids_are_unique_when_all_pictures_stand_in_one_page() -> None:
    """No two drawings share an id, nor do two pairs or two tables with the same words."""
    table = make.table(*make.five_rows())
    pictures = every(table)
    same = {"q-1": "0.5"}
    pictures.append(difference_plot(make.pair(same, a="x"), {"x": "n", "bm25@1": "n"}))
    pictures.append(difference_plot(make.pair(same, a="y"), {"y": "n", "bm25@1": "n"}))
    found = [name for picture in pictures for name in re.findall(r' id="([^"]*)"', picture.svg)]
    assert len(found) == len(set(found))
    named = [name for picture in pictures for name in re.findall(r'aria-[a-z]+="([^"]*)"', picture.svg)]
    assert set(named) == set(found)


def test_rows_of_equal_names_are_told_apart() -> None:
    """Digits of what they measure stand behind the name."""
    rows = [make.row("dense", 1, key="a", measure="aaaaaaaa00"), make.row("dense", 2, key="b", measure="bbbbbbbb00")]
    assert row_names(rows) == {"a": "dense (aaaaaaaa)", "b": "dense (bbbbbbbb)"}
    assert row_names(rows[:1]) == {"a": "dense"}
    assert "dense (aaaaaaaa)" in score_picture(make.table(*rows)).svg


def test_a_sentence_never_lists_fifty_names_of_two_hundred_characters() -> None:
    """Long names are cut, the last ones counted."""
    said = some(["x" * 200] * 50)
    assert said.endswith("and 45 more")
    assert len(said) < 260


def test_the_macro_prints_a_picture_with_its_table_and_escapes_both() -> None:
    """A figure, its sentence, and a real table in <details>; nothing of a name becomes markup."""
    template = environment().from_string('{% from "pictures.html" import picture %}{{ picture(p) }}')
    for found in every(hostile_table()):
        html = template.render(p=found)
        tree: Any = etree.fromstring(html, etree.HTMLParser())
        assert not tree.xpath("//script | //*[@onload] | //*[@style]")
        assert len(tree.xpath("//figure/details//tbody/tr")) == len(found.twin.rows)
        assert len(tree.xpath("//figure/details//thead//th")) == (len(found.twin.header) if found.twin.rows else 0)
        assert "\u202e" not in html


def test_the_heat_map_escapes_names_questions_and_addresses() -> None:
    """A question's id and address are text and an attribute, whatever they hold."""
    table = hostile_table()
    template = environment().from_string('{% from "pictures.html" import heat_map %}{{ heat_map(m) }}')
    html = template.render(m=heat_map(table, lambda question: f'q/"><script>{question}'))
    tree = etree.fromstring(html, etree.HTMLParser())
    assert not tree.xpath("//script")
    assert "\u202e" not in html
