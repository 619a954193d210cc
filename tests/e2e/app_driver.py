"""Starts the local app as a program of its own, and sits at one of its pages as a person would."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browser_driver import LEAST_CONTRAST, width_of, worst_contrast

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\?token=\S+")


@contextmanager
def running(verb: str, workspace: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run a verb that serves a page, and yield its address and process; kill it if the test leaves it running."""
    command = [sys.executable, "-m", "ragassay", verb, str(workspace), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = next(found.group() for line in process.stderr if (found := ADDRESS.search(line)))
            yield address, process
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)


class Watched:
    """A page of one person's own browser profile, with everything that it complained of or asked for."""

    patience = 60.0
    """Seconds that `until` waits."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def text(self, place: str) -> str:
        """Return the text of an element."""
        return str(self.page.inner_text(place))

    def until(self, holds: str, given: object = None) -> None:
        """Wait until an expression over `given` holds; the page's policy forbids Playwright's own way to wait."""
        end = time.monotonic() + self.patience
        while not self.page.evaluate(f"given => {holds}", given):
            assert time.monotonic() < end, holds
            self.page.wait_for_timeout(20)

    def waits_for(self, place: str, text: str) -> None:
        """Wait until an element's text holds `text`."""
        self.until("document.querySelector(given[0]).innerText.includes(given[1])", [place, text])

    def gives_name(self, name: str) -> None:
        """Give a name with the keyboard alone."""
        self.page.wait_for_selector("#name-field:focus")
        self.page.keyboard.type(name)
        self.press("Enter")

    def fits(self, width: int, *places: str) -> None:
        """Assert that nothing scrolls sideways and that all text has contrast, in `places` too (CSS selectors)."""
        wide = width_of(self.page)
        assert wide <= width, (self.page.url, wide)
        ratio, where = worst_contrast(self.page, ", ".join(("main *", "header *", *places)))
        assert ratio >= LEAST_CONTRAST, (ratio, where)
