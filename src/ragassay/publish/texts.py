"""Every text of a run that would become public, each with its place. Pure.

The files are walked as JSON, whatever their members are: a member that is added to a record later is scanned as well.
"""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from ragassay.manifest.files import OUTPUTS, TELEMETRY
from ragassay.manifest.judgement import REPLIES, VERDICTS
from ragassay.site.loaded import LoadedRun

JUDGEMENTS = "judgements/"
"""What stands before the name of a judgement's file: `judgements/<its folder>/<file>`."""
ITEMS = "item manifest"
"""The place of what the item manifest of the run's frozen question set says: the site serves it as it was signed."""
NAME_OF = " (its name)"
"""What follows a place where the name of a member is the text."""

_ROWS = frozenset({OUTPUTS, TELEMETRY, VERDICTS, REPLIES})
"""Files whose members have names that the records fix: their names are not texts of anyone."""
_NUMBERED = {"chunks": "rank", "claims": "id"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_Pairs: TypeAlias = "tuple[tuple[str, Any], ...]"


class PublicText(msgspec.Struct, frozen=True, kw_only=True):
    """One text and where it stands: file, question (None outside rows), and member.

    `field` is `answer`, `chunks/<rank>/text`, `claims/<id>/quote`, `failure/message`; in telemetry the same with
    `telemetry/` before it, as `telemetry/judgeReplies/0/text`; elsewhere the JSON path, its members joined by `/`.
    """

    run: str | None
    file: str
    item: str | None
    field: str
    text: str


def public_texts(run: LoadedRun) -> Iterator[PublicText]:
    """Yield every string of a run's files, of its judgements that are not refused and of its item manifest, in order.

    So are the names of members where anybody may choose them, and whole files that are no JSON. A lone surrogate is
    replaced by U+FFFD, so that offsets stay.
    """
    for name in sorted(run.files):
        yield from file_texts(run.id, name, run.files[name])
    for judgement in run.judgements:
        if judgement.document is not None:
            for name in sorted(judgement.files):
                yield from file_texts(run.id, f"{JUDGEMENTS}{judgement.id}/{name}", judgement.files[name])
    if run.items is not None:
        yield from file_texts(run.id, ITEMS, run.items)


def file_texts(run: str | None, name: str, data: bytes) -> Iterator[PublicText]:
    """Yield every string of one file, as `public_texts` does of those of a run."""
    base = name.rpartition("/")[2]
    if base in _ROWS:
        for line in data.split(b"\n"):
            if line:
                yield from _row(run, name, base, line)
        return
    value = _parsed(data)
    if value is _NO_JSON:
        yield text_at(run, name, None, "", data.decode("utf-8", "replace"))
    else:
        yield from _values(run, name, None, "", _opened(value), names=True)


def _row(run: str | None, file: str, base: str, line: bytes) -> Iterator[PublicText]:
    value = _parsed(line)
    if value is _NO_JSON:
        yield text_at(run, file, None, "", line.decode("utf-8", "replace"))
        return
    item = _member(value, "id")
    prefix = "telemetry" if base == TELEMETRY else ""
    yield from _values(run, file, item if isinstance(item, str) else None, prefix, value, names=False)


def _values(
    run: str | None, file: str, item: str | None, path: str, value: Any, *, names: bool
) -> Iterator[PublicText]:
    """Yield the strings below `value`, depth first, without recursion: a file may be nested as deep as it likes."""
    waiting: list[tuple[str, str | None, Any]] = [(path, item, value)]
    while waiting:
        at, of, now = waiting.pop()
        if isinstance(now, str):
            yield text_at(run, file, of, at, now)
        elif isinstance(now, list):
            rows = [(_joined(at, _number(at, place, one)), _owner(at, of, one), one) for place, one in enumerate(now)]
            waiting.extend(reversed(rows))
        elif isinstance(now, tuple):
            if names:
                for key, _ in now:
                    yield text_at(run, file, of, _joined(at, key) + NAME_OF, key)
            waiting.extend(reversed([(_joined(at, key), of, one) for key, one in now]))


def _number(at: str, place: int, one: Any) -> str:
    """Return how an element of a list is named: a chunk by its rank, a row's claim by its id, else from 0."""
    member = _member(one, _NUMBERED[at]) if at in _NUMBERED else None
    return str(place if not isinstance(member, int | str) else member)


def _owner(at: str, of: str | None, one: Any) -> str | None:
    """Return the question that an element of a list belongs to: in `samples` it is the element's own id."""
    if at != "samples":
        return of
    member = _member(one, "id")
    return member if isinstance(member, str) else of


def _member(value: Any, name: str) -> Any:
    if not isinstance(value, tuple):
        return None
    return next((one for key, one in value if key == name), None)


def _joined(path: str, key: str) -> str:
    escaped = _clean(key).replace("~", "~0").replace("/", "~1")
    return f"{path}/{escaped}" if path else escaped


def text_at(run: str | None, file: str, item: str | None, field: str, text: str) -> PublicText:
    """Return a text and where it stands; a lone surrogate in it is replaced by U+FFFD, so that offsets stay."""
    return PublicText(
        run=run, file=file, item=None if item is None else _clean(item), field=_clean(field), text=_clean(text)
    )


def _clean(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


class _NoJson:
    """Stands for bytes that are no JSON."""


_NO_JSON = _NoJson()


def _parsed(data: bytes) -> Any:
    """Return JSON with every object as a tuple of its pairs, so that a name that stands twice hides nothing."""
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return _NO_JSON


def _opened(value: Any) -> Any:
    """Return a signed envelope with what its payload says in the payload's place, anything else as it is."""
    payload = _member(value, "payload")
    if not isinstance(payload, str) or _member(value, "signatures") is None:
        return value
    try:
        inner = _parsed(b64decode(payload, validate=True))
    except (binascii.Error, ValueError):
        return value
    if inner is _NO_JSON:
        return value
    return tuple((key, inner if key == "payload" else one) for key, one in value)
