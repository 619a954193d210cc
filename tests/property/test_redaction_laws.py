"""Whatever texts are withheld, the copy is accepted and hides them; whatever else is changed in it is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay import canon
from ragassay.manifest.files import OUTPUTS, PUBLIC_OUTPUTS, PUBLIC_TELEMETRY, TELEMETRY, WITHHELD
from ragassay.manifest.redaction import CUT, GONE, Withholding, build_redaction, salted_digest, salts_from
from ragassay.manifest.withheld_texts import texts_of
from ragassay.testing.logged_run import KEY_POLICY, NOW, OURS, SEEN_AT, Story, planned_id, tell
from ragassay.testing.redacted_run import REDACTED_AT, Redacting, redact
from ragassay.testing.signed_run import signed_run
from ragassay.verify import load_policy, verify

RUN = signed_run(run_id=planned_id(1), items=4, failed=[2])
FILES = tell(Story(), RUN).files
POLICY = load_policy(KEY_POLICY)
SALTS = salts_from(b"laws", planned_id(1))


def _places() -> Iterator[tuple[str, str, str]]:
    for name in (OUTPUTS, TELEMETRY):
        for line in FILES[name].splitlines():
            row = json.loads(line)
            for field, (holder, member) in texts_of(row).items():
                yield row["id"], field, holder[member]


PLACES = [*_places()]
"""Question, field and text of all that may be withheld."""


@st.composite
def decisions(draw: st.DrawFn) -> list[Withholding]:
    """Some of the texts, each whole or in spans."""
    found = []
    for name, field, text in draw(st.lists(st.sampled_from(PLACES), min_size=1, unique_by=lambda one: one[:2])):
        spans = None
        if text and draw(st.booleans()):
            starts = draw(st.lists(st.integers(0, len(text) - 1), min_size=1, max_size=3))
            spans = tuple((start, draw(st.integers(start + 1, len(text)))) for start in starts)
        found.append(Withholding(id=name, field=field, reason=draw(st.sampled_from(["a", "b"])), spans=spans))
    return found


@given(decisions())
@settings(max_examples=150, deadline=None)
def test_any_choice_of_texts_is_accepted_and_gone(withhold: list[Withholding]) -> None:
    """Only the decided texts change, each has its entry, and no finding fails but that the redaction is unlogged."""
    files = build_redaction(FILES, withhold, salts=SALTS, signer=OURS, created=SEEN_AT)
    report = verify(files, policy=POLICY, now=NOW)
    assert report.ok()
    assert report.codes == {"TEXT_WITHHELD", "UNWITNESSED", "RETRIEVAL_FAILED", "MISSING_ITEMS"}
    assert report.withheld is not None
    assert report.withheld.texts == len(withhold)
    shown = {(name, field): text for name, field, text in _shown(files)}
    decided = {(one.id, one.field): one for one in withhold}
    for name, field, text in PLACES:
        if (name, field) not in decided:
            assert shown[name, field] == text
        elif field.startswith("chunks/"):
            assert shown[name, field] is None
        elif decided[name, field].spans is None:
            assert shown[name, field] == GONE
        else:
            assert CUT in (shown[name, field] or "")
    listed = {(row["id"], one["field"]): one for row in _rows(files, WITHHELD) for one in row["texts"]}
    assert set(listed) == set(decided)
    texts = {(name, field): text for name, field, text in PLACES}
    for (name, field), one in listed.items():
        assert one["saltedSha256"] == salted_digest(SALTS(name, field), texts[name, field])


def _shown(files: dict[str, bytes]) -> Iterator[tuple[str, str, str | None]]:
    telemetry = PUBLIC_TELEMETRY if PUBLIC_TELEMETRY in files else TELEMETRY
    for name in (PUBLIC_OUTPUTS, telemetry):
        for row in _rows(files, name):
            for field, (holder, member) in texts_of(row).items():
                yield row["id"], field, holder[member]


def _rows(files: dict[str, bytes], name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in files[name].splitlines()]


HONEST = redact(Redacting()).files
FREE = {
    ("q-001", field) for field in ("answer", "claims/1/quote", "claims/1/reason", "claims/2/quote", "claims/2/reason")
}
FREE |= {("q-002", field) for field in ("answer", "claims/1/quote", "claims/2/quote", "claims/2/reason")}
"""Texts of listed rows: what is shown of them rests on the redaction's signature alone."""


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if members is None or not value:
        yield path
        return
    for key, inner in members:
        yield from _leaves(inner, (*path, key))


def _field(row: dict[str, Any], path: tuple[Any, ...]) -> str | None:
    """Return the field of the text at a path of a row, None where it is no text that may be withheld."""
    at: Any = row
    for key in path[:-1]:
        at = at[key]
    return next((field for field, (holder, name) in texts_of(row).items() if holder is at and name == path[-1]), None)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_nothing_else_can_be_changed_by_who_signs(data: st.DataObject) -> None:
    """Any other member of any row of outputs or telemetry, changed and signed and logged, is refused."""
    name = data.draw(st.sampled_from([PUBLIC_OUTPUTS, PUBLIC_TELEMETRY]))
    rows = _rows(HONEST, name)
    at = data.draw(st.integers(0, len(rows) - 1))
    path = data.draw(st.sampled_from(list(_leaves(rows[at]))))
    values: list[Any] = [None, True, False, 0, 1, 99, "", "x", GONE, [], {}, "0" * 64]
    value = data.draw(st.sampled_from(values))
    if (rows[at]["id"], _field(rows[at], path)) in FREE:
        return

    def change(changed: list[dict[str, Any]]) -> None:
        holder: Any = changed[at]
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value

    change(rows)
    written = b"".join(canon.canonical(row) + b"\n" for row in rows)
    if written == HONEST[name]:
        return
    lie = Redacting(rows=change) if name == PUBLIC_OUTPUTS else Redacting(telemetry=change)
    report = verify(redact(lie).files, policy=POLICY, now=NOW)
    assert not report.ok(), (path, value)


def test_the_honest_copy_is_accepted() -> None:
    """So that the changes mean something."""
    assert verify(HONEST, policy=POLICY, now=NOW).ok(strict=True)
    assert REDACTED_AT > SEEN_AT
