"""Pictures in a real browser: one drawing at each width, every word inside it and large enough, light and dark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from browser_driver import width_of
from ragassay.site.pictures import ReachCurve, cost_latency, difference_plot, reach_curve, runs_over_time, score_picture
from ragassay.site.render import environment

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "site"))
import pictures_factory as make

PAGE = """{% from "pictures.html" import picture, heat_map %}<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Pictures</title><style>{{ css }}</style>
<body>{% for p in pictures %}<h2>{{ p.title }}</h2>{{ picture(p) }}{% endfor %}</body></html>"""
SHOWN = "() => [...document.querySelectorAll('figure')].map(f => [...f.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().width > 0).map(s => s.getAttribute('class')))"  # noqa: E501
OUTSIDE = """
() => [...document.querySelectorAll('figure svg')].flatMap(s => {
  const box = s.getBoundingClientRect();
  return box.width ? [...s.querySelectorAll('text')].filter(t => { const b = t.getBoundingClientRect();
    return b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 1;
  }).map(t => t.textContent) : []; })
"""
SMALLEST = """
() => Math.min(...[...document.querySelectorAll('figure svg')].filter(s => s.getBoundingClientRect().width).map(s =>
  parseFloat(getComputedStyle(s.querySelector('text')).fontSize) * s.getBoundingClientRect().width
  / s.viewBox.baseVal.width))
"""
OVERLAPS = """
() => [...document.querySelectorAll('figure svg')].flatMap(s => {
  const common = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);
  const boxes = [...s.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  return boxes.flatMap(([a, x], i) => boxes.slice(i + 1).filter(([_, y]) => x.width && y.width &&
    common(x, y, 'left', 'right') > 1 && common(x, y, 'top', 'bottom') > 4).map(([b]) => a + ' | ' + b)); })
"""
INK = "() => getComputedStyle(document.querySelector('figure svg circle')).fill"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of every picture, one row of which has a name of 200 wide characters."""
    rows = (*make.five_rows(), make.row("M" * 200, 3000, not_distinguished=False), make.row("名前" * 100, 2000))
    table = make.table(*rows)
    runs = tuple(make.run(n, 4000 + 50 * n, shown=n == 4) for n in range(9))
    curves = tuple(ReachCurve(row=row.key, reached=(10, 20, 30, 31), of=60) for row in rows if row.role == "row")
    pair = make.pair({f"q-{n:03d}": f"{(n % 9 - 4) / 4:.6f}" for n in range(60)})
    pictures = [
        score_picture(table),
        reach_curve(table, curves),
        cost_latency(table),
        runs_over_time(make.row("hybrid", 4200, runs=runs)),
        difference_plot(pair, {"hybrid@1": "W" * 200, "bm25@1": "bm25"}),
    ]
    path = tmp_path_factory.mktemp("pictures") / "page.html"
    path.write_text(environment().from_string(PAGE).render(pictures=pictures), encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "name"), [(360, "pic-narrow"), (1280, "pic-wide")])
def test_one_drawing_is_shown_and_every_word_of_it_can_be_read(
    browser: Any, page_file: Path, width: int, name: str
) -> None:
    """Nothing scrolls sideways, no text leaves its drawing or lies on another, none is smaller than 11 px."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(page_file.as_uri())
    assert page.evaluate(SHOWN) == [[name]] * 5
    assert width_of(page) <= width
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(SMALLEST) >= 11
    assert page.evaluate(OVERLAPS) == []
    page.close()


def test_colours_follow_the_scheme(browser: Any, page_file: Path) -> None:
    """The first row's dot has another colour in the dark, and none is left black on black."""
    inks = []
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(page_file.as_uri())
        inks.append(page.evaluate(INK))
        page.close()
    assert inks == ["rgb(29, 80, 150)", "rgb(141, 184, 245)"]


def test_a_screen_reader_hears_the_numbers(browser: Any, page_file: Path) -> None:
    """Each drawing is one image with a name and a description that holds figures."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(page_file.as_uri())
    image = page.get_by_role("img", name="Score of each row, with interval and range")
    assert image.count() == 1
    said = page.evaluate(
        "e => document.getElementById(e.getAttribute('aria-describedby')).textContent", image.element_handle()
    )
    assert "hybrid is first at .810" in said
    page.close()
