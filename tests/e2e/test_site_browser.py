"""The pages in a real browser, from file://: nothing is loaded, nothing runs, nothing scrolls sideways on a phone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from browser_driver import LEAST_CONTRAST, width_of, worst_contrast
from ragassay.site import write_preview

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "site"))
import site_factory as make

NOW = make.START + 9_999


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a board of five rows."""
    folder = tmp_path_factory.mktemp("browser")
    make.small_board(folder / "work", make.benchmark(12))
    write_preview(folder / "work", folder / "site", now=NOW)
    return folder / "site"


def one_of_each(site: Path) -> list[Path]:
    """Return the board, a run page, a question page and a compare page."""
    return [
        site / "index.html",
        next(iter(sorted((site / "runs").glob("*.html")))),
        site / "questions" / "q-006.html",
        site / "compare" / "hybrid--bm25.html",
    ]


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_scrolls_sideways(browser: Any, site: Path, width: int) -> None:
    """At 360 and at 1280 pixels no page is wider than the window."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    for path in one_of_each(site):
        page.goto(path.as_uri())
        assert width_of(page) <= width, path
    page.close()


def test_six_rows_stand_on_the_first_screen(browser: Any, tmp_path: Path) -> None:
    """At 1200 × 820 the sentence and every row of a board of six are seen, notes and badges included."""
    make.small_board(tmp_path / "work", make.benchmark(12))
    make.write_row(tmp_path / "work", "qdrant", "qdrant", make.benchmark(12), make.losing(make.every(3)))
    write_preview(tmp_path / "work", tmp_path / "site", now=NOW)
    page = browser.new_page(viewport={"width": 1200, "height": 820})
    page.goto((tmp_path / "site" / "index.html").as_uri())
    ends = page.eval_on_selector_all(".board tbody tr", "rows => rows.map(row => row.getBoundingClientRect().bottom)")
    assert len(ends) == 6
    assert max(ends) <= 820
    page.click(".noted a >> nth=0")
    assert page.evaluate("document.querySelector(location.hash).getBoundingClientRect().bottom <= innerHeight")
    page.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_no_name_is_too_long_for_the_window(browser: Any, tmp_path: Path, width: int) -> None:
    """A question set and rows with unbroken names of hundreds of characters still fit."""
    bench = make.benchmark(4, name="b" * 300, version="v" * 100, topic="t" * 300, page="p" * 300)
    for at, row in enumerate(("r" * 300, "s" * 300)):
        make.write_row(tmp_path / "work", row, "bm25", bench, make.losing_first(at), text="z" * 3000)
    write_preview(tmp_path / "work", tmp_path / "site", now=NOW)
    page = browser.new_page(viewport={"width": width, "height": 800})
    for path in sorted((tmp_path / "site").rglob("*.html")):
        page.goto(path.as_uri())
        assert width_of(page) <= width, path
    page.close()


def test_a_page_asks_for_nothing_and_breaks_no_policy(browser: Any, site: Path) -> None:
    """Opened from file://, each page makes one request, its own, and the console stays empty."""
    page = browser.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    for path in one_of_each(site):
        page.goto(path.as_uri())
    assert asked == [path.as_uri() for path in one_of_each(site)]
    assert said == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(browser: Any, site: Path, scheme: str) -> None:
    """Every text stands at 4.5 : 1 or more against what is under it, in light and in dark."""
    page = browser.new_page(color_scheme=scheme)
    for path in one_of_each(site):
        page.goto(path.as_uri())
        ratio, where = worst_contrast(page)
        assert ratio >= LEAST_CONTRAST, (path.name, ratio, where)
    page.close()


def test_the_style_is_applied(browser: Any, site: Path) -> None:
    """The policy's hash lets our style through: the headline is larger than the text."""
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    size = "parseFloat(getComputedStyle(document.querySelector('{}')).fontSize)"
    assert page.evaluate(size.format(".sentence")) > 1.3 * page.evaluate(size.format("body"))
    page.close()


def test_a_cell_leads_to_its_question(browser: Any, site: Path) -> None:
    """From the board one reaches a question page by a heat-map cell, and from there the answer's run."""
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    page.click(".heat tbody td a >> nth=0")
    assert "/questions/" in page.url
    page.click("article p a >> nth=0")
    assert "/runs/" in page.url
    assert page.evaluate("document.querySelector(location.hash) !== null")
    page.close()
