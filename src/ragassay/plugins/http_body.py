"""The bytes of a reply become one JSON object, or the objects of an event stream, without I/O; nothing is guessed.

An event stream is read by the rules of the HTML standard, section "Server-sent events": lines end in LF, CR or CR LF,
a blank line ends an event, `data` lines of one event are joined, comments and other fields are passed over.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from ragassay.records import JSON

_DONE = "[DONE]"
_LINE = re.compile(r"\r\n|\n|\r")
_KEY_END = re.compile(rb'(?<!\\)"[ \t\r\n]*:')
_CONTAINERS = frozenset({dict, list})
_STREAM = (b"data:", b"event:", b": ")


class Malformed(Exception):
    """A reply that cannot be read; `retryable` says whether another attempt may bring a better one."""

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        self.retryable = retryable
        super().__init__(message)


class Events(msgspec.Struct, frozen=True, kw_only=True):
    """The objects of an event stream in order; `done` says whether the server wrote `[DONE]` after them."""

    objects: tuple[JSON, ...]
    done: bool


def decoded(data: bytes, content_type: str = "", list_name: str | None = None) -> JSON | Events:
    """Return the object that `data` holds, or its events where a stream came; raises `Malformed` for anything else.

    A list that holds one object is that object (Google's servers wrap their errors so); with `list_name` any list is an
    object with the list as its one member. A key that stands twice in an object is refused: two readers could take two
    answers from it.
    """
    if content_type.startswith("text/event-stream") or data.lstrip()[:6].startswith(_STREAM):
        return _events(data)
    value = _value(data)
    if isinstance(value, list) and list_name is not None:
        return {list_name: value}
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise Malformed("the reply is JSON but no object")
    return value


def plain(html: str) -> str:
    """Return the words of an HTML page, without tags, styles and scripts; any other text unchanged."""
    if not re.match(r"\s*<(!doctype\s+html|html|head|body|center|title)\b", html, re.IGNORECASE):
        return html
    without = re.sub(r"<(style|script)\b.*?(</\1\s*>|$)", " ", html, flags=re.IGNORECASE | re.DOTALL)
    return " ".join(re.sub(r"<[^>]*(>|$)", " ", without).split())


def _value(data: bytes) -> Any:
    try:
        value = msgspec.json.decode(data)
        if not _plainly_unique(data, value):
            json.loads(data, object_pairs_hook=_unique)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        text = data[:65_536].decode("utf-8", errors="replace")
        if (words := plain(text)) != text:
            said = words[:200] or "without words"
            raise Malformed(f"the reply is an HTML page and no JSON ({said}); check base_url") from error
        raise Malformed(f"the reply is no JSON ({_constant_in(data) or error})") from error
    return value


def _constant_in(data: bytes) -> str | None:
    """Say so where a reply would be JSON but for NaN or Infinity, which several libraries write."""
    found: list[str] = []
    try:
        json.loads(data, parse_constant=found.append)
    except (ValueError, RecursionError):
        return None
    return f"{found[0]} is no number of JSON" if found else None


def _plainly_unique(data: bytes, value: Any) -> bool:
    """Tell whether no key stands twice, where that is seen without reading the text again.

    As many keys were kept as there are quotes before a colon. An escaped quote is left out of that count, so text with
    a backslash before a backslash is not decided here: a key could end in one.
    """
    return b"\\\\" not in data and len(_KEY_END.findall(data)) == _keys(value)


def _keys(value: Any) -> int:
    """Return how many members the objects in a JSON value have together."""
    keys, containers = 0, [value]
    for container in containers:
        members = container
        if type(container) is dict:
            keys += len(container)
            members = container.values()
        elif type(container) is not list:
            continue
        containers += [member for member in members if type(member) in _CONTAINERS]
    return keys


def _unique(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!r} stands twice in an object")


def _events(data: bytes) -> Events:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Malformed(f"the event stream is no UTF-8 ({error})") from error
    objects: list[JSON] = []
    done = False
    for said in _payloads(text):
        if said.strip() == _DONE:
            done = True
            break
        value = _value(said.encode())
        if not isinstance(value, dict):
            raise Malformed("an event of the stream is JSON but no object")
        objects.append(value)
    return Events(objects=tuple(objects), done=done)


def _payloads(text: str) -> list[str]:
    """Return the data of each event; what stands after the last blank line counts too, whole or not."""
    payloads: list[str] = []
    lines: list[str] = []
    for line in (*_LINE.split(text), ""):
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            payloads.append("\n".join(lines))
            lines = []
    return payloads
