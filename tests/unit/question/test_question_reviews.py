"""Decisions about drafted questions: which lines are read, which of them stand, and the set that they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ragassay.errors import InputError
from ragassay.question.reviews import (
    Reviewed,
    ReviewLine,
    Seen,
    encode_line,
    line_digest,
    load_reviews,
    material,
    parse_reviews,
    reviewed,
    reviews_beside,
    standing,
)
from ragassay.records import Benchmark, Claim, Provenance, Question


def question(name: str, **changes: Any) -> Question:
    """Return a question whose words follow from its id; `changes` replace members."""
    claim = Claim(id=1, text=f"It is {name}.", central=True, must=((name,),))
    fields: dict[str, Any] = {
        "id": name,
        "input": f"Which one is it in {name}?",
        "target": f"{name}.",
        "claims": (claim,),
    }
    return Question(**{**fields, "provenance": Provenance(author="A. Writer"), **changes})


ONE, TWO, THREE, FOUR = (question(name) for name in ("one", "two", "three", "four"))
SET = Benchmark(name="set", questions=(ONE, TWO, THREE, FOUR))


def line(of: Question, decision: str = "accept", **changes: Any) -> ReviewLine:
    """Return a decision about a question; `changes` replace members."""
    fields: dict[str, Any] = {
        "question": of.id, "material": material(of), "decision": decision, "reviewer": "B. Reader", "at": 7,
        "seen": Seen(), "reason": "not in the manual" if decision == "reject" else None,
    }  # fmt: skip
    return ReviewLine(**{**fields, **changes})


def edit(of: Question, **changes: Any) -> ReviewLine:
    """Return an edit of a question."""
    return line(of, "edit", edited=msgspec.structs.replace(of, provenance=None, **changes))


def undo(of: ReviewLine) -> ReviewLine:
    """Return the line that takes a decision back."""
    return msgspec.structs.replace(of, decision="undo", reason=None, edited=None, undoes=line_digest(of))


def stored(*lines: ReviewLine) -> bytes:
    """Return the bytes of a review file."""
    return b"".join(encode_line(one) + b"\n" for one in lines)


def test_each_question_is_in_one_state_and_the_set_is_as_the_reviewers_left_it() -> None:
    """Accepted and edited questions name their reviewer, rejected ones are out, and an open one is unchanged."""
    lines = [line(ONE), edit(TWO, target="2."), line(THREE, "reject")]
    found = reviewed(SET, lines)
    assert (found.accepted, found.edited, found.rejected) == (("one",), ("two",), ("three",))
    assert (found.unreviewed, found.stale, found.unknown) == (("four",), (), ())
    kept = {one.id: one for one in found.benchmark.questions}
    assert list(kept) == ["one", "two", "four"]
    assert kept["two"].target == "2."
    assert kept["two"].provenance == Provenance(author="A. Writer", reviewed_by="B. Reader")
    assert kept["one"] == msgspec.structs.replace(ONE, provenance=kept["two"].provenance)
    assert kept["four"] is FOUR


def test_an_edit_stands_once_its_words_are_in_the_file() -> None:
    """A frozen set holds the reviewer's own words: they are not stale, and other words still are."""
    change = edit(TWO, target="2.")
    applied = question("two", target="2.", provenance=Provenance(author="A. Writer", reviewed_by="B. Reader"))
    assert reviewed(Benchmark(name="set", questions=(applied,)), [change]).edited == ("two",)
    other = msgspec.structs.replace(applied, target="3.")
    assert reviewed(Benchmark(name="set", questions=(other,)), [change]).stale == ("two",)


def test_the_last_decision_counts_and_undo_brings_the_one_before_back() -> None:
    """Whoever decides later decides; taken back, the earlier decision stands again, and then none."""
    first, second = line(ONE), line(ONE, "reject", reviewer="C. Other")
    assert standing([first, second])["one"] is second
    assert standing([first, second, undo(second)])["one"] is first
    assert standing([first, second, undo(second), undo(first)]) == {}
    again = [first, undo(first), first]
    assert standing(parse_reviews(stored(*again)))["one"] == first


def test_a_decision_about_other_words_is_stale() -> None:
    """A changed question keeps nothing of a decision about its old words; a changed provenance changes no words."""
    changed = msgspec.structs.replace(ONE, target="1.")
    found = reviewed(msgspec.structs.replace(SET, questions=(changed,)), [line(ONE), line(TWO)])
    assert (found.stale, found.accepted, found.unknown) == (("one",), (), ("two",))
    assert found.benchmark.questions == (changed,)
    assert material(msgspec.structs.replace(ONE, provenance=None)) == material(ONE) != material(changed)


def test_edits_that_make_two_questions_the_same_are_refused() -> None:
    """A set in which one question stands twice could not be read again."""
    with pytest.raises(InputError, match="two asks what one asks"):
        reviewed(SET, [edit(TWO, input=f" {ONE.input}")])
    assert reviewed(SET, [line(ONE, "reject"), edit(TWO, input=ONE.input)]).edited == ("two",)


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    """No file is no decision; a torn last line is none; everything else comes back."""
    path = reviews_beside(tmp_path / "set.json")
    assert path == tmp_path / "set.review.jsonl"
    assert load_reviews(path) == []
    lines = [line(ONE), edit(TWO, input="Zwei\u202e\x1b?\n"), line(THREE, "reject"), undo(line(ONE))]
    path.write_bytes(stored(*lines) + encode_line(lines[0])[:-3])
    assert load_reviews(path) == lines


WRONG: dict[str, bytes] = {
    "not JSON": b"{",
    "not UTF-8": b"\xff",
    "blank": b"",
    "not canonical": encode_line(line(ONE)).replace(b":", b": ", 1),
    "unknown member": encode_line(line(ONE)).replace(b'"at"', b'"aa":1,"at"'),
    "key twice": encode_line(line(ONE)).replace(b'"at":7', b'"at":7,"at":7'),
    "undo of nothing": encode_line(undo(line(TWO))),
    "no reviewer": encode_line(line(ONE)).replace(b"B. Reader", b" "),
    "hidden reviewer": encode_line(line(ONE)).replace(b"B. Reader", "B\u202e".encode()),
    "no digest": encode_line(line(ONE)).replace(material(ONE).encode(), b"0"),
    "rejection without a reason": encode_line(line(ONE, "reject")).replace(b'"not in the manual"', b"null"),
    "blank reason": encode_line(line(ONE, "reject")).replace(b"not in the manual", b" "),
    "reason of an acceptance": encode_line(line(ONE, "reject")).replace(b'"reject"', b'"accept"'),
    "edit without a form": encode_line(line(ONE)).replace(b'"accept"', b'"edit"'),
    "edit of another": encode_line(edit(ONE)).replace(b'"id":"one"', b'"id":"two"'),
    "edit to a blank": encode_line(edit(ONE)).replace(b'"input":"Which one is it in one?"', b'"input":" "'),
    "negative time": encode_line(line(ONE)).replace(b'"at":7', b'"at":-7'),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_line_that_is_none_stops_the_reading(tmp_path: Path, name: str) -> None:
    """Nothing is passed over, and the error names the file and the line."""
    path = tmp_path / "set.review.jsonl"
    path.write_bytes(stored(line(FOUR)) + WRONG[name] + b"\n" + stored(line(THREE)))
    with pytest.raises(InputError) as caught:
        load_reviews(path)
    assert str(path) in caught.value.message
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["line 2"]


def test_every_wrong_line_is_listed() -> None:
    """One error names them all."""
    with pytest.raises(InputError) as caught:
        parse_reviews(b"".join(bad + b"\n" for bad in WRONG.values()))
    assert len(caught.value.problems) == len(WRONG)


def test_a_review_of_nothing_leaves_the_set_as_it_is() -> None:
    """Without lines every question is unreviewed."""
    found = reviewed(SET, [])
    assert isinstance(found, Reviewed)
    assert found.benchmark == SET
    assert found.unreviewed == ("one", "two", "three", "four")
