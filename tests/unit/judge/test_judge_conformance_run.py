"""A judge over the cases: what is right, wrong, unjudged, settled and not asked is counted apart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from conformance_lab import Change, knowing

from ragassay.errors import InputError, ModelError
from ragassay.judge import LLMJudge
from ragassay.judge.conformance import (
    Case,
    ConformanceReport,
    conformance,
    mean_absolute,
    mean_signed,
    shipped_cases,
    worst_first,
)
from ragassay.plugins.judges.literal import LiteralJudge
from ragassay.records import JudgeItem, Profile, RawVerdict
from ragassay.testing.scripted_model import Said

CASES, _ = shipped_cases()
TWO: Profile = "factual-consistency/2"
ONE: Profile = "factual-consistency/1"


def run(change: Change = lambda case, reply: reply, profile: Profile = TWO) -> tuple[ConformanceReport, int]:
    """Return the report on a model that is right but for `change`, and how often it was called."""
    model = knowing(CASES, profile, change)
    report = asyncio.run(conformance(LLMJudge(model, profile), profile, CASES))
    return report, len(model.calls)


def test_a_judge_that_is_right_is_right_everywhere() -> None:
    """Every judged item and claim is exact, no flag is missed or raised in vain, and each case takes one call."""
    report, calls = run()
    total = report.total
    assert (total.cases, total.judged, total.unjudged, total.settled, total.not_asked) == (145, 140, 0, 3, 2)
    assert (total.exact_items, total.exact_claims, total.claims) == (140, 322, 322)
    assert (mean_absolute(total), mean_signed(total), calls) == ("0.0000", "0.0000", 140)
    assert all(one.expected == one.given for one in report.confusion)
    assert [(flag.name, flag.found == flag.cases > 1, flag.false) for flag in report.flags] == [
        ("abstention", True, 0),
        ("refusal", True, 0),
        ("error_text", True, 0),
        ("extra_wrong", True, 0),
        ("injection_seen", True, 0),
    ]


def test_under_profile_1_only_item_scores_are_compared() -> None:
    """The judge lists claims of its own there: no claim is counted, every case but the empty ones is judged."""
    report, calls = run(profile=ONE)
    assert (report.total.judged, report.total.exact_items, report.total.claims, calls) == (142, 142, 0, 142)
    assert (report.confusion, report.flags, report.total.not_asked) == ((), (), 0)


def always(word: str) -> Change:
    """Return a change that gives every claim one word."""

    def change(case: Case, reply: str) -> Said:
        value = json.loads(reply)
        for claim in value["claims"]:
            claim |= {"verdict": word, "quote": "" if word == "OMITS" else case.answer.strip()[:1]}
        return json.dumps(value)

    return change


@pytest.mark.parametrize(
    ("word", "signed"),
    [("SUPPORTS", 1), ("OMITS", -1), ("CONTRADICTS", -1), ("HEDGES", 1)],
)
def test_a_judge_of_one_word_is_found_out(word: str, signed: int) -> None:
    """Its right claims are those of that word, its bias shows in the sign, and all of its words stand in one column."""
    report, _ = run(always(word))
    assert {one.given for one in report.confusion} == {word}
    right = sum(
        expected == word for result in report.results if result.status == "judged" for expected in result.expected
    )
    assert report.total.exact_claims == right
    assert (report.total.signed > 0) is (signed > 0)
    assert report.total.exact_items < report.total.judged / 2.5


def test_a_reply_that_stays_invalid_is_unjudged_and_counts_nowhere_else() -> None:
    """Prose three times over leaves a case unjudged with its three replies, neither right nor wrong."""
    report, calls = run(lambda case, reply: "It is mostly right." if case.kind == "menu" else reply)
    menu = next(tally for tally in report.kinds if tally.kind == "menu")
    assert (menu.cases, menu.judged, menu.unjudged, menu.exact_items, menu.claims, menu.absolute) == (3, 0, 3, 0, 0, 0)
    assert (mean_absolute(menu), mean_signed(menu)) == (None, None)
    assert (report.total.judged, report.total.exact_items, report.total.unjudged, calls) == (137, 137, 3, 146)
    found = [result for result in report.results if result.status == "unjudged"]
    assert all(len(result.replies) == 3 and result.score is None and result.given == () for result in found)
    assert {result.failure.kind for result in found if result.failure} == {"invalid_reply"}
    assert all(reply.problem and reply.text == "It is mostly right." for result in found for reply in result.replies)


def test_a_second_valid_reply_counts() -> None:
    """An invalid reply is asked for again, and what it then says is judged."""
    asked: dict[str, int] = {}

    def change(case: Case, reply: str) -> Said:
        asked[case.id] = asked.get(case.id, 0) + 1
        return "Sure." if asked[case.id] == 1 else reply

    report, calls = run(change)
    assert (report.total.exact_items, report.total.unjudged, calls) == (140, 0, 280)
    assert {len(result.replies) for result in report.results if result.status == "judged"} == {2}


def test_no_reply_is_unjudged_by_kind() -> None:
    """A service that fails on some cases leaves those unjudged; the others are judged."""

    def change(case: Case, reply: str) -> Said:
        if case.kind == "hedge":
            return ModelError("the server is overloaded", kind="server_error", retryable=True)
        return RuntimeError("a bug of somebody else's") if case.kind == "menu" else reply

    report, _ = run(change)
    kinds = {result.kind: result.failure.kind for result in report.results if result.failure and not result.score}
    assert (kinds["hedge"], kinds["menu"]) == ("server_error", "RuntimeError")
    assert (report.total.unjudged, report.total.exact_items) == (18, 122)


def test_a_refused_key_ends_it() -> None:
    """Without a key no case can go on: it is said once, and nothing is reported."""
    refusal = ModelError("401", kind="auth", retryable=False)
    with pytest.raises(InputError, match="refused the key"):
        run(lambda case, reply: refusal)


def test_a_spent_budget_ends_it() -> None:
    """What the budget says is said, and nothing is reported."""
    with pytest.raises(InputError, match="is spent"):
        run(lambda case, reply: InputError("the budget is spent"))


def test_an_empty_answer_is_settled_without_a_call() -> None:
    """Empty answers are no merit of the judge: they stand apart, scored 0 by code."""
    report, _ = run()
    settled = [result for result in report.results if result.status == "settled"]
    assert [result.score for result in settled] == [0, 0, 0]
    assert all(result.replies == () and result.answer_kind == "empty" for result in settled)


def test_an_insufficient_reference_is_not_asked_under_profile_2() -> None:
    """Profile 2 freezes no claims of it: such a case is not asked, with the reason, and profile 1 gives it 50."""
    two = [result for result in run()[0].results if result.kind == "insufficient-reference"]
    assert [(result.status, result.score) for result in two] == [("not_asked", None)] * 2
    assert all(result.failure and "insufficient" in result.failure.message for result in two)
    one = [result for result in run(profile=ONE)[0].results if result.kind == "insufficient-reference"]
    assert [result.score for result in one] == [50, 50]


def test_kinds_stand_worst_first_and_unjudged_ones_last() -> None:
    """The order is by right items, then by distance; a kind of which nothing was judged says nothing."""

    def change(case: Case, reply: str) -> Said:
        if case.kind == "menu":
            return always("SUPPORTS")(case, reply)
        return "no" if case.kind == "refusal" else reply

    order = [tally.kind for tally in worst_first(run(change)[0].kinds)]
    assert order[0] == "menu"
    assert order[-3:] == ["empty", "insufficient-reference", "refusal"]


class Outside:
    """A judge of somebody else's, without a model behind it."""

    id = "outside/1"
    attempts = 2
    needs_literals = True

    async def grade(self, item: JudgeItem) -> RawVerdict:
        """Return no text."""
        return RawVerdict(nonce="n", text=None, attempts=0)

    def describe(self) -> Mapping[str, Any]:
        """Return what it is."""
        return {"kind": "outside", "id": self.id}


def test_a_judge_that_needs_literals_is_asked_only_where_there_are_some() -> None:
    """Cases whose claims carry none are not asked; a reply without text is unjudged."""
    bare = [case for case in CASES if case.id in ("C31", "K001")]
    report = asyncio.run(conformance(Outside(), TWO, bare))  # type: ignore[arg-type]
    assert [(result.id, result.status) for result in report.results] == [("C31", "not_asked"), ("K001", "unjudged")]


def test_a_judge_of_literals_needs_frozen_claims() -> None:
    """Under profile 1 there are none, which is said before any case is asked."""
    with pytest.raises(InputError, match="factual-consistency/2"):
        asyncio.run(conformance(LiteralJudge(), ONE, CASES))


def test_cases_may_be_judged_at_once_and_come_back_in_order() -> None:
    """However many are under way, the results stand in the order of the cases, and progress counts each."""
    model = knowing(CASES, TWO)
    told: list[tuple[int, int]] = []
    judge = LLMJudge(model, TWO)
    report = asyncio.run(
        conformance(judge, TWO, CASES, workers=500, progress=lambda done, total: told.append((done, total)))
    )
    assert [result.id for result in report.results] == [case.id for case in CASES]
    assert told[-1] == (145, 145)
    assert len(told) == 145
