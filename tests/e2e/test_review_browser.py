"""Reading and signing off in a real browser: by keyboard alone, across a kill, refused early, hostile texts as text."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from app_driver import Watched, running

from browser_driver import width_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "web"))
import review_lab as lab

from ragassay.publish.decisions import DecisionFile
from ragassay.publish.detect import detectors
from ragassay.publish.signoffs import ReviewFile
from ragassay.site.safe import visible

HOSTILE = (
    "<script>document.title = 'stolen'</script><img src=x onerror=\"document.title='stolen'\">"
    "<a href=\"javascript:document.title='stolen'\">x</a></blockquote>\u202eright to left\x1b[2J\u200b\x00 "
)
MAIL = "eve@northwind-traders.com"
"""The scan of the program itself runs here, which leaves out reserved names such as example.org."""


def text_of(row: str, number: int, k: int) -> str:
    """Return an answer; one of bm25 holds an address."""
    return f"Option {number}, says {row}: {number * 7}." + (f" Ask {MAIL}." if (row, number) == ("bm25", 2) else "")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace of two rows of two equal passes of three questions."""
    pytest.importorskip("presidio_analyzer", reason="needs the extra `pii`")
    lab.write(tmp_path / ".ragassay", text=text_of)
    return tmp_path / ".ragassay"


class Reader(Watched):
    """A page of one reader's own browser profile."""

    def scanned(self) -> None:
        """Wait until the list is there and the scan is done."""
        self.until("state.view === 'list' && state.scan !== null && !state.scan.running")

    def shows(self) -> str:
        """Wait until an output is on the screen and return its key."""
        self.until("state.unit !== null && state.view === 'unit'")
        return str(self.page.evaluate("state.unit.key"))

    def reads(self) -> str:
        """Scroll through the output on the screen with the space bar until it is stored as read; return its key."""
        key = self.shows()
        end = time.monotonic() + 20
        while not self.page.evaluate("key => state.seen.has(key)", key):
            assert time.monotonic() < end, key
            self.press("Space")
            self.page.wait_for_timeout(60)
        self.until("state.unit === null ? state.view === 'done' : state.unit.key !== given", key)
        return key


def begin(reader: Reader, name: str) -> None:
    """Give a name and wait for the list."""
    reader.gives_name(name)
    reader.scanned()


def tab_to(reader: Reader, wanted: str) -> None:
    """Press Tab until the focus is on an element."""
    for _ in range(80):
        if reader.page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
            return
        reader.press("Tab")
    raise AssertionError(f"{wanted} is not reached by Tab")


def test_from_the_first_output_to_the_sign_off_by_keyboard(browser: Any, workspace: Path) -> None:
    """Read some, try to sign and be told what is missing, decide, kill the program, go on at the same place, sign."""
    with running("serve", workspace) as (address, process):
        ann = Reader(browser, address, viewport={"width": 1000, "height": 500})
        begin(ann, "Ann B.")
        assert "token" not in ann.page.url
        assert ann.text("#scan").startswith("1 finding of the scan, 1 undecided.")
        assert "names of people" in ann.text("#scan")
        ann.press("Enter")
        first = ann.reads()
        ann.press("Escape")
        ann.scanned()
        ann.press("j", "s")
        ann.until("document.getElementById('sign').open")
        ann.press("Enter")
        ann.waits_for("#sign-refused", "Not signed off")
        refused = ann.text("#sign-refused")
        assert "q-002" in refused
        assert "q-003" in refused
        assert f"email {MAIL}" in refused
        assert ReviewFile(workspace).sign_offs() == []
        assert [text for text in ann.said if "409" not in text] == []
        ann.press("Escape")
        ann.press("f")
        ann.until("state.view === 'findings' && state.current !== null")
        ann.press("r")
        ann.until("state.scan.open === 0")
        ann.press("Escape")
        ann.scanned()
        ann.press("Enter")
        ann.reads()
        third = ann.shows()
        ann.until("state.place === given", third)
        end = time.monotonic() + 60
        while ReviewFile(workspace).place("Ann B.") != third:
            assert time.monotonic() < end
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        while not ann.page.evaluate("state.ended"):
            ann.press("Space")
            ann.page.wait_for_timeout(60)
        ann.press("Space")
        ann.waits_for("#problem", "does not answer")
        assert ann.text("#status") == "Not stored."
        assert ann.text("#progress") == "2 of 6 read"
        ann.context.close()
    assert len(ReviewFile(workspace).seen("Ann B.")) == 2
    with running("serve", workspace, "--reader", "Ann B.") as (address, process):
        ann = Reader(browser, address, viewport={"width": 1000, "height": 500})
        ann.scanned()
        assert ann.text("#progress") == "2 of 6 read"
        ann.press("Enter")
        assert ann.shows() == third
        read = [ann.reads() for _ in range(4)]
        assert first not in read
        ann.waits_for("#done-title", "Everything is read")
        ann.press("Escape")
        ann.scanned()
        for row in range(2):
            ann.press("Tab")
            tab_to(ann, f".row:nth-child({row + 1}) .sign-row")
            ann.press("Enter")
            ann.until("document.getElementById('sign').open")
            assert "Ann B. has read all 3 different outputs of 2 runs" in ann.text("#sign-words")
            ann.press("Enter")
            ann.waits_for("#status", "Stored: 2 runs signed off")
            ann.waits_for(f".row:nth-child({row + 1})", "signed off by Ann B.")
        assert ann.said == []
        host = address.partition("/?")[0]
        assert {url.startswith(f"{host}/") for url in ann.asked} == {True}
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    assert len({line.run for line in ReviewFile(workspace).sign_offs()}) == 4
    assert [(one.action, one.by) for one in DecisionFile(workspace).decisions()] == [("redact", "Ann B.")]


def test_findings_fill_in_by_themselves_and_all_runs_are_signed_off_at_once(browser: Any, workspace: Path) -> None:
    """Findings opened while the scan runs appear when it is done; what is read is signed by one button, then said."""
    with running("serve", workspace, "--reader", "cy") as (address, _):
        cy = Reader(browser, address)
        cy.until("typeof state === 'object' && state.view === 'list'")
        cy.press("f")
        cy.waits_for("#all-findings", MAIL)
        cy.press("w")
        cy.waits_for("#status", "Stored")
        cy.press("Escape")
        cy.scanned()
        cy.press("Enter")
        for _ in range(6):
            cy.reads()
        cy.press("Escape")
        cy.waits_for("#list-sentence", "You have read every output; 4 runs left to sign off.")
        passes = cy.page.evaluate(
            "[...document.querySelectorAll('[data-run] > :first-child')].map((it) => it.innerText)"
        )
        assert passes == ["pass 1 of 2", "pass 2 of 2"] * 2
        cy.page.click("#sign-all")
        cy.until("document.getElementById('sign').open")
        assert "cy has read all 6 different outputs of 4 runs" in cy.text("#sign-words")
        cy.press("Enter")
        cy.waits_for("#status", "Stored: 4 runs signed off")
        cy.waits_for("#list-sentence", "You have signed off every run. Next: `ragassay publish`")
        assert cy.page.locator("button.sign:visible, button.sign-row:visible, #sign-all:visible").count() == 0
        assert cy.said == []
    assert len({line.run for line in ReviewFile(workspace).sign_offs()}) == 4


def test_a_changed_decision_ends_the_sign_off_and_the_page_says_so(browser: Any, workspace: Path) -> None:
    """Allow asks for a reason and stores nothing without one; then the touched runs are signed no longer."""
    with ThreadPoolExecutor(1) as other:  # the client without a network has a loop of its own
        assert other.submit(_read_and_sign, workspace).result() == 200
    with running("serve", workspace, "--reader", "ann") as (address, _):
        ann = Reader(browser, address)
        ann.scanned()
        assert ann.page.evaluate("runs().every(run => run.signed.length === 1)")
        ann.press("f")
        ann.until("state.view === 'findings' && state.current !== null")
        ann.press("a")
        ann.until("document.getElementById('allow').open")
        ann.press("Enter")
        ann.page.wait_for_timeout(200)
        assert len(DecisionFile(workspace).decisions()) == 1
        ann.page.keyboard.type("the address of our own support")
        ann.press("Enter")
        ann.until("!document.getElementById('allow').open")
        ann.waits_for("#all-findings", "allowed by ann: the address of our own support")
        ann.press("Escape")
        ann.scanned()
        ann.waits_for("#rows", "ann’s sign-off does not hold any more: a decision that touches it has changed")
        assert ann.page.evaluate("runs().filter(run => run.signed.length).map(run => run.row)") == ["no-retrieval"] * 2
        assert ann.said == []


def _read_and_sign(workspace: Path) -> int:
    reader = lab.open_review(workspace, name="ann", detectors=detectors)
    reader.reads_all()
    (found,) = reader.get("/review/findings").json["findings"]
    reader.sends("decide", finding=found["id"], action="withhold")
    return reader.signs().status


def test_findings_are_marked_and_decided_beside_the_output(browser: Any, workspace: Path) -> None:
    """The words are marked in the answer with their state, `n` goes to them, `w` withholds, `u` takes reading back."""
    with running("serve", workspace, "--reader", "ann") as (address, _):
        ann = Reader(browser, address)
        ann.scanned()
        ann.press("/")
        ann.until("!document.getElementById('filter').hidden && document.activeElement.id === 'filter-text'")
        ann.page.keyboard.type("bm25 q-002")
        ann.press("Enter")
        ann.until("state.order.length === 1 && state.unit !== null && state.unit.item === 'q-002'")
        assert ann.text("#said mark.finding.open") == MAIL
        assert "email: undecided" in ann.text("#said")
        ann.press("n")
        assert ann.page.evaluate("document.activeElement.dataset.id === state.current")
        ann.press("w")
        ann.waits_for("#said", "email: withheld")
        assert ann.text("#said mark.finding.decided") == MAIL
        key = ann.reads()
        ann.waits_for("#done-title", "selection is read")
        ann.press("u")
        ann.until("!state.seen.has(given)", key)
        ann.waits_for("#status", "Taken back")
        ann.press("?")
        ann.until("document.getElementById('help').open")
        ann.press("Escape")
        assert ann.said == []
    assert ReviewFile(workspace).seen("ann") == []


def test_a_key_that_is_held_down_marks_nothing(browser: Any, workspace: Path) -> None:
    """Repeated presses are no presses, and j and k go without marking."""
    with running("serve", workspace, "--reader", "ann") as (address, _):
        ann = Reader(browser, address)
        ann.scanned()
        ann.press("Enter")
        ann.shows()
        ann.page.evaluate(
            "for (let n = 0; n < 50; n++) document.dispatchEvent("
            "new KeyboardEvent('keydown', { key: ' ', repeat: true, bubbles: true }))"
        )
        for key in ("j", "ArrowRight", "k", "j", "ArrowLeft"):
            before = ann.shows()
            ann.press(key)
            ann.until("state.unit !== null && state.unit.key !== given", before)
        ann.page.wait_for_timeout(200)
        assert ann.text("#progress") == "0 of 6 read"
        assert ReviewFile(workspace).seen("ann") == []


def test_a_hostile_run_is_shown_as_text(browser: Any, tmp_path: Path) -> None:
    """In answer, question, reference, evidence, chunk and row: markup does not run, what steers is written out."""
    workspace = tmp_path / ".ragassay"
    bench = lab.benchmark(2, input=f"{HOSTILE} question?", target=f"{HOSTILE} 7.", evidence=(f"{HOSTILE} said",))
    lab.write(workspace, bench=bench, passes=1, rows=(f"bm25{HOSTILE[:60]}",), text=lambda row, n, k: f"{HOSTILE}{n}",
              grade="omits")  # fmt: skip
    with running("serve", workspace, "--reader", "<b>ann</b>") as (address, _):
        ann = Reader(browser, address)
        ann.scanned()
        assert "<script>" in ann.text("#rows")
        ann.press("Enter")
        ann.shows()
        for part in ("question", "reference", "evidence", "answer"):
            place = f"[data-part={part}]"
            assert visible(HOSTILE).strip() in " ".join(ann.page.text_content(place).split()), part
            assert ann.page.query_selector(f"{place} script, {place} img, {place} a") is None
        assert "[U+202E]right to left[U+001B][2J[U+200B][U+0000]" in ann.text("#said")
        assert ann.text("#name") == "<b>ann</b>"
        ann.reads()
        ann.press("Escape")
        ann.scanned()
        host = address.partition("/?")[0]
        ann.page.goto(f"{host}/board/preview/index.html")
        assert ann.page.title() != "stolen"
        ann.page.goto(f"{host}/board/preview/questions/q-001.html")
        ann.page.wait_for_timeout(200)
        assert ann.page.title() != "stolen"
        assert ann.said == []


def test_a_long_output_must_be_scrolled_page_by_page(browser: Any, tmp_path: Path) -> None:
    """Its end is not on the screen at first; every page is gone through, and only then it is stored."""
    workspace = tmp_path / ".ragassay"
    long = "".join(f"word {n} " for n in range(12_000)) + "x" * 120_000
    lab.write(workspace, questions=1, passes=1, rows=("bm25",), text=lambda *_: long, grade="omits")
    with running("serve", workspace, "--reader", "ann") as (address, _):
        ann = Reader(browser, address, viewport={"width": 360, "height": 740})
        ann.scanned()
        ann.press("Enter")
        key = ann.shows()
        assert "Page 1 of 3" in ann.text("#page-note")
        assert not ann.page.evaluate("state.ended")
        for page in range(3):
            ann.until("state.unit !== null && state.unit.page === given", page)
            assert width_of(ann.page) <= 360
            assert not ann.page.evaluate("state.ended")
            assert ReviewFile(workspace).seen("ann") == []
            ann.press("End")
            ann.until("state.ended")
            ann.press("Space")
        ann.waits_for("#done-title", "Everything is read")
        assert ann.said == []
    assert ReviewFile(workspace).seen("ann") == [key]


def test_two_tabs_lose_nothing(browser: Any, workspace: Path) -> None:
    """Both read at once; the file has every mark, and a tab that looks again sees all of it."""
    with running("serve", workspace, "--reader", "ann") as (address, _):
        one = Reader(browser, address)
        other = one.context.new_page()
        other.goto(address.partition("/?")[0])
        one.scanned()
        one.press("Enter")
        keys = {one.reads(), one.reads()}
        second = Reader.__new__(Reader)
        second.context, second.page, second.said, second.asked = one.context, other, [], []
        second.scanned()
        second.page.click("#reload")
        second.waits_for("#progress", "2 of 6 read")
        second.page.click("#go-on")
        keys |= {second.reads(), second.reads()}
        assert len(keys) == 4
        one.page.bring_to_front()
        keys |= {one.reads(), one.reads()}
    assert set(ReviewFile(workspace).seen("ann")) == keys


def test_the_verifier_works_inside_the_app(browser: Any, workspace: Path) -> None:
    """A run page of the preview verifies its run in place, under the policy that the app sends; nothing else runs."""
    with running("serve", workspace, "--reader", "ann") as (address, _):
        ann = Reader(browser, address)
        ann.scanned()
        ann.page.click("nav.pages >> text=Board")
        ann.page.click("text=Local preview")
        ann.page.wait_for_selector(".sentence")
        assert ann.page.url.endswith("/board/preview/index.html")
        size = "parseFloat(getComputedStyle(document.querySelector('{}')).fontSize)"
        assert ann.page.evaluate(size.format(".sentence")) > 1.2 * ann.page.evaluate(size.format("body"))
        run = sorted((workspace / "runs").iterdir())[0].name
        ann.page.goto(f"{address.partition('/?')[0]}/board/preview/runs/{run}.html")
        ann.page.wait_for_selector("#verifier[data-ready]", state="attached")
        ann.page.click("#check")
        ann.page.wait_for_selector("article[data-verdict=unpinned]")
        ann.page.fill("#pin-text", lab.SIGNER.kid)
        ann.page.click("#check")
        ann.page.wait_for_selector("article[data-verdict=yes]")
        assert ann.said == []
        ann.page.evaluate(
            "const made = document.createElement('script'); made.textContent = \"document.title = 'ran'\";"
            " document.body.append(made)"
        )
        assert ann.page.title() != "ran"
        assert ann.page.evaluate("fetch('/review/begin').then(() => 'open', () => 'closed')") == "closed"
        assert any("Content Security Policy" in text for text in ann.said)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_view_fits_and_can_be_read(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    """Nothing scrolls sideways, not even a word of 3,000 letters, and every text has contrast, in every view."""
    workspace = tmp_path / ".ragassay"
    lab.write(workspace, rows=("no-retrieval", "r" * 200), passes=1,
              text=lambda row, n, k: f"{'w' * 3000} {MAIL} {row} {n}")  # fmt: skip
    with running("serve", workspace) as (address, _):
        ann = Reader(browser, address, viewport={"width": width, "height": 740}, color_scheme=scheme)
        ann.page.wait_for_selector("#name-field:focus")
        ann.fits(width, "#bar *", "dialog *")
        begin(ann, "ann")
        ann.fits(width, "#bar *", "dialog *")
        ann.press("j", "s")
        ann.until("document.getElementById('sign').open")
        ann.press("Enter")
        ann.waits_for("#sign-refused", "Not signed off")
        ann.fits(width, "#bar *", "dialog *")
        ann.press("Escape", "f")
        ann.until("state.view === 'findings' && state.current !== null")
        ann.fits(width, "#bar *", "dialog *")
        ann.press("Enter")
        ann.shows()
        ann.press("/")
        ann.fits(width, "#bar *", "dialog *")
        host = address.partition("/?")[0]
        for page in ("calibrate", "board"):
            ann.page.goto(f"{host}/{page}")
            ann.fits(width, "#bar *", "dialog *")


def test_the_page_is_in_order_for_assistive_technology(browser: Any, workspace: Path) -> None:
    """Headings in order, focus seen, progress and problems announced; axe finds nothing serious in any view."""
    with running("serve", workspace, "--reader", "ann") as (address, _):
        ann = Reader(browser, address, reduced_motion="reduce", bypass_csp=True)
        ann.scanned()
        _in_order(ann)
        assert ann.page.get_attribute("#status", "aria-live") == "polite"
        assert ann.page.get_attribute("#progress", "aria-live") == "polite"
        assert ann.page.get_attribute("#problem", "role") == "alert"
        ann.press("Tab")
        assert ann.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        ann.press("f")
        ann.until("state.view === 'findings' && state.current !== null")
        _in_order(ann)
        ann.press("Enter")
        ann.shows()
        assert ann.page.evaluate("document.activeElement.id") == "unit-title"
        _in_order(ann)
        seen: set[str] = set()
        for _ in range(20):
            ann.press("Tab")
            seen.add(ann.page.evaluate("document.activeElement.id || document.activeElement.dataset.action || ''"))
        assert {"allow", "redact", "withhold", "mark", "next", "to-filter", "to-list", "to-help"} <= seen
        ann.press("?")
        _in_order(ann)


def _in_order(ann: Reader) -> None:
    levels = ann.page.evaluate(
        "[...document.querySelectorAll('main h1, main h2, main h3')].filter(e => e.getClientRects().length)"
        ".map(e => Number(e.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    try:
        axe = importlib.import_module("axe_playwright_python.sync_playwright").Axe()
    except ImportError:
        return  # the order of headings is checked; the rest needs `pip install axe-playwright-python`
    found = axe.run(ann.page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
