"""People rate in a real browser: by keyboard alone, with undo and reload, two at once; hostile answers do nothing."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from app_driver import Watched, running

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "web"))
import calibration_lab as lab

from ragassay.site.calibration.ledger import Ledger
from ragassay.site.calibration.ratings import latest

HOSTILE = (
    "<script>document.title = 'stolen'</script><img src=x onerror=\"document.title='stolen'\">"
    "<a href=\"javascript:document.title='stolen'\">x</a>\u202eright to left\x1b[2J\u200b "
)
LEVEL_OF_KEY = {"1": 0, "2": 25, "3": 50, "4": 75, "5": 100}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace of eighteen different answers."""
    lab.write_board(tmp_path / ".ragassay")
    return tmp_path / ".ragassay"


class Rater(Watched):
    """A page of one rater's own browser profile."""

    def rates(self, key: str) -> str:
        """Rate the answer on the screen by a key, wait for the next one, and return the key of the item."""
        shown = str(self.page.evaluate("state.shown"))
        count = self.page.evaluate("ratedCount()")
        self.press(key)
        self.until(
            "ratedCount() > given[1] && (state.shown !== null && state.shown !== given[0]"
            " || state.at === state.items.length)",
            [shown, count],
        )
        return shown


def begin(rater: Rater, name: str) -> None:
    """Give a name and wait for the first answer."""
    rater.gives_name(name)
    rater.until("state.shown !== null")


def test_rating_by_keyboard(browser: Any, workspace: Path) -> None:
    """Ten answers, an undo, a reload and the rest: the file holds exactly what was pressed, and nothing complains."""
    with running("calibrate", workspace) as (address, _):
        ann = Rater(browser, address)
        begin(ann, "Ann B.")
        assert "token" not in ann.page.url
        assert ann.page.evaluate("document.cookie") == ""
        pressed = {ann.rates(key): LEVEL_OF_KEY[key] for key in "1234512345"}
        assert len(pressed) == 10
        ann.waits_for("#progress", "10 of 18 rated")
        last = list(pressed)[-1]
        ann.press("u")
        ann.waits_for("#status", "Taken back")
        ann.until("state.shown === given", last)
        pressed[ann.rates("1")] = 0
        assert list(pressed)[-1] == last
        ann.page.reload()
        ann.until("state.shown !== null")
        ann.waits_for("#progress", "10 of 18 rated")
        while ann.page.evaluate("state.at < state.items.length"):
            pressed[ann.rates("4")] = 75
        ann.waits_for("#done-title", "All answers are rated")
        assert "18 rated, 0 could not be said, 0 left" in ann.text("#done-text")
        assert ann.said == []
        host = address.partition("/?")[0]
        assert {url.startswith(f"{host}/") for url in ann.asked} == {True}
    assert {r.item: r.level for r in latest(Ledger(workspace).ratings())} == pressed


def test_cannot_say_needs_a_reason_and_a_key_held_down_rates_once(browser: Any, workspace: Path) -> None:
    """`0` alone stores nothing; with a reason it stores no level. A repeated key press is not a second rating."""
    with running("calibrate", workspace, "--rater", "ann") as (address, _):
        ann = Rater(browser, address)
        ann.until("state.shown !== null")
        ann.press("0")
        assert ann.page.is_visible("#reasons")
        ann.press("Escape")
        assert not ann.page.is_visible("#reasons")
        assert not Ledger(workspace).path.exists()
        ann.press("0")
        ann.rates("2")
        ann.page.evaluate(
            "for (let n = 0; n < 9; n++) document.dispatchEvent("
            "new KeyboardEvent('keydown', { key: '5', repeat: true, bubbles: true }))"
        )
        ann.press("Control+5")
        ann.page.wait_for_timeout(200)
        (line,) = Ledger(workspace).ratings()
        assert (line.level, line.reason) == (None, "answer unreadable")


def test_two_raters_at_once_stay_blind_to_each_other(browser: Any, workspace: Path) -> None:
    """Each has an order and a progress of their own, and the file has both."""
    with running("calibrate", workspace) as (address, _), running("calibrate", workspace) as (second, _):
        ann, ben = Rater(browser, address), Rater(browser, second)
        begin(ann, "ann")
        begin(ben, "ben")
        for key in "55":
            ann.rates(key)
            ben.rates("1")
        assert ann.text("#progress") == ben.text("#progress") == "2 of 18 rated"
        assert ann.page.evaluate("state.items") != ben.page.evaluate("state.items")
        assert set(ben.page.evaluate("Object.values(state.ratings).map(one => one.level)")) == {0}
    assert sorted((r.rater, r.level) for r in Ledger(workspace).ratings()) == [
        ("ann", 100), ("ann", 100), ("ben", 0), ("ben", 0),
    ]  # fmt: skip


def test_a_rater_goes_back_and_changes_a_rating(browser: Any, workspace: Path) -> None:
    """`k` shows the rated answer with its level pressed; another level replaces it."""
    with running("calibrate", workspace, "--rater", "ann") as (address, _):
        ann = Rater(browser, address)
        ann.until("state.shown !== null")
        first = ann.rates("5")
        ann.press("k")
        ann.until("state.shown === given", first)
        assert "rated 1" in ann.text("#place")
        assert ann.page.get_attribute('#levels [data-level="100"]', "aria-pressed") == "true"
        ann.press("2")
        ann.until("state.shown !== null && state.shown !== given", first)
        assert ann.text("#progress") == "1 of 18 rated"
    assert [r.level for r in latest(Ledger(workspace).ratings())] == [25]


def test_a_hostile_answer_is_shown_as_text(browser: Any, tmp_path: Path) -> None:
    """Markup does not run, controls and reordering characters are written out, and the page goes on working."""
    workspace = tmp_path / ".ragassay"
    lab.write_board(workspace, text=lambda row, number: f"{HOSTILE}{row} {number}")
    with running("calibrate", workspace, "--rater", "<b>ann</b>") as (address, _):
        ann = Rater(browser, address)
        ann.until("state.shown !== null")
        shown = ann.text("#answer")
        assert "<script>" in shown
        assert "[U+202E]right to left[U+001B][2J[U+200B]" in shown
        assert ann.page.query_selector("#answer *") is None
        assert ann.text("#name") == "<b>ann</b>"
        assert ann.page.title() == "Rate answers · ragassay"
        ann.rates("3")
        assert ann.page.evaluate("location.pathname") == "/calibrate"
        assert ann.said == []


def test_a_stopped_program_is_told_and_nothing_seems_stored(browser: Any, workspace: Path) -> None:
    """Killed while somebody rates: the page says so, and a new program goes on with what is stored."""
    with running("calibrate", workspace, "--rater", "ann") as (address, process):
        ann = Rater(browser, address)
        ann.until("state.shown !== null")
        ann.rates("5")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        ann.press("1")
        ann.waits_for("#problem", "does not answer")
        assert ann.text("#progress") == "1 of 18 rated"
        assert ann.text("#status") == "Not stored."
        ann.press("j")
        ann.until("state.shown === null")
        ann.until("[...document.querySelectorAll('#levels button')].every(one => one.disabled)")
    with running("calibrate", workspace, "--rater", "ann") as (address, _):
        again = Rater(browser, address)
        again.until("state.shown !== null")
        again.waits_for("#progress", "1 of 18 rated")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_and_can_be_read(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    """Nothing scrolls sideways, not even a word of 3,000 letters, and every text has contrast."""
    workspace = tmp_path / ".ragassay"
    lab.write_board(workspace, text=lambda row, number: f"{'w' * 3000} {row} {number}")
    with running("calibrate", workspace) as (address, _):
        ann = Rater(browser, address, viewport={"width": width, "height": 740}, color_scheme=scheme)
        ann.page.wait_for_selector("#name-field:focus")
        ann.fits(width, "#bar *")
        begin(ann, "ann")
        ann.fits(width, "#bar *")
        ann.press("0")
        ann.fits(width, "#bar *")
        ann.press("Escape")
        ann.rates("3")
        ann.page.evaluate("move(state.items.length - state.at)")
        ann.waits_for("#done-title", "The end of the list")
        ann.fits(width, "#bar *")


def test_focus_is_seen_and_goes_through_every_button(browser: Any, workspace: Path) -> None:
    """Tab alone reaches every level and every move, each with an outline; status and problems are announced."""
    with running("calibrate", workspace, "--rater", "ann") as (address, _):
        ann = Rater(browser, address)
        ann.until("state.shown !== null")
        assert ann.page.evaluate("document.activeElement.id") == "place"
        seen: dict[str, str] = {}
        for _ in range(25):
            ann.press("Tab")
            name, outline = ann.page.evaluate(
                "[document.activeElement.id || document.activeElement.dataset.level || '',"
                " getComputedStyle(document.activeElement).outlineStyle]"
            )
            seen[name] = outline
        assert {"0", "25", "50", "75", "100", "cannot", "next", "change"} <= set(seen)
        assert {seen[name] for name in ("0", "100", "cannot", "next")} == {"solid"}
        assert ann.page.get_attribute("#status", "aria-live") == "polite"
        assert ann.page.get_attribute("#problem", "role") == "alert"
