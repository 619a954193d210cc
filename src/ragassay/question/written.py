"""Questions as a person writes them: which keys there are, of which type, and what is said when one is wrong."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from ragassay import fold
from ragassay.question.tree import join

MAX_ID = 200
"""The longest id, in characters."""


class WrittenClaim(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of `claims`; without `id` its position counts."""

    id: int | None = None
    text: str
    central: bool
    must: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = ()


class WrittenProvenance(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The entry `provenance`."""

    author: str | None = None
    tool: str | None = None
    created: str | None = None
    reviewed_by: str | None = None
    derived_from_system: bool | None = None


class WrittenSample(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of `samples`, or one row of a table."""

    id: str | None = None
    input: str
    target: str
    page: str | None = None
    topic: str | None = None
    evidence: str | tuple[str, ...] | None = None
    claims: list[Any] | None = None
    provenance: dict[str, Any] | None = None
    unsplit: bool | None = None


class WrittenFile(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    name: str | None = None
    version: str = "0"
    corpus: dict[str, Any] | None = None
    samples: list[Any]
    scorer_key: str = msgspec.field(name="scorerKey", default="llm-factual-consistency-vs-reference")


_HINTS = {
    "must": '`must` is a list of lists: every inner list needs one hit, as in [["16", "sixteen"]]',
    "must_not": '`must_not` is one flat list of texts, as in ["0", "2"]',
    "claims": "`claims` is a list of objects with `text` and `central`",
    "evidence": "`evidence` is a text or a list of alternative texts",
    "samples": "`samples` is a list of objects with `id`, `input` and `target`",
    "corpus": "`corpus` is an object of your own, without fractional numbers",
    "version": '`version` is a text, as in "1"',
}
_JSON_WORDS = {"str": "text", "array": "list", "int": "integer", "bool": "true or false", "null": "null"}


def fields(value: object, form: type[msgspec.Struct], place: str, problems: list[str]) -> dict[str, Any] | None:
    """Return the keys of `value` that `form` knows, each converted to its type; None where it is no object.

    Unknown, missing and ill-typed keys are added to `problems`; an ill-typed one is left out.
    """
    if not isinstance(value, Mapping):
        problems.append(f"{place.rstrip(' :,') or 'the file'}: expected an object, got {_kind(value)}")
        return None
    known = _fields_of(form)
    taken: dict[str, Any] = {}
    for name, member in value.items():
        if name not in known:
            problems.append(f"{join(place, name)}: unknown key{_nearest(name, known)}")
            continue
        try:
            taken[known[name].name] = msgspec.convert(member, known[name].type)
        except msgspec.ValidationError as error:
            problems.append(_ill_typed(error, join(place, name), name))
    for name, field in known.items():
        if field.required and name not in value:
            problems.append(f"{join(place, name)}: is missing")
    return taken


def text_problem(value: str, *, what: str = "") -> str | None:
    """Return why `value` is no usable text (empty or blank), or None."""
    if any(map(str.isalnum, value)) or fold.fold(value, ("invisible", "whitespace")).text.strip():
        return None
    return f"is {'empty' if not value else 'blank'}{what}"


def name_problem(value: str) -> str | None:
    """Return why `value` cannot name something, or None: blank, longer than 200, or with invisible characters."""
    if problem := text_problem(value):
        return problem
    if len(value) > MAX_ID:
        return f"has {len(value)} characters, more than the {MAX_ID} allowed"
    bad = next((char for char in value if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")), None)
    if bad is not None:
        return f"holds the control character U+{ord(bad):04X}"
    if value != value.strip():
        return "begins or ends with a space"
    return None


@lru_cache(maxsize=8)
def _fields_of(form: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(form)}


def _nearest(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, known, 1) or [k for k in known if k.lower() == name.strip().lower()]
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"


def _ill_typed(error: msgspec.ValidationError, place: str, name: str) -> str:
    message, _, path = str(error).partition(" - at `$")
    message = re.sub(r"`([^`]*)`", lambda found: " or ".join(map(_word, found[1].split(" | "))), message)
    hint = f"; {_HINTS[name]}" if name in _HINTS else ""
    return f"{place}{path.rstrip('`')}: {message[:1].lower()}{message[1:]}{hint}"


def _word(name: str) -> str:
    return _JSON_WORDS.get(name, name)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return {str: "text", list: "a list", bool: "true or false", int: "an integer"}.get(type(value), "something else")
