"""The small scripts of the pages, each inline under its hash; every page can be read without them."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import msgspec
from markupsafe import Markup

from ragassay.site.verifier_page import source_hash


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """A script of ours and its hash as a content security policy names it."""

    text: Markup
    hash: str


@lru_cache(maxsize=4)
def script(name: str) -> Script:
    """Return the script `templates/<name>.js`; raises `ValueError` where HTML would end it."""
    text = files("ragassay.site").joinpath(f"templates/{name}.js").read_text(encoding="utf-8")
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError("the script holds what ends a script element")
    return Script(text=Markup(text), hash=source_hash(text))  # our own file
