"""What every record is, JSON objects, and secrets that print as stars."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeAlias
from urllib.parse import quote, quote_plus

import msgspec

JSON: TypeAlias = dict[str, Any]
"""A JSON object whose shape its own document describes."""


class Record(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel", omit_defaults=False
):
    """A finished value."""


def to_json(record: object) -> Any:
    """Return the JSON form (dicts, lists, strings, integers, booleans, None) of a record."""
    return msgspec.to_builtins(record)


class Secret:
    """A key that prints as `***`, cannot be pickled, and gives its text only to `reveal()`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text of the key."""
        return self._text

    def scrub(self, text: str) -> str:
        """Return `text` with every occurrence of the key replaced, also as Python, JSON or an address writes it."""
        if len(self._text) < 4:
            return text
        raw = self._text.encode("utf-8", "surrogateescape")
        forms = {self._text, repr(self._text)[1:-1], repr(raw)[2:-1], json.dumps(self._text)[1:-1]}
        forms |= {json.dumps(self._text, ensure_ascii=False)[1:-1], quote(raw, safe=""), quote_plus(raw)}
        for form in sorted(forms, key=lambda form: (-len(form), form)):
            text = text.replace(form, "***")
        return text

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is never written anywhere")
