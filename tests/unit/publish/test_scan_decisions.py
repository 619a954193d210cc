"""Decisions: appended, never changed, the last holds, and none that cannot be carried out."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import msgspec
import pytest
from scan_lab import answer, scanned

from ragassay.errors import InputError
from ragassay.publish.deciding import MAX_REASON, PlaceKey, is_fixed, of_run, possible, with_decisions
from ragassay.publish.decisions import DecisionFile, decided_by_place, undecided
from ragassay.publish.texts import PublicText
from ragassay.records.publication import Action, Finding, Place


def _finding(*fields: tuple[str, str], kind: str = "email") -> Finding:
    """Return a finding that stands in given members, as (file, field)."""
    places = tuple(Place(file=file, run="r1", item="q-1", field=field, start=3, end=9) for file, field in fields)
    return msgspec.convert(
        {
            "id": f"{len(fields):016x}",
            "kind": kind,
            "detector": "d",
            "text": "secret",
            "before": "",
            "after": "",
            "places": msgspec.to_builtins(places),
        },
        Finding,
    )


ANSWER = ("outputs.jsonl", "answer")


def test_a_decision_is_there_after_it_was_stored(tmp_path: Path) -> None:
    """What was added is read back, in order, and the last of a finding holds."""
    file = DecisionFile(tmp_path)
    (found,) = scanned("ann@acme.io").findings
    assert file.decisions() == []
    first = file.add(found, "allow", reason="  a public address ", by="Kim", at=5)
    last = file.add(found, "redact", reason="", by="Kim", at=6)
    assert file.decisions() == [first, last]
    assert first.reason == "a public address"
    spans = decided_by_place([found], file.decisions())
    assert [(key.field, [(one.start, one.end, one.action) for one in of]) for key, of in spans.items()] == [
        ("answer", [(0, 11, "redact")])
    ]
    assert file.path == tmp_path / "review" / "decisions.jsonl"
    assert (file.path.stat().st_mode & 0o777) == 0o600


def test_a_torn_last_line_is_not_there_and_is_cut_off(tmp_path: Path) -> None:
    """A kill in the middle of a line loses that line alone."""
    file = DecisionFile(tmp_path)
    one = file.add(_finding(ANSWER), "withhold", reason="", by="Kim", at=1)
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + whole[: len(whole) // 2])
    assert file.decisions() == [one]
    two = file.add(_finding(ANSWER), "allow", reason="fine", by="Kim", at=2)
    assert file.decisions() == [one, two]
    assert file.path.read_bytes().startswith(whole)


@pytest.mark.parametrize(
    "line",
    [b"\xff\xfe", b"{}", b"[]", b"", b'{"finding":1}', b"\x00" * 20, b"[" * 100_000, b'{"action":"publish"}'],
    ids=["bytes", "empty object", "list", "empty", "number", "nul", "deep", "action"],
)
def test_a_line_that_is_no_decision_is_named_and_nothing_is_added(tmp_path: Path, line: bytes) -> None:
    """A damaged file is an error with the line's number, and stays as it was."""
    file = DecisionFile(tmp_path)
    file.add(_finding(ANSWER), "redact", reason="", by="Kim", at=1)
    damaged = file.path.read_bytes() + line + b"\n"
    file.path.write_bytes(damaged)
    with pytest.raises(InputError, match="line 2"):
        file.decisions()
    with pytest.raises(InputError, match="no decisions"):
        file.add(_finding(ANSWER), "redact", reason="", by="Kim", at=2)
    assert file.path.read_bytes() == damaged


def test_a_folder_in_the_files_place_is_an_error(tmp_path: Path) -> None:
    """What is no plain file is not read."""
    file = DecisionFile(tmp_path)
    file.path.mkdir(parents=True)
    with pytest.raises(InputError, match="plain file"):
        file.decisions()


def test_decisions_of_many_threads_are_all_there(tmp_path: Path) -> None:
    """Writers wait for each other; no line is lost or mixed."""
    found = _finding(ANSWER)

    def work(name: str) -> None:
        for at in range(10):
            DecisionFile(tmp_path).add(found, "allow", reason="x" * 500, by=name, at=at)

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    decisions = DecisionFile(tmp_path).decisions()
    assert sorted((one.by, one.at) for one in decisions) == [(f"w{n}", at) for n in range(4) for at in range(10)]


@pytest.mark.parametrize(
    ("action", "reason", "by", "says"),
    [
        ("allow", "", "Kim", "takes a reason"),
        ("allow", "   ", "Kim", "takes a reason"),
        ("allow", "x" * (MAX_REASON + 1), "Kim", "at most 2000 characters"),
        ("allow", "fine", "", "a name of 1 to 80"),
        ("allow", "fine", "K" * 81, "a name of 1 to 80"),
        ("allow", "\ud800", "Kim", "lone surrogate"),
    ],
)
def test_a_decision_without_a_reason_or_a_name_is_refused(
    tmp_path: Path, action: Action, reason: str, by: str, says: str
) -> None:
    """To allow takes a reason of 1 to 2,000 characters, and whoever decides has a name."""
    file = DecisionFile(tmp_path)
    with pytest.raises(InputError, match=says):
        file.add(_finding(ANSWER), action, reason=reason, by=by)
    assert not file.path.exists()
    file.add(_finding(ANSWER), "allow", reason="x" * MAX_REASON, by="K" * 80)


FIXED = [
    ("outputs.jsonl", "question"),
    ("outputs.jsonl", "claims/1/text"),
    ("outputs.jsonl", "chunks/1/id"),
    ("outputs.jsonl", "chunks/1/page"),
    ("benchmark.json", "samples/0/target"),
    ("config.json", "measure/answer/base_url"),
    ("run.dsse.json", "payload/predicate/signer/name"),
    ("intent.dsse.json", "payload/predicate/row/name"),
    ("telemetry.jsonl", "telemetry/requestId"),
]
FREE = [
    ANSWER,
    ("outputs.jsonl", "chunks/12/text"),
    ("outputs.jsonl", "claims/3/quote"),
    ("outputs.jsonl", "claims/3/reason"),
    ("outputs.jsonl", "failure/message"),
    ("telemetry.jsonl", "telemetry/judgeReplies/0/text"),
    ("telemetry.jsonl", "telemetry/judgeReplies/0/problem"),
    ("judgements/j-1/replies.jsonl", "judgeReplies/0/text"),
]


@pytest.mark.parametrize("place", FIXED, ids=str)
def test_what_is_measured_or_signed_cannot_be_replaced(place: tuple[str, str]) -> None:
    """A finding that stands there can be allowed only; the error names the place and what to do."""
    found = _finding(ANSWER, place)
    assert is_fixed(found.places[1])
    assert possible(found) == ("allow",)
    with pytest.raises(InputError, match="run again") as caught:
        DecisionFile(Path("unused")).add(found, "redact", reason="", by="Kim")
    assert place[0] in str(caught.value)
    assert place[1] in str(caught.value)


def test_what_models_and_pages_said_can_be_replaced() -> None:
    """Answers, chunks, quotes, reasons and replies can be redacted or withheld."""
    found = _finding(*FREE)
    assert possible(found) == ("allow", "redact", "withhold")


def test_an_error_text_can_only_be_allowed() -> None:
    """No redaction turns an error into an answer."""
    assert possible(_finding(ANSWER, kind="error_text")) == ("allow",)
    with pytest.raises(InputError, match="no answer"):
        DecisionFile(Path("unused")).add(_finding(ANSWER, kind="error_text"), "withhold", reason="x", by="Kim")


def test_a_decision_that_can_no_longer_be_carried_out_leaves_a_finding_undecided(tmp_path: Path) -> None:
    """Redacted yesterday, and in a question today: it has to be decided again, and nothing is replaced."""
    (before,) = scanned("ann@acme.io").findings
    file = DecisionFile(tmp_path)
    file.add(before, "redact", reason="", by="Kim")
    assert undecided([before], file.decisions()) == []
    question = PublicText(run="r1", file="benchmark.json", item="q-1", field="samples/0/input", text="ann@acme.io?")
    (after,) = scanned("ann@acme.io", question).findings
    assert after.id == before.id
    assert undecided([after], file.decisions()) == [after]
    assert decided_by_place([after], file.decisions()) == {}


def test_a_decision_of_another_kind_decides_nothing(tmp_path: Path) -> None:
    """A line whose kind was changed by hand is no decision of the finding."""
    file = DecisionFile(tmp_path)
    (found,) = scanned("ann@acme.io").findings
    line = {"finding": found.id, "kind": "ip", "action": "allow", "reason": "x", "by": "K", "at": 1}
    file.path.parent.mkdir()
    file.path.write_text(json.dumps(line) + "\n")
    assert undecided([found], file.decisions()) == [found]


def test_spans_stand_by_text_in_order_and_by_run(tmp_path: Path) -> None:
    """Each text lists its spans in order; a run's own findings have its places alone; the summary counts them."""
    result = scanned(answer("b@acme.io a@acme.io"), answer("a@acme.io", "q-2", run="r2"), answer("c@acme.io", "q-3"))
    b, a, c = result.findings
    file = DecisionFile(tmp_path)
    decisions = [
        file.add(a, "redact", reason="", by="Kim"),
        file.add(b, "withhold", reason="", by="Kim"),
        file.add(c, "allow", reason="public", by="Kim"),
    ]
    spans = decided_by_place(result.findings, decisions)
    first, second = (
        PlaceKey("r1", "outputs.jsonl", "q-001", "answer"),
        PlaceKey("r2", "outputs.jsonl", "q-2", "answer"),
    )
    assert list(spans) == [first, second]
    assert [(one.start, one.action, one.finding) for one in spans[first]] == [
        (0, "withhold", b.id),
        (10, "redact", a.id),
    ]
    (mine,) = of_run(result.findings, "r2")
    assert [place.run for place in mine.places] == ["r2"]
    summary = with_decisions(result.summary, result.findings, decisions)
    assert (summary.findings, summary.allowed, summary.redacted, summary.withheld) == (3, 1, 1, 1)
