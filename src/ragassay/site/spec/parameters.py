"""Everything that a configuration records, as names and values: flat, and what several rows share said once. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ragassay import canon
from ragassay.site.spec.document import Code, Text

LARGE = 4
"""Leaves from which a part that stands in several rows is listed once and named elsewhere."""
NO_VALUE = Text("no value")
WORDS_OF_UNKNOWN = frozenset({"unknown", "not recorded", "unrecorded"})


class Shared(msgspec.Struct, frozen=True):
    """A part that several rows have letter by letter: what it is called, what stands in its place, what it records.

    `row` names the row of which it is the whole description; None where it is a part in every row.
    """

    name: str
    instead: str
    part: dict[str, Any]
    row: str | None


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Code | Text]]:
    """Yield each value of a description with the path to it; a list of plain values is one value."""
    if isinstance(value, Shared):
        yield path, Text(value.instead)
    elif isinstance(value, dict) and value:
        for key in sorted(value, key=lambda name: (name != "kind", name)):
            yield from leaves(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(one, dict | Shared) for one in value):
        for place, one in enumerate(value, 1):
            yield from leaves(one, f"{path}[{place}]")
    else:
        yield path, written(value)


def written(value: Any) -> Code | Text:
    """Write one recorded value: texts as they are, what is empty or has no value in words."""
    if value is None:
        return NO_VALUE
    if value in ("", [], {}):
        return Text("empty")
    return Code(_plain(value))


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        return ", ".join("no value" if one is None else _plain(one) for one in value)
    return str(value) if isinstance(value, int) else canon.canonical(value).decode("utf-8")


def without_secrets(text: str) -> str:
    """Return an address without user, password, query and fragment, which may hold a key; any other text as it is."""
    if not re.match(r"(?i)[a-z][a-z0-9+.-]*://", text):
        return text
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "(an address that cannot be read)"
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"


def unvalued(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each parameter that is recorded without a value, or as unknown."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from unvalued(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for place, one in enumerate(value, 1):
            yield from unvalued(one, f"{path}[{place}]")
    elif value is None or (isinstance(value, str) and value.lower() in WORDS_OF_UNKNOWN):
        yield path


def asked_for(entry: Any, described: Any, path: str = "") -> Iterator[tuple[str, Code | Text]]:
    """Yield what the board file asks for and the stack did not say of itself under the same name."""
    if isinstance(entry, dict):
        own = described if isinstance(described, dict) else {}
        for key in sorted(entry):
            yield from asked_for(entry[key], own.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(entry, list) and isinstance(described, list) and len(entry) == len(described):
        for place, (one, other) in enumerate(zip(entry, described, strict=True), 1):
            yield from asked_for(one, other, f"{path}[{place}]")
    elif entry != described:
        yield path, written(entry)


def parts_of(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every part of a description, itself first: each table that says its `kind`."""
    if isinstance(value, dict):
        if "kind" in value:
            yield value
        for one in value.values():
            yield from parts_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from parts_of(one)


def shared_parts(described: Mapping[str, Any]) -> dict[str, Shared]:
    """Return the large parts that stand in more than one row, by their digest; `described` is by row name."""
    rows: Counter[str] = Counter()
    found: dict[str, dict[str, Any]] = {}
    for value in described.values():
        own = {canon.digest(part): part for part in parts_of(value) if len(list(leaves(part))) >= LARGE}
        rows.update(own.keys())
        found |= own
    whole: dict[str, str] = {}
    for name, value in described.items():
        whole.setdefault(canon.digest(value), name)
    kept = {digest: part for digest, part in found.items() if rows[digest] > 1}
    kinds = Counter(str(part["kind"]) for digest, part in kept.items() if digest not in whole)
    return {
        digest: _shared(part, digest, whole.get(digest), alone=kinds[str(part["kind"])] == 1)
        for digest, part in kept.items()
    }


def _shared(part: dict[str, Any], digest: str, row: str | None, *, alone: bool) -> Shared:
    kind = str(part["kind"])
    name = kind if alone else f"{kind} {digest[:8]}"
    return Shared(name, f"as in the row {row}" if row is not None else f"{name}, listed below", part, row)


def with_shared(value: Any, shared: Mapping[str, Shared], *, within: str | None = None) -> Any:
    """Return a description with each shared part replaced by its name; `within` is the part that is not replaced."""
    if isinstance(value, dict):
        digest = canon.digest(value) if "kind" in value else None
        if digest is not None and digest in shared and digest != within:
            return shared[digest]
        return {key: with_shared(one, shared, within=within) for key, one in value.items()}
    if isinstance(value, list):
        return [with_shared(one, shared, within=within) for one in value]
    return value
