"""What of a signed run is put to a further judge: the item as a pass builds it, or the reason why there is none."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ragassay import canon
from ragassay.manifest import MANIFEST, RunDocument, decode_run
from ragassay.manifest.reask import share_of
from ragassay.records import Profile
from ragassay.run.judge_items import Asking, put_items
from ragassay.run.null_rows import CONSTANT, INJECTION, NULL_ROWS
from ragassay.score import item_hundredths
from ragassay.testing.signed_run import signed_run


def run_of(profile: Profile = "factual-consistency/2", items: int = 6, **row: Any) -> tuple[RunDocument, str]:
    """Return a run with the digest of its manifest; `row` changes its first row."""
    files = signed_run(items=items, failed=(1,), profile=profile)
    document = decode_run(files)
    rows = (msgspec.structs.replace(document.outputs[0], **row), *document.outputs[1:])
    return msgspec.structs.replace(document, outputs=rows), canon.sha256(files[MANIFEST])


def kinds(run: RunDocument, of: str, asking: Asking) -> list[str | None]:
    """Return why each item is not put to the judge, None where it is."""
    return [put.why_not.kind if put.why_not else None for put in put_items(run, of, asking)]


ALL = Asking(needs_literals=False)
PROFILES: tuple[Profile, ...] = ("factual-consistency/1", "factual-consistency/2")


def test_an_item_is_the_one_that_a_pass_builds() -> None:
    """Profile 2: question, reference, evidence, frozen claims and answer; no retrieved text."""
    run, of = run_of()
    put = put_items(run, of, ALL)[0]
    question = run.benchmark.questions[0]
    assert put.item is not None
    assert (put.item.question, put.item.reference, put.item.claims) == (
        question.input,
        question.target,
        question.claims,
    )
    assert put.item.answer == run.outputs[0].answer
    assert put.item.contexts == ()
    assert put.item.evidence == question.evidence


def test_profile_1_gets_the_retrieved_texts() -> None:
    """The published method shows the judge what the answer had before it."""
    run, of = run_of("factual-consistency/1")
    put = put_items(run, of, ALL)[0]
    assert put.item is not None
    assert put.item.contexts == tuple(chunk.text for chunk in run.outputs[0].chunks)
    assert put.item.evidence == ()


def test_a_withheld_text_is_not_judged_in_profile_1() -> None:
    """A judge that would see less than the run's own judge saw is not asked; profile 2 never shows that text."""
    for profile, expected in zip(PROFILES, ("withheld", None), strict=True):
        run, of = run_of(profile)
        chunks = tuple(msgspec.structs.replace(chunk, text=None) for chunk in run.outputs[0].chunks)
        run, of = run_of(profile, chunks=chunks)
        assert kinds(run, of, ALL)[0] == expected


def test_a_question_without_an_answer_is_not_judged() -> None:
    """Nothing is put where nothing was answered, unless a null row stands in its place."""
    run, of = run_of()
    assert kinds(run, of, ALL) == [None, "no_answer", None, None, None, None]
    assert kinds(run, of, Asking(needs_literals=False, shown=CONSTANT)) == [None] * 6


@pytest.mark.parametrize("text", ["", "  \n", "\u200b\ufeff"])
def test_an_answer_that_says_nothing_is_settled_by_code(text: str) -> None:
    """All claims OMITS and 0, in both profiles, without a call."""
    for profile in PROFILES:
        run, of = run_of(profile, answer=text)
        put = put_items(run, of, ALL)[0]
        assert put.item is None
        assert put.settled is not None
        assert item_hundredths(put.settled) == 0
        assert (put.settled.answer_kind is None) == (profile == "factual-consistency/1")


def test_claims_without_literals_are_left_out_for_a_judge_that_needs_them() -> None:
    """The other judges are asked about them all the same."""
    run, of = run_of()
    bare = [msgspec.structs.replace(claim, must=()) for claim in run.benchmark.questions[0].claims]
    questions = (
        msgspec.structs.replace(run.benchmark.questions[0], claims=tuple(bare)),
        *run.benchmark.questions[1:],
    )
    run = msgspec.structs.replace(run, benchmark=msgspec.structs.replace(run.benchmark, questions=questions))
    assert kinds(run, of, Asking(needs_literals=True))[0] == "no_literals"
    assert kinds(run, of, ALL)[0] is None


@pytest.mark.parametrize(("share", "drawn"), [("0%", 0), ("1%", 1), ("20%", 1), ("40%", 2), ("41%", 3), ("100%", 5)])
def test_a_share_of_the_judged_items_is_drawn_rounded_up(share: str, drawn: int) -> None:
    """Of five judged items of six; more share draws the same and more."""
    run, of = run_of()
    found = kinds(run, of, Asking(needs_literals=False, share=share))
    assert found.count(None) == drawn
    assert found[1] == "no_answer"
    assert found.count("not_drawn") == 5 - drawn
    less = kinds(run, of, Asking(needs_literals=False, share="1%"))
    assert drawn == 0 or all(now is None for now, then in zip(found, less, strict=True) if then is None)


@pytest.mark.parametrize("wrong", ["20", "101%", "-1%", "x%"])
def test_what_is_no_share_is_refused(wrong: str) -> None:
    """A share is a whole percentage."""
    with pytest.raises(ValueError):
        share_of(wrong, 10)


def test_an_item_whose_judge_failed_is_not_asked_again() -> None:
    """There is no first verdict that a second could be compared with."""
    run, of = run_of(verdict=None, claims=(), score=None, status="judge_failed")
    assert kinds(run, of, Asking(needs_literals=False, share="100%"))[0] == "no_verdict"
    assert kinds(run, of, ALL)[0] is None


def test_the_texts_of_null_rows_assert_nothing_and_hold_no_digit() -> None:
    """A judge by literals meets no number by accident; zero-width characters stand in the injection."""
    assert list(NULL_ROWS) == ["empty", "constant", "injection"]
    assert not any(char.isdigit() for text in NULL_ROWS.values() for char in text)
    assert "\u200b" in INJECTION
    assert len(INJECTION) < 10_000
