"""Item scores, run scores, counts and classes."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay.records import (
    ClaimVerdict,
    OutputRow,
    OutputVerdict,
    RetrievalState,
    Source,
    Status,
    Verdict,
    VerdictWord,
)
from ragassay.score import count, insufficient, item_hundredths, run_score, status_of

S: VerdictWord = "SUPPORTS"
H: VerdictWord = "HEDGES"
C: VerdictWord = "CONTRADICTS"
O: VerdictWord = "OMITS"  # noqa: E741 - the initial of its class


def verdict(*words: VerdictWord, **changes: Any) -> Verdict:
    """Return a verdict with one claim per word, the first central."""
    claims = tuple(
        ClaimVerdict(id=n, text="t", central=n == 1, verdict=word, quote="", reason="")
        for n, word in enumerate(words, 1)
    )
    contradicted = bool(words) and words[0] == "CONTRADICTS"
    return Verdict(**{"claims": claims, "central_contradicted": contradicted, **changes})


@pytest.mark.parametrize(
    ("words", "hundredths"),
    [
        ([S], 100),
        ([H], 50),
        ([O], 0),
        ([C], 0),
        ([S, S, O], 67),  # 66.67 rounds up
        ([S, O, O], 33),
        ([H, O, O], 17),  # 16.67
        ([H, O, O, O], 13),  # 12.5 is half-up
        ([S, S, S, O, O, O, O, O], 38),  # 37.5
        ([S, C], 50),  # not the central one
        ([C, S, S, S, S], 25),  # 80 capped
        ([C, S, O, O, O], 20),  # below the cap it stays
    ],
)
def test_item_scores_are_half_up_and_capped(words: list[VerdictWord], hundredths: int) -> None:
    """The published arithmetic in integers, with the cap for a contradicted central claim."""
    assert item_hundredths(verdict(*words)) == hundredths


def test_insufficient_is_50_whatever_the_claims() -> None:
    """An insufficient reference or an empty list of claims is 50, the cap notwithstanding."""
    for given in (verdict(S, reference_insufficient=True), verdict(C, reference_insufficient=True), verdict()):
        assert insufficient(given)
        assert item_hundredths(given) == 50
    assert not insufficient(verdict(O))


def test_a_run_is_the_mean_of_what_was_scored() -> None:
    """Items without a score enter neither sum; the decimal has four places, half-up."""
    score = run_score([100, None, 0, 33, None])
    assert score is not None
    assert (score.num, score.den, score.decimal) == (133, 300, "0.4433")
    third = run_score([67, 67, 66])
    assert third is not None
    assert third.decimal == "0.6667"


def test_nothing_scored_is_no_score() -> None:
    """A run in which nothing was scored has no score instead of 0."""
    assert run_score([]) is None
    assert run_score([None, None]) is None
    zero = run_score([0])
    assert zero is not None
    assert (zero.num, zero.den, zero.decimal) == (0, 100, "0.0000")


@pytest.mark.parametrize("bad", [-1, 101])
def test_an_impossible_item_score_is_refused(bad: int) -> None:
    """A score outside 0..100 is an error and not a mean."""
    with pytest.raises(ValueError, match="0 to 100"):
        run_score([50, bad])


def row(status: Status, **changes: Any) -> OutputRow:
    """Return an output row of that status."""
    scored = status in ("ok", "abstained", "refused", "retrieval_empty")
    given: dict[str, Any] = {
        "run": "r",
        "pass_": 1,
        "id": "q",
        "question": "?",
        "status": status,
        "retrieval": "ok",
        "chunks": (),
        "answer": "a" if scored else None,
        "claims": verdict(S).claims if scored else (),
        "verdict": OutputVerdict(
            central_contradicted=False,
            reference_insufficient=False,
            answer_kind=None,
            extra_wrong=False,
            injection_seen=False,
        )
        if scored
        else None,
        "judge": "0" * 64,
        "score": 100 if scored else None,
    }
    return OutputRow(**{**given, **changes})


def test_counts_add_up() -> None:
    """6 judged of 10 asked, each missing one counted by its class."""
    rows = [row("ok")] * 4 + [row("abstained"), row("refused"), row("judge_failed"), row("judge_failed")]
    counts = count([*rows, row("answer_failed"), row("retrieval_failed", retrieval="failed")])
    assert (counts.asked, counts.scored, counts.missing) == (10, 6, 4)
    assert (counts.unjudged, counts.answer_failed, counts.retrieval_failed, counts.harness_failed) == (2, 1, 1, 0)
    assert (counts.abstained, counts.refused, counts.insufficient, counts.filled) == (1, 1, 0, 0)


def test_parts_of_scored_are_counted_only_there() -> None:
    """Empty retrieval, insufficiency and fills are counted; a missing item is no part of scored."""
    verdict_50 = OutputVerdict(
        central_contradicted=False,
        reference_insufficient=True,
        answer_kind=None,
        extra_wrong=False,
        injection_seen=False,
    )
    counts = count(
        [
            row("retrieval_empty", retrieval="empty"),
            row("abstained", retrieval="empty"),
            row("judge_failed", retrieval="empty"),
            row("ok", retrieval="off", verdict=verdict_50),
            row("ok", claims=()),
            row("ok", claims=(), verdict=None),
            row("ok", fill=Source(run="r0", pass_=2)),
            row("harness_failed"),
        ]
    )
    assert (counts.retrieval_empty, counts.insufficient, counts.filled) == (2, 2, 1)
    assert (counts.asked, counts.scored, counts.harness_failed) == (8, 6, 1)


@pytest.mark.parametrize(
    ("kind", "retrieval", "status"),
    [
        ("refusal", "empty", "refused"),
        ("abstention", "empty", "abstained"),
        ("abstention", "off", "abstained"),
        ("answer", "empty", "retrieval_empty"),
        (None, "empty", "retrieval_empty"),
        ("answer", "ok", "ok"),
        ("error_text", "ok", "ok"),
        ("empty", "off", "ok"),
        (None, "off", "ok"),
    ],
)
def test_classes_have_a_precedence(kind: Any, retrieval: RetrievalState, status: Status) -> None:
    """Refused before abstained before retrieval_empty before ok; the control's `off` is not empty."""
    assert status_of(verdict(O, answer_kind=kind), retrieval) == status


def test_a_failed_retrieval_has_no_scored_class() -> None:
    """What was never answered cannot be given a class that is scored."""
    with pytest.raises(ValueError, match="retrieval failed"):
        status_of(verdict(O), "failed")
