"""A real, headless Chromium for tests, and what is measured in any page that it shows."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
LEAST_CONTRAST = 4.5
"""What WCAG 2 asks of text on level AA."""
CONTRAST = """
places => {
  const lin = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const rgb = c => c.match(/[\\d.]+/g).map(Number);
  const lum = c => .2126 * lin(c[0]) + .7152 * lin(c[1]) + .0722 * lin(c[2]);
  const under = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const page = rgb(getComputedStyle(document.body).backgroundColor);
  let worst = [99, ''];
  for (const e of document.querySelectorAll(places)) {
    if (e.closest('svg') || ![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())) continue;
    const [a, b] = [lum(rgb(getComputedStyle(e).color)), lum(under(e) || page)];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 120)];
  }
  return worst;
}
"""


@contextmanager
def open_browser(*, else_needs: str = "") -> Iterator[Any]:
    """Yield a headless Chromium with a new profile; skips the test where it or Playwright is absent.

    `else_needs` names what would have done instead, for the message of the skip: "Node or ".
    """
    if not CHROMIUM.exists():
        pytest.skip(f"needs {else_needs}a browser ({CHROMIUM} is absent)")
    try:
        api = importlib.import_module("playwright.sync_api")
    except ImportError:
        pytest.skip(f"needs {else_needs}Playwright for Python (`pip install playwright`)")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield found
        found.close()


def width_of(page: Any) -> int:
    """Return how wide the page's content is, in CSS pixels: more than its window where it scrolls sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth"))


def worst_contrast(page: Any, places: str = "main *, header *, footer *") -> tuple[float, str]:
    """Return the least ratio (1 to 21) of a text to what is under it, and the element; 99 where there is no text."""
    ratio, where = page.evaluate(CONTRAST, places)
    return float(ratio), str(where)
