"""Every kind of page in a real browser: accessible, filtered, driven by keyboard, readable without scripts, unmoved."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser_driver import width_of
from ragassay.site import build_board, load_runs, write_site

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "site"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hostile"))
import pages_factory as rich
from test_site_hostile import _workspace as hostile_workspace

SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a board with everything on it."""
    folder = tmp_path_factory.mktemp("pages")
    runs = rich.rich(folder / "work")
    board = build_board(runs, now=rich.NOW, plan=None)
    write_site(board, runs, folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The public site of the same board, one publication of which was withdrawn."""
    folder = tmp_path_factory.mktemp("public")
    runs = rich.rich(folder / "work")
    gone = next(run for run in runs if run.document and run.document.predicate.row.name == "dense")
    rest = [run for run in runs if run.id != gone.id]
    write_site(rich.public_board(rest, rich.withdrawn(gone)), rich.published(rest), folder / "site")
    return folder / "site"


def kinds(site: Path) -> list[Path]:
    """Return one page of each kind; of row pages a ranked one, both of a superseded name, and a void one."""
    first = {name: sorted((site / name).glob("*.html")) for name in ("questions", "rows", "compare")}
    return [
        site / "index.html",
        site / "judges.html",
        site / "corpus.html",
        site / "compare" / "index.html",
        next(path for path in first["compare"] if path.name != "index.html"),
        first["questions"][0],
        *first["rows"][:3],
        first["rows"][-1],
        site / "spec.html",
        next(iter(sorted((site / "runs").glob("*.html")))),
        site / "verify.html",
    ]


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page on which any error on the console fails the test, and any request but for a page of the site."""
    found = browser.new_page(viewport={"width": 1280, "height": 800})
    yield from _watched(found)


def _watched(found: Any) -> Iterator[Any]:
    said: list[str] = []
    found.on("console", lambda message: said.append(message.text))
    found.on("pageerror", lambda error: said.append(str(error)))
    found.on("request", lambda request: said.append(request.url) if not _own(request.url) else None)
    found.on("dialog", lambda dialog: said.append(dialog.message))
    yield found
    found.close()
    assert said == []


def _own(url: str) -> bool:
    return url.startswith("file:///") and url.partition("#")[0].endswith(".html")


@pytest.mark.parametrize(
    ("scope", "width", "scheme"),
    [
        *(("site", width, scheme) for width in (360, 1280) for scheme in ("light", "dark")),
        ("public", 1280, "light"),
        ("public", 360, "dark"),
    ],
)
def test_no_page_has_a_serious_finding_of_axe(
    browser: Any, request: pytest.FixtureRequest, width: int, scheme: str, scope: str
) -> None:
    """axe-core finds nothing serious or critical on any kind of page, local or public."""
    api = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    found = []
    for path in kinds(request.getfixturevalue(scope)):
        page.goto(path.as_uri())
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        for finding in api.Axe().run(page).response["violations"]:
            if finding["impact"] in SERIOUS:
                found.append((path.name, finding["id"], [node["target"] for node in finding["nodes"][:3]]))
    page.close()
    assert found == []


@pytest.mark.parametrize("width", [360, 1280])
def test_no_kind_of_page_scrolls_sideways(browser: Any, site: Path, public: Path, width: int) -> None:
    """With everything opened no page is wider than the window, at 360 and at 1280 pixels."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    for path in kinds(site) + kinds(public):
        page.goto(path.as_uri())
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert width_of(page) <= width, path
    page.close()


def test_pages_ask_for_nothing_and_say_nothing_on_the_console(page: Any, site: Path, public: Path) -> None:
    """Opened from file://, no page makes a request beside its own, and no policy is broken: `page` fails otherwise."""
    for path in kinds(site) + kinds(public):
        page.goto(path.as_uri())
        assert page.title(), path


def shown(page: Any) -> list[str]:
    """Return the questions that the map shows."""
    script = "all => all.filter(row => !row.hidden && !row.closest('tbody').hidden).map(row => row.cells[0].innerText)"
    found: list[str] = page.eval_on_selector_all(".questions >> nth=0 >> .heat tbody tr:has(td)", script)
    return [text.split()[0] for text in found]


def test_the_map_is_filtered_by_loss_topic_and_difference(page: Any, site: Path) -> None:
    """Only lost, only a topic, only where two rows differ: each as the numbers say, and counted in words."""
    page.goto((site / "index.html").as_uri())
    first = page.locator(".questions").first
    assert len(shown(page)) == 12
    first.locator("select").nth(0).select_option("cli")
    assert shown(page) == [q for q in shown(page) if int(q[2:]) % 2 == 0]
    assert len(shown(page)) == 6
    assert first.locator("[role=status]").inner_text() == "6 of 12 questions"
    first.locator("select").nth(0).select_option("")
    columns = first.locator("thead th").all_inner_texts()[1:]
    first.locator("select").nth(1).select_option(label="hybrid")
    first.locator("select").nth(2).select_option(label="bm25")
    cells = first.locator(".heat tbody tr:has(td)")
    for index in range(cells.count()):
        texts = [text.rstrip("ruc?x") for text in cells.nth(index).locator("td").all_inner_texts()]
        texts = [text.strip() for text in texts]
        differ = texts[columns.index("hybrid")] != texts[columns.index("bm25")]
        assert cells.nth(index).is_visible() == differ
    first.locator("input").check()
    assert 0 < len(shown(page)) < 12


def test_the_map_is_driven_by_keyboard(page: Any, site: Path) -> None:
    """j and k move through the questions that are shown, Escape shows all, Enter opens the one in focus."""
    page.goto((site / "index.html").as_uri())
    frame = page.locator(".questions .frame").first
    frame.focus()
    order = shown(page)
    focused = "document.activeElement.textContent"
    page.keyboard.press("j")
    assert page.evaluate(focused) == order[0]
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate(focused) == order[1]
    page.locator(".questions input").first.check()
    assert len(shown(page)) < 12
    frame.focus()
    page.keyboard.press("Escape")
    assert len(shown(page)) == 12
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/questions/**")


def test_a_question_page_shows_the_rows_one_chooses(page: Any, site: Path) -> None:
    """A row that is unchecked disappears; j leads to the next question and Escape to the board."""
    page.goto((site / "questions" / "q-006.html").as_uri())
    articles = page.locator(".rows > article:visible")
    count = articles.count()
    page.locator(".filters label", has_text="dense").locator("input").uncheck()
    assert articles.count() == count - 1
    page.locator("h1").click()
    page.keyboard.press("j")
    page.wait_for_function("!location.href.includes('q-006')")
    page.keyboard.press("Escape")
    page.wait_for_url("**/index.html")


def test_without_scripts_everything_can_be_read(browser: Any, site: Path) -> None:
    """Every question stands in the map, every row on a question page, and there is no control that does nothing."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    assert page.locator(".questions").first.locator("tbody tr:has(td):visible").count() == 12
    assert page.locator("main input, main select, main button").count() == 0
    page.goto((site / "questions" / "q-006.html").as_uri())
    assert page.locator(".rows > article:visible").count() == 5
    assert page.locator("main input").count() == 0
    context.close()


def test_a_row_is_reached_from_board_question_and_run(page: Any, site: Path) -> None:
    """Its name leads to its page from each of the three."""
    for path, link in (
        (site / "index.html", "a.row-name >> nth=0"),
        (site / "questions" / "q-006.html", "article h3 a >> nth=0"),
        (next(iter(sorted((site / "runs").glob("*.html")))), "header.top a[href*='rows/']"),
    ):
        page.goto(path.as_uri())
        page.click(link)
        assert "/rows/" in page.url


def test_two_rows_are_picked_without_scripts(browser: Any, site: Path) -> None:
    """From the board one link leads to the choice, and one more to the two rows."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    page.click("nav.places a:has-text('Compare')")
    row = page.locator("table.cards tbody tr", has=page.locator("th .row-name", has_text="dense")).first
    row.locator("a", has_text="bm25").first.click()
    assert "bm25" in page.inner_text("h1")
    assert "dense" in page.inner_text("h1")
    context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_an_attack_run_stays_text_on_every_page(browser: Any, tmp_path: Path, scripts: bool) -> None:
    """Markup, handlers, template code, ESC and U+202E in every free text: nothing runs, loads or turns."""
    runs = load_runs(hostile_workspace(tmp_path / "work"), now=rich.NOW)
    reason = "<script>alert(6)</script><img src=x onerror=alert(7)>\x1b[2J\u202e"
    gone = rich.voided(runs[0], reason)
    drawn = rich.published([runs[1], gone])
    board = build_board(drawn, now=rich.NOW, scope="public", withdrawn=[rich.withdrawn(runs[0], reason=reason)])
    write_site(board, drawn, tmp_path / "site")
    context = browser.new_context(java_script_enabled=scripts)
    for page in _watched(context.new_page()):
        for path in sorted((tmp_path / "site").rglob("*.html")):
            page.goto(path.as_uri())
            assert page.evaluate("window.owned") is None if scripts else True
            assert page.locator("main img, main iframe, main [onerror], main [onload]").count() == 0, path
            assert not set(page.content()) & set("\x1b\u202e"), path
    context.close()


def test_the_table_of_a_phone_is_cards(browser: Any, site: Path) -> None:
    """At 360 pixels a row is a card: its name and rank, below them the drawing and each figure."""
    page = browser.new_page(viewport={"width": 360, "height": 800})
    page.goto((site / "index.html").as_uri())
    row = page.locator("table.board tbody tr").first
    assert row.evaluate("e => getComputedStyle(e).display") == "grid"
    rank, name, *boxes = [cell.bounding_box() for cell in row.locator("td:visible").all()]
    assert name["y"] == rank["y"]
    assert name["x"] < rank["x"]
    assert all(box["y"] >= name["y"] + name["height"] for box in boxes)
    page.close()
