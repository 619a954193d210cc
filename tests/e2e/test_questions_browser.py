"""Questions are reviewed in a real browser by keyboard alone: accepted, edited, rejected; hostile words do nothing."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from app_driver import Watched, running

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "web"))
import question_lab as lab

from ragassay.question import load_reviews
from ragassay.question.reviews import reviews_beside


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A question file with its documentation."""
    return lab.write_set(tmp_path)


@contextmanager
def reviewing(file: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run the verb on a file with its documentation."""
    docs = str(file.parent / "docs")
    with running("questions", Path("review"), str(file), "--corpus", docs, *options) as opened:
        yield opened


class Reviewer(Watched):
    """A page of one reviewer's own browser profile."""

    def at(self, question: str) -> None:
        """Wait until a question is on the screen."""
        self.until("state.item !== null && state.item.id === given && !state.busy", question)

    def checked(self) -> None:
        """Wait until what is typed now was looked at."""
        self.until("editor.checked !== null && editor.text === JSON.stringify(formNow())")

    def types(self, field: str, text: str) -> None:
        """Replace the text of a field as a person does."""
        self.page.focus(field)
        self.press("Control+a")
        self.page.keyboard.type(text)

    def sees_no_violation(self) -> None:
        """Ask axe about the page as it is."""
        try:
            axe = importlib.import_module("axe_playwright_python.sync_playwright").Axe()
        except ImportError:
            return  # the rest of the test holds without; `pip install axe-playwright-python` for this part
        told = axe.run(self.page).response
        found = told["violations"]
        assert told["passes"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_a_set_is_reviewed_with_the_keyboard_alone(browser: Any, file: Path) -> None:
    """Accept, an edit that is refused and then mended, reject, undo, reload: the file holds what was pressed."""
    with reviewing(file) as (address, _):
        ben = Reviewer(browser, address)
        ben.gives_name("B. Reader")
        ben.at("port")
        ben.sees_no_violation()
        assert "token" not in ben.page.url
        assert ben.text("mark") == "The server listens\non port 8080 by default."
        ben.press("a")
        ben.at("wait")
        ben.waits_for("#progress", "1 of 4 reviewed")
        ben.press("a")
        ben.waits_for("#status", "cannot be accepted")
        ben.press("e")
        ben.page.wait_for_selector("#edit-input:focus")
        ben.checked()
        ben.sees_no_violation()
        ben.types("#edit-evidence textarea", "It waits 16 seconds for every client.")
        ben.checked()
        ben.press("Control+Enter")
        ben.waits_for("#lint", "evidence-missing")
        assert ben.page.is_disabled("#save")
        assert len(load_reviews(reviews_beside(file))) == 1
        ben.types("#edit-evidence textarea", "It waits 16 seconds for a client.")
        ben.checked()
        ben.waits_for("#status", "It can be accepted so.")
        assert ben.text("mark") == "It waits 16 seconds for a client."
        ben.press("Control+Enter")
        ben.at("log")
        ben.press("j")
        ben.at("bare")
        ben.press("r")
        ben.page.wait_for_selector("#why-reason:focus")
        ben.page.keyboard.type("not in the manual")
        ben.press("Enter")
        ben.at("log")
        ben.waits_for("#progress", "3 of 4 reviewed")
        ben.press("u")
        ben.at("bare")
        ben.waits_for("#status", "Taken back")
        ben.waits_for("#progress", "2 of 4 reviewed")
        ben.page.reload()
        ben.at("log")
        ben.waits_for("#progress", "2 of 4 reviewed")
        ben.press("a")
        ben.at("bare")
        ben.press("r")
        ben.page.wait_for_selector("#why-reason:focus")
        ben.page.keyboard.type("nowhere")
        ben.press("Enter")
        ben.waits_for("#done-title", "All questions are reviewed")
        assert ben.text("#done-text") == "2 accepted, 1 edited, 1 rejected, 0 not reviewed."
        assert ben.said == []
        host = address.partition("/?")[0]
        assert {url.startswith(f"{host}/") for url in ben.asked} == {True}
    lines = [(line.question, line.decision, line.reviewer) for line in load_reviews(reviews_beside(file))]
    assert lines == [
        ("port", "accept", "B. Reader"), ("wait", "edit", "B. Reader"), ("bare", "reject", "B. Reader"),
        ("bare", "undo", "B. Reader"), ("log", "accept", "B. Reader"), ("bare", "reject", "B. Reader"),
    ]  # fmt: skip


def test_what_was_typed_stays_when_the_file_changes(browser: Any, file: Path) -> None:
    """An editor saves the question file meanwhile: the edit is refused, kept on the page, checked anew and taken."""
    with reviewing(file, "--reviewer", "ben") as (address, _):
        ben = Reviewer(browser, address)
        ben.at("port")
        ben.press("e")
        ben.page.wait_for_selector("#edit-input:focus")
        ben.types("#edit-target", "It listens on port 8080.")
        ben.checked()
        ben.waits_for("#status", "It can be accepted so.")
        changed = lab.samples()
        changed[0]["topic"] = "network"
        file.write_text(json.dumps({"name": "Acme server", "samples": changed}), encoding="utf-8")
        ben.press("Control+Enter")
        ben.waits_for("#problem", "has changed")
        assert ben.page.input_value("#edit-target") == "It listens on port 8080."
        assert load_reviews(reviews_beside(file)) == []
        ben.checked()
        ben.press("Control+Enter")
        ben.at("wait")
    (line,) = load_reviews(reviews_beside(file))
    assert line.edited is not None
    assert (line.edited.target, line.edited.topic) == ("It listens on port 8080.", None)


def test_two_tabs_and_a_kill_lose_nothing(browser: Any, file: Path) -> None:
    """A decision that was overtaken is refused and shown anew; after a kill the page says so, and all is there."""
    with reviewing(file, "--reviewer", "ben") as (address, process):
        ben, cat = Reviewer(browser, address), Reviewer(browser, address)
        ben.at("port")
        cat.at("port")
        ben.press("a")
        ben.at("wait")
        cat.press("r")
        cat.page.wait_for_selector("#why-reason:focus")
        cat.page.keyboard.type("no")
        cat.press("Enter")
        cat.waits_for("#problem", "changed meanwhile")
        cat.at("port")
        assert "Accepted by ben" in cat.text("#stands")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        ben.press("r")
        ben.page.wait_for_selector("#why-reason:focus")
        ben.page.keyboard.type("no")
        ben.press("Enter")
        ben.waits_for("#problem", "does not answer")
        assert ben.text("#status") == "Not stored."
    with reviewing(file, "--reviewer", "ben") as (address, _):
        again = Reviewer(browser, address)
        again.at("wait")
        again.waits_for("#progress", "1 of 4 reviewed")


def test_hostile_words_are_shown_and_do_nothing(browser: Any, tmp_path: Path) -> None:
    """Markup in question, target, id, author and page stays text, in the list and in the editor too."""
    question = lab.sample("<b>id</b>", f"What is {lab.HOSTILE}?", lab.HOSTILE, "evil", page="net.md",
                          evidence=lab.HOSTILE, provenance={"author": lab.HOSTILE})  # fmt: skip
    file = lab.write_set(tmp_path, [question, *lab.samples()])
    with reviewing(file, "--reviewer", "<i>ben</i>") as (address, _):
        ben = Reviewer(browser, address)
        ben.at("<b>id</b>")
        assert "<script>" in ben.text("#question")
        assert "[U+001B][31m[U+202E]evil[U+200B]<img" in ben.text("mark")
        assert ben.page.query_selector("#question *, #target *, #origin script, .passage img") is None
        ben.press("l")
        assert "<b>id</b>" in ben.text("#all")
        ben.press("Escape", "e")
        ben.page.wait_for_selector("#edit-input:focus")
        assert "[U+202E]" in ben.page.input_value("#edit-target")
        ben.press("Escape")
        assert ben.page.title() == "Review questions · ragassay"
        assert ben.said == []


def test_evidence_is_taken_from_the_passage_by_selecting_it(browser: Any, file: Path) -> None:
    """The words selected become the evidence, found again where they stand."""
    with reviewing(file, "--reviewer", "ben") as (address, _):
        ben = Reviewer(browser, address)
        ben.at("port")
        ben.press("j")
        ben.at("wait")
        ben.press("e")
        ben.checked()
        ben.page.evaluate(
            "() => { const text = document.querySelector('.passage blockquote').firstChild;"
            " const at = text.data.indexOf('It waits 16'); const range = document.createRange();"
            " range.setStart(text, at); range.setEnd(text, at + 33);"
            " getSelection().removeAllRanges(); getSelection().addRange(range); }"
        )
        ben.page.click("#take-selection")
        assert ben.page.input_value("#edit-evidence textarea") == "It waits 16 seconds for a client."
        ben.checked()
        ben.waits_for("#status", "It can be accepted so.")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (360, "light"), (1280, "dark"), (1280, "light")])
def test_every_view_fits_has_contrast_and_no_violation(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    """Start, question, editor, filter, dialogs and end: nothing scrolls sideways, and axe finds nothing."""
    questions = [*lab.samples(), lab.sample("w" * 200, f"Is {'w' * 3000} so?", "w" * 3000, "www", topic="w" * 300)]
    file = lab.write_set(tmp_path, questions)
    with reviewing(file) as (address, _):
        ben = Reviewer(browser, address, viewport={"width": width, "height": 740}, color_scheme=scheme)
        ben.page.wait_for_selector("#name-field:focus")
        ben.sees_no_violation()
        ben.fits(width, "#bar *")
        ben.gives_name("a. writer")
        ben.at("port")
        assert ben.page.is_visible("#author-note")
        for keys in ((), ("/",), ("Escape", "l"), ("Escape", "?"), ("Escape", "r"), ("Escape", "e")):
            ben.press(*keys)
            ben.page.wait_for_timeout(60)
            ben.sees_no_violation()
            ben.fits(width, "#bar *", "dialog[open] *")
        ben.checked()
        ben.press("Escape")
        ben.page.evaluate("name => open(name)", "w" * 200)
        ben.at("w" * 200)
        ben.fits(width, "#bar *")
        ben.press("e")
        ben.checked()
        ben.fits(width, "#bar *")
        ben.press("Escape", "j")
        ben.waits_for("#done-title", "The end of this list")
        ben.sees_no_violation()
