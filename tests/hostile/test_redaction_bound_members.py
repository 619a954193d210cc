"""Every member of a row that lost a text, changed by a publisher who signs it anew: only texts can differ unseen."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from ragassay.manifest.files import PUBLIC_OUTPUTS, PUBLIC_TELEMETRY
from ragassay.manifest.redaction import Withholding
from ragassay.testing.logged_run import KEY_POLICY, NOW
from ragassay.testing.redacted_run import Redacting, Rows, redact
from ragassay.verify import load_policy, verify

POLICY = load_policy(KEY_POLICY)
FIELDS = ("claims/2/reason", "telemetry/judgeReplies/0/text")
HONEST = Redacting(withhold=tuple(Withholding(id="q-002", field=field, reason="a name") for field in FIELDS))
FILES = redact(HONEST).files
AT = 1
"""The place of the row that lost texts; in it the second claim is omitted, so that its quote proves nothing."""
Path = tuple[Any, ...]


def paths_of(value: Any, path: Path) -> Iterator[Path]:
    """Yield the path of every member below a JSON value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from paths_of(inner, (*path, key))


def others(value: Any) -> list[Any]:
    """Return other values that stand in its place, most of them of its type."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int):
        return [value + 1, value - 1, None]
    if isinstance(value, str):
        return [f"{value}x", "", None]
    if isinstance(value, list):
        return [[], [*value, *value[:1]]]
    return [None] if value is not None else [0, "x", {}]


def changes(rows: Rows) -> Iterator[tuple[Path, Rows]]:
    """Yield the rows after each change of one member of the row that lost texts, with the member's path."""
    for path in paths_of(rows[AT], ()):
        *above, last = path
        holder: Any = rows[AT]
        for key in above:
            holder = holder[key]
        for value in [*others(holder[last]), ...]:
            changed = copy.deepcopy(rows)
            at: Any = changed[AT]
            for key in above:
                at = at[key]
            if value is ...:
                at.pop(last)
            else:
                at[last] = copy.deepcopy(value)
            if changed != rows:
                yield path, changed


def accepted(side: str, name: str) -> set[str]:
    """Return the members by whose change the run is still accepted, as it was signed anew."""
    found = set()
    rows = [json.loads(line) for line in FILES[name].splitlines()]
    for path, changed in changes(rows):

        def change(given: Rows, changed: Rows = changed) -> None:
            given[:] = changed

        files = redact(msgspec.structs.replace(HONEST, logged=False, **{side: change})).files
        if verify(files, policy=POLICY, now=NOW).ok():
            found.add("/".join(map(str, path)))
    return found


@pytest.mark.parametrize(
    ("side", "name", "texts"),
    [
        ("rows", PUBLIC_OUTPUTS, {"answer", "claims/0/reason", "claims/1/quote"}),
        ("telemetry", PUBLIC_TELEMETRY, set()),
    ],
)
def test_nothing_but_a_text_that_may_be_withheld(side: str, name: str, texts: set[str]) -> None:
    """Of what is not withheld: the answer, a reason, and a quote that proves nothing; no verdict, score or figure."""
    assert accepted(side, name) == texts
