"""Drives verify.html in a real, headless Chromium, as a person would: by its inputs, reading what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragassay.site.verifier_page import verifier_page

READ = """
() => [...document.querySelectorAll('#result article')].map(article => ({
  name: article.querySelector('h3').textContent,
  verdict: article.dataset.verdict,
  fails: [...article.querySelectorAll('li.fail code')].map(code => code.textContent),
  warns: [...article.querySelectorAll('li.warn code')].map(code => code.textContent),
}))
"""


class Shown:
    """What the page shows of one run."""

    def __init__(self, read: dict[str, Any]) -> None:
        self.name: str = read["name"]
        self.verdict: str = read["verdict"]
        self.fails: list[str] = read["fails"]
        self.warns: list[str] = read["warns"]

    @property
    def codes(self) -> set[str]:
        """Every reason code that it names."""
        return {*self.fails, *self.warns}


def write_page(folder: Path) -> Path:
    """Write verify.html and return its path."""
    path = folder / "verify.html"
    path.write_bytes(verifier_page())
    return path


class Desk:
    """One open verify.html, and everything that it asked for, logged or threw."""

    def __init__(self, browser: Any, path: Path, **context: Any) -> None:
        self.path = path
        self.page = browser.new_page(**context)
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))

    def open(self, now: int | None = None) -> Desk:
        """Load the page afresh; `now` (Unix seconds) is what its clock says."""
        if now is not None:
            self.page.clock.set_fixed_time(datetime.fromtimestamp(now, UTC))
        self.page.goto(self.path.as_uri())
        self.page.wait_for_selector("#verifier[data-ready]", state="attached")
        return self

    def pin(self, data: bytes, name: str = "policy.json") -> None:
        """Choose a key or policy file."""
        self.page.set_input_files("#pin-file", payload(name, data))
        self.page.wait_for_selector("#pin-clear", state="visible")

    def registry(self, data: bytes) -> None:
        """Choose a registry file."""
        self.page.set_input_files("#registry-file", payload("ragassay-keys.json", data))
        self.page.wait_for_selector("#registry-said:not(:empty)")

    def log(self, folder: Path) -> None:
        """Choose the folder of a log."""
        self.page.set_input_files("#log-folder", str(folder))
        self.page.wait_for_selector("#log-said:not(:empty)")

    def check(self, given: Sequence[tuple[str, bytes]], *, strict: bool = False) -> list[Shown]:
        """Choose runs and return what is shown of each, in their order."""
        self.page.set_checked("#strict", strict)
        self.settle()
        self.page.evaluate("document.querySelector('#result').removeAttribute('data-done')")
        self.page.set_input_files("#run-files", [payload(name, data) for name, data in given])
        return self.results()

    def settle(self) -> None:
        """Wait for the check that a changed pin or switch set off, if there was anything to check."""
        if self.page.locator("#result article").count():
            self.page.wait_for_selector("#result[data-done]", state="attached")

    def results(self) -> list[Shown]:
        """Wait until the last check is done, and return what is shown."""
        self.page.wait_for_selector("#result[data-done]", state="attached")
        return [Shown(read) for read in self.page.evaluate(READ)]

    def text(self) -> str:
        """Return all that the result says."""
        found: str = self.page.text_content("#result")
        return found

    def close(self) -> None:
        """Close the page."""
        self.page.close()


def payload(name: str, data: bytes) -> dict[str, Any]:
    """Return a file as Playwright hands it to an input."""
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}
