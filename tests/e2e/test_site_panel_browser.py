"""The judges' part of a board in a real browser: on a phone and on a desk, in light and in dark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from browser_driver import LEAST_CONTRAST, width_of, worst_contrast
from ragassay.run.null_rows import CONSTANT
from ragassay.site import write_preview

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "site"))
import panel_factory as panel
import site_factory as make

NOW = make.START + 9_999


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board of two rows under three judges, one with an unbroken name, with noise, null rows and a refusal."""
    folder = tmp_path_factory.mktemp("panel")
    work, bench = folder / "work", make.benchmark(12)
    long = {**panel.JUDGE_2, "id": "vendor/" + "j" * 200}
    for name, grades in (("bm25", lambda *_: "supports"), ("dense", lambda *_: "omits")):
        for run in make.write_row(work, name, "bm25", bench, grades, passes=1, text=f"So says {name}."):
            panel.judge_run(work, run, lambda n, name=name: "omits" if name == "bm25" else "supports")  # type: ignore[misc]
            panel.judge_run(work, run, lambda n: "judge_failed" if n == 3 else "hedges", judge=long)
            panel.reask(work, run, 5, {1}, lambda n, grades=grades: grades(n, 1), "hedges")  # type: ignore[misc]
    panel.judge_run(work, run, lambda _: "omits", n=2, signer=panel.stranger())
    panel.null_row(work, run, "constant", CONSTANT, lambda n: "hedges" if n < 3 else "omits", 1)
    write_preview(work, folder / "site", now=NOW)
    return folder / "site" / "index.html"


@pytest.mark.parametrize("width", [360, 1280])
def test_judges_do_not_make_the_page_scroll_sideways(browser: Any, page_path: Path, width: int) -> None:
    """Three judges, one with a name of 200 unbroken letters, fit into 360 and into 1280 pixels."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(page_path.as_uri())
    assert width_of(page) <= width
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_said_of_judges_has_contrast(browser: Any, page_path: Path, scheme: str) -> None:
    """Also what is said loudly stands at 4.5 : 1 or more, in light and in dark."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(page_path.as_uri())
    ratio, where = worst_contrast(page)
    assert ratio >= LEAST_CONTRAST, (ratio, where)
    page.close()


def test_a_changed_order_stands_in_words_beside_the_row(browser: Any, page_path: Path) -> None:
    """The badge says that the order changes, and under whom; a null row above 0 is bold and marked by a sign."""
    page = browser.new_page()
    page.goto(page_path.as_uri())
    assert "order changes under judge-2" in page.inner_text(".board .badge")
    loud = page.query_selector("li.loud")
    assert loud.inner_text().startswith("The judge gave .50 to one constant sentence")
    assert int(loud.evaluate("e => getComputedStyle(e).fontWeight")) >= 600
    assert "!" in loud.evaluate("e => getComputedStyle(e).listStyleType")
    page.close()
