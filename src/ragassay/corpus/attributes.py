"""A tag with thousands of attributes takes the HTML parser hours: it is found before anything is parsed. Pure."""

from __future__ import annotations

import re

MOST = 1_000
"""So many attributes may one tag have."""
_SHORTEST = 3 * MOST
"""A tag with more attributes than that has more characters: each has a name, and what parts it from the next."""
_TAG = re.compile(r"""<[a-zA-Z](?:[^>=]++|=\s*+(?:"[^"]*+"?+|'[^']*+'?+)?+)*+""")
_VALUE = re.compile(r"""=\s*+(?:"[^"]*+"?+|'[^']*+'?+|[^\s>]*+)""")
_PARTS = re.compile(r"[\s/]+")
_SKIPPED = re.compile(r"<!--(?:>|->|.*?(?:--!?>|\Z))|<(?=[a-zA-Z])", re.S)
_SCRIPT = re.compile(r"<(script|style)(?=[\s/>])", re.I)
_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.I) for name in ("script", "style")}


def attributes_problem(page: str) -> str | None:
    """Return why an HTML page is not parsed, None where every tag has a number of attributes that can be read."""
    if not any(_has_many(found) for found in _TAG.finditer(page)):
        return None
    at = 0
    while (found := _SKIPPED.search(page, at)) is not None:
        at = found.end()
        if found.group() != "<":
            continue
        tag = _TAG.match(page, found.start())
        assert tag is not None  # the same letter stands behind the same bracket
        if _has_many(tag):
            line = page.count("\n", 0, tag.start()) + 1
            return f"a tag on line {line} has more than {MOST:,} attributes"
        at = tag.end()
        if (script := _SCRIPT.match(page, tag.start())) is not None:
            end = _ENDS[script.group(1).lower()].search(page, at)
            at = len(page) if end is None else end.start()
    return None


def _has_many(tag: re.Match[str]) -> bool:
    if tag.end() - tag.start() < _SHORTEST:
        return False
    return len(_PARTS.split(_VALUE.sub("= ", tag.group()))) - 1 > MOST
