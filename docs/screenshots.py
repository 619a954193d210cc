"""Writes the pictures of the README: `python docs/screenshots.py SITE FOLDER`, SITE being a built site.

The board and the question that separates its rows most are photographed in headless Chromium from their files, light
and dark, in the width of a laptop; then the board's first screen on a telephone. The same site gives the same pictures,
but for the version of the browser and its fonts.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE, TALL, TALLER = 1200, 820, 1120
PHONE, PHONE_TALL = 360, 740


def photograph(site: Path, folder: Path) -> list[Path]:
    """Write the pictures of `site` into `folder` and return their paths."""
    question = site / _first_question((site / "index.html").read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            return [
                _shot(browser, site / "index.html", folder / "board-light.png", "light", WIDE, TALL),
                _shot(browser, site / "index.html", folder / "board-dark.png", "dark", WIDE, TALL),
                _shot(browser, question, folder / "question-light.png", "light", WIDE, TALLER),
                _shot(browser, question, folder / "question-dark.png", "dark", WIDE, TALLER),
                _shot(browser, site / "index.html", folder / "board-phone.png", "light", PHONE, PHONE_TALL),
            ]
        finally:
            browser.close()


def _first_question(board: str) -> str:
    """Return the address of the question that stands first in the map of a board, where those that separate most do."""
    found = re.search(r'href="(questions/[^"]+)"', board)
    if found is None:
        raise ValueError("the site has no page of a question")
    return found[1]


def _shot(
    browser: Browser, page: Path, target: Path, scheme: Literal["light", "dark"], width: int, height: int
) -> Path:
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, offline=True)
    try:
        tab = context.new_page()
        tab.goto(page.resolve().as_uri())
        tab.screenshot(path=str(target), animations="disabled")
    finally:
        context.close()
    return target


def main(arguments: list[str]) -> int:
    """Write the pictures; return 2 where the arguments are not a built site and a folder."""
    if len(arguments) != 2 or not (Path(arguments[0]) / "index.html").is_file():
        print(__doc__, file=sys.stderr)
        return 2
    for path in photograph(Path(arguments[0]), Path(arguments[1])):
        print(f"{path} ({path.stat().st_size >> 10} KiB)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
