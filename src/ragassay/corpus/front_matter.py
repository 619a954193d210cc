"""The metadata block at the head of a Markdown file (`---` YAML or `+++` TOML), told apart from a thematic break."""

from __future__ import annotations

import re

_FENCES = {"---": re.compile(r"[\w\"'.$@/-][^:\n]*:(\s|$)"), "+++": re.compile(r"[\w\"'.-]+[^=\n]*=|\[")}
_CLOSING = {"---": ("---", "..."), "+++": ("+++",)}
_TITLE = re.compile(r"""title\s*[:=]\s*(?P<quote>["']?)(?P<title>.+?)(?P=quote)\s*""")


def split(text: str) -> tuple[str, str]:
    """Return (front matter with its fences, the rest); the first is empty when there is none.

    The block must open on the first line, be closed, and begin with a `key:` (YAML) or `key =` / `[table]` (TOML)
    line after comments and blank lines; otherwise the lines are content and stay.
    """
    first, _, _ = text.partition("\n")
    fence = first.rstrip()
    if fence not in _FENCES or first.startswith(" "):
        return "", text
    at = len(first) + 1
    said_key = False
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].rstrip()
        at = end + 1
        if line in _CLOSING[fence]:
            return (text[:at], text[at:]) if said_key else ("", text)
        if not said_key and line and not line.startswith("#"):
            if not _FENCES[fence].match(line):
                return "", text
            said_key = True
    return "", text


def title(block: str) -> str | None:
    """Return the value of the `title` key of a front matter block, None without one."""
    for line in block.split("\n"):
        if found := _TITLE.fullmatch(line[:500]):
            return found.group("title").strip() or None
    return None
