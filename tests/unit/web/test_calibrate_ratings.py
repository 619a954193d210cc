"""The file of ratings: idempotent, latest wins, taken back by id, torn and foreign lines, several writers."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import Any

import calibration_lab as lab
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.records.calibration import LEVELS, CannotSay, Rating
from ragassay.site.calibration import rubric as rubric_module
from ragassay.site.calibration.items import prompt_digest
from ragassay.site.calibration.ledger import Ledger
from ragassay.site.calibration.ratings import latest, rater_name, standing
from ragassay.site.calibration.rubric import VERSION, rubric_digest

ITEM, OTHER = lab.item(1, {"bm25": [100]}), lab.item(2, {"bm25": [0]})
RUBRIC = rubric_digest()


def given_by(ledger: Ledger) -> dict[tuple[str, str], tuple[int | None, str | None]]:
    """Return what stands, by rater and question."""
    return {(r.rater, r.question): (r.level, r.reason) for r in latest(ledger.ratings())}


def rate(ledger: Ledger, rater: str, level: int | None, item: Any = ITEM, reason: CannotSay | None = None) -> Rating:
    """Store a rating."""
    return ledger.rate(item, rater, RUBRIC, level=level, reason=reason)


def test_the_same_rating_twice_is_stored_once(tmp_path: Path) -> None:
    """Rating is idempotent on answer, rubric and rater; another rater's is another line."""
    ledger = Ledger(tmp_path)
    assert rate(ledger, "ann", 75) == rate(ledger, "ann", 75)
    assert len(ledger.ratings()) == 1
    rate(ledger, "ben", 75)
    assert len(ledger.ratings()) == 2


def test_the_latest_rating_stands_and_the_earlier_line_stays_in_the_file(tmp_path: Path) -> None:
    """A changed mind is a new line; nothing is ever rewritten."""
    ledger = Ledger(tmp_path)
    rate(ledger, "ann", 75)
    before = ledger.read()
    rate(ledger, "ann", 0)
    assert given_by(ledger) == {("ann", "q-001"): (0, None)}
    assert ledger.read().startswith(before)


def test_cannot_say_is_no_level(tmp_path: Path) -> None:
    """It is stored with its reason and is neither 0 nor any other number."""
    ledger = Ledger(tmp_path)
    rate(ledger, "ann", None, reason="reference unclear")
    assert given_by(ledger) == {("ann", "q-001"): (None, "reference unclear")}


def test_undo_brings_back_what_stood_before(tmp_path: Path) -> None:
    """A rating that was taken back leaves the earlier one of the same answer, or none; taking back twice is once."""
    ledger = Ledger(tmp_path)
    first, second = rate(ledger, "ann", 75), rate(ledger, "ann", 25)
    assert ledger.undo(ITEM, "ann", RUBRIC, second.id)
    assert ledger.undo(ITEM, "ann", RUBRIC, second.id)
    assert given_by(ledger) == {("ann", "q-001"): (75, None)}
    assert ledger.undo(ITEM, "ann", RUBRIC, first.id)
    assert given_by(ledger) == {}
    assert len(ledger.ratings()) == 4
    rate(ledger, "ann", 75)
    assert given_by(ledger) == {("ann", "q-001"): (75, None)}


@pytest.mark.parametrize(
    ("item", "rater", "rubric"), [(OTHER, "ann", RUBRIC), (ITEM, "ben", RUBRIC), (ITEM, "ann", "x")]
)
def test_nobody_takes_back_what_is_not_theirs(tmp_path: Path, item: Any, rater: str, rubric: str) -> None:
    """Another rater, item or rubric leaves the rating, and nothing is written."""
    ledger = Ledger(tmp_path)
    stored = rate(ledger, "ann", 75)
    assert not ledger.undo(item, rater, rubric, stored.id)
    assert not ledger.undo(ITEM, "ann", RUBRIC, "unknown")
    assert len(ledger.ratings()) == 1


@pytest.mark.parametrize("torn", [b"{", b'{"id":"x","at":1', b"\xff\xfe", b"{}"])
def test_a_torn_last_line_is_not_there_and_is_cut_off(tmp_path: Path, torn: bytes) -> None:
    """What a kill leaves of a line is no rating; the next one stands on a line of its own."""
    ledger = Ledger(tmp_path)
    rate(ledger, "ann", 75)
    whole = ledger.read()
    ledger.path.write_bytes(whole + torn)
    assert given_by(ledger) == {("ann", "q-001"): (75, None)}
    rate(ledger, "ann", 50, OTHER)
    assert ledger.read().startswith(whole)
    assert given_by(ledger) == {("ann", "q-001"): (75, None), ("ann", "q-002"): (50, None)}


@pytest.mark.parametrize(
    "line",
    [b"{}", b"not json", b"", b"[1]",
     msgspec.json.encode(lab.rating(ITEM, "ann", 75)).replace(b'"level":75', b'"level":74').strip(),
     msgspec.json.encode(lab.rating(ITEM, "ann", 75)).replace(b'"reason":null', b'"reason":"other"').strip(),
     msgspec.json.encode(lab.rating(ITEM, "ann", 75)).replace(b'"level":75', b'"level":null').strip(),
     msgspec.json.encode(lab.rating(ITEM, "ann", 75)).replace(b'"level":75', b'"level":"75"').strip(),
     msgspec.json.encode(lab.rating(ITEM, "ann", 75)).replace(b'"level":75', b'"level":75,"more":1').strip(),
     *(re.sub(rb'"at":\d+', b'"at":' + at, msgspec.json.encode(lab.rating(ITEM, "ann", 75))).strip()
       for at in (b"-1", b"1" + b"0" * 30)),
     *(msgspec.json.encode(msgspec.structs.replace(lab.rating(ITEM, "ann", 75), rater=name)).strip()
       for name in ("", "e\u0301", "a  b", "x\x1b[31m", "\u202ea", "z" * 100_000))],
)  # fmt: skip
def test_a_line_that_is_no_rating_is_named_and_never_passed_over(tmp_path: Path, line: bytes) -> None:
    """Neither a report nor a further rating is made from a damaged file, and the file stays as it is."""
    ledger = Ledger(tmp_path)
    rate(ledger, "ann", 75)
    damaged = ledger.read() + line + b"\n"
    ledger.path.write_bytes(damaged)
    with pytest.raises(InputError, match="line 2"):
        ledger.ratings()
    with pytest.raises(InputError, match="line 2"):
        rate(ledger, "ann", 50, OTHER)
    assert ledger.read() == damaged


def test_an_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    """One line taken back would take another with it."""
    ledger = Ledger(tmp_path)
    rate(ledger, "ann", 75)
    ledger.path.write_bytes(ledger.read() * 2)
    with pytest.raises(InputError, match=r"line 2: the id .* stands on an earlier line"):
        ledger.ratings()


def test_a_pipe_in_place_of_the_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    """What is no plain file is no ratings."""
    ledger = Ledger(tmp_path)
    ledger.path.parent.mkdir()
    os.mkfifo(ledger.path)
    with pytest.raises(InputError, match="no plain file"):
        ledger.ratings()


def test_every_damaged_line_is_named_at_once(tmp_path: Path) -> None:
    """All problems of a file are told together."""
    with pytest.raises(InputError) as told:
        Ledger(tmp_path).decode(b"x\n{}\n")
    assert [problem.partition(":")[0] for problem in told.value.problems] == ["line 1", "line 2"]


def test_several_writers_lose_nothing(tmp_path: Path) -> None:
    """Two servers with several threads each write whole lines, one after the other."""
    items = [lab.item(n, {"bm25": [0]}) for n in range(1, 11)]

    def work(rater: str) -> None:
        ledger = Ledger(tmp_path)
        for item in items:
            rate(ledger, rater, 50, item)

    threads = [threading.Thread(target=work, args=(f"r{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Ledger(tmp_path).ratings()) == 40
    assert len(given_by(Ledger(tmp_path))) == 40


def test_a_full_disk_stores_no_half_of_a_rating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails is told, and leaves the file as it was."""
    ledger = Ledger(tmp_path)
    rate(ledger, "ann", 75)
    before = ledger.read()

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ragassay.manifest.append_only.os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        rate(ledger, "ann", 50, OTHER)
    assert ledger.read() == before


def test_a_changed_rubric_sets_ratings_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are kept, not counted, and the reason is said."""
    old = lab.rating(ITEM, "ann", 75)
    monkeypatch.setattr(rubric_module, "TASK", "Rate it.")
    assert rubric_digest() != RUBRIC
    found = standing([old], {ITEM.key})
    assert found.counted == ()
    assert "another rubric" in found.other[0][1]


@pytest.mark.parametrize(
    "changes",
    [
        {"target": "Another reference."},
        {"input": "Another question?"},
        {"evidence": ("another passage",)},
        {"claims": ()},
    ],
)
def test_a_changed_question_has_another_prompt(changes: dict[str, Any]) -> None:
    """Whatever stands beside the answer is in the digest, so a rating of the old prompt finds no item."""
    changed = msgspec.structs.replace(ITEM.question, **changes)
    assert prompt_digest(changed) != prompt_digest(ITEM.question)
    found = standing([lab.rating(ITEM, "ann", 75)], {OTHER.key})
    assert (found.counted, len(found.other)) == ((), 1)


def test_what_no_rater_sees_does_not_change_the_prompt() -> None:
    """Topic, page and the literals of the claims are shown to nobody and invalidate nothing."""
    claim = msgspec.structs.replace(ITEM.question.claims[0], must=(("other",),))
    changed = msgspec.structs.replace(ITEM.question, topic="other", page="other.md", claims=(claim,))
    assert prompt_digest(changed) == prompt_digest(ITEM.question)


def test_the_rubric_is_the_one_of_its_version() -> None:
    """Whoever changes a word of the rubric gives it another version, and then this digest."""
    assert (VERSION, rubric_digest()) == (
        "human-rating/1",
        "2233d6dcf69c1a75fd426c89cc25e9314c907b51987a8363f6c01d771f383a8b",
    )
    assert sorted(level for level, _ in rubric_module.LEVEL_TEXTS) == sorted(LEVELS)


@pytest.mark.parametrize("name", ["", " ", "\t", "x" * 41, "a\u202eb", "a\u200bb", "a\x00b", "\ud800"])
def test_a_name_that_cannot_be_read_is_refused(name: str) -> None:
    """Empty, long and invisible names would make two raters look alike."""
    with pytest.raises(InputError, match="rater"):
        rater_name(name)


def test_a_name_has_one_spelling() -> None:
    """Composed or not, with one space or more: the same person."""
    assert rater_name("  Zoe\u0308   K. ") == rater_name("Zo\u00eb K.") == "Zo\u00eb K."


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "ben"]), st.sampled_from([ITEM, OTHER]), st.sampled_from([*LEVELS, None, "undo"])
    ),
    max_size=25,
)


@given(ACTIONS)
def test_the_file_says_what_a_stack_of_ratings_says(tmp_path_factory: pytest.TempPathFactory, actions: Any) -> None:
    """After any ratings and undone ratings the file holds what a list per rater and answer would."""
    ledger = Ledger(tmp_path_factory.mktemp("ratings"))
    model: dict[tuple[str, str], list[Rating]] = {}
    for rater, item, what in actions:
        stack = model.setdefault((rater, item.question.id), [])
        if what == "undo":
            if stack:
                assert ledger.undo(item, rater, RUBRIC, stack.pop().id)
            continue
        stored = rate(ledger, rater, what, item, None if what is not None else "other")
        if not stack or stack[-1].id != stored.id:
            stack.append(stored)
    expected = {key: (stack[-1].level, stack[-1].reason) for key, stack in model.items() if stack}
    assert given_by(ledger) == expected
