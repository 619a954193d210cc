"""The pages in a real browser, from file://: nothing is loaded, nothing runs, nothing scrolls sideways on a phone."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragassay.site import write_preview

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "site"))
import site_factory as make

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
NOW = make.START + 9_999
CONTRAST = """
() => {
  const lin = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const rgb = c => c.match(/[\\d.]+/g).map(Number);
  const lum = c => .2126 * lin(c[0]) + .7152 * lin(c[1]) + .0722 * lin(c[2]);
  const under = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const page = rgb(getComputedStyle(document.body).backgroundColor);
  let worst = [99, ''];
  for (const e of document.querySelectorAll('main *, header *, footer *')) {
    if (e.closest('svg') || ![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())) continue;
    const [a, b] = [lum(rgb(getComputedStyle(e).color)), lum(under(e) || page)];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 120)];
  }
  return worst;
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium driven by Playwright; skips where either is absent."""
    if not CHROMIUM.exists():
        pytest.skip(f"needs a browser ({CHROMIUM} is absent)")
    try:
        api = importlib.import_module("playwright.sync_api")
    except ImportError:
        pytest.skip("needs Playwright for Python (`pip install playwright`)")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield found
        found.close()


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
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
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
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
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
        ratio, where = page.evaluate(CONTRAST)
        assert ratio >= 4.5, (path.name, ratio, where)
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
