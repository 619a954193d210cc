"""What two rows of one name measure otherwise, member by member. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ragassay import canon
from ragassay.records import Measure, to_json
from ragassay.site.record import BoardRow
from ragassay.site.standrecord import Change
from ragassay.site.window import RowRuns


def changes(before: Measure, after: Measure) -> tuple[Change, ...]:
    """Return each member that differs, in the order of their paths (`stack.describe.dim`); a list is one value."""
    old, new = dict(leaves(to_json(before))), dict(leaves(to_json(after)))
    return tuple(
        Change(field=path, before=old.get(path), after=new.get(path))
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    )


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the JSON text of every member that is no object with members of its own."""
    if isinstance(value, Mapping) and value:
        for name in sorted(value):
            yield from leaves(value[name], f"{path}.{name}" if path else str(name))
    else:
        yield path, canon.canonical(value).decode("utf-8")


def as_read(text: str) -> str:
    """Return the JSON text of a value as it is read: a string that is not empty without its quotes."""
    value = json.loads(text)
    return value if isinstance(value, str) and value else text


def with_changes(lines: Sequence[BoardRow], rows: Sequence[RowRuns]) -> list[BoardRow]:
    """Return the lines, superseded ones with what the row that stands in their place measures otherwise."""
    measures = {row.key: row.runs[-1].config.measure for row in rows if row.runs[-1].config is not None}
    standing = {line.name: line.key for line in lines if line.standing not in ("superseded", "not_run", "voided")}
    found = []
    for line in lines:
        before, after = measures.get(line.key), measures.get(standing.get(line.name, ""))
        if line.standing == "superseded" and before is not None and after is not None:
            line = msgspec.structs.replace(line, changes=changes(before, after))
        found.append(line)
    return found
