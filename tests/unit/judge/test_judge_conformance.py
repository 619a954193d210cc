"""The conformance cases through prompt, model, reader and arithmetic."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ragassay.judge import InvalidReply, LLMJudge, is_empty, read_verdict, settle_empty
from ragassay.literals import judgeable
from ragassay.plugins.judges.literal import LiteralJudge
from ragassay.records import Claim, JudgeItem, Profile, Verdict, VerdictWord
from ragassay.score import item_hundredths
from ragassay.testing.judge_reply import nonce_of, profile1_reply, profile2_reply
from ragassay.testing.scripted_model import ScriptedModel


def cases(shared_data: Path) -> list[dict[str, Any]]:
    """Return the 21 cases."""
    lines = (shared_data / "judge" / "conformance.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    assert len(found) == 21
    return found


def item_of(case: dict[str, Any]) -> JudgeItem:
    """Return what a judge sees of a case."""
    return JudgeItem(
        question=case["question"],
        reference=case["reference"],
        evidence=(),
        claims=tuple(msgspec.convert(claim, Claim) for claim in case["claims"]),
        answer=case["answer"],
    )


def quotes_of(answer: str) -> str:
    """Real words of the answer: its first half, up to a whole character that is not blank."""
    return answer[: max(1, len(answer) // 2)]


def verdict_of(case: dict[str, Any], profile: Profile) -> tuple[Verdict, int]:
    """Return the verdict by way of a scripted model, and the number of calls."""
    item, words = item_of(case), case["verdicts"]
    if is_empty(item):
        return settle_empty(item), 0

    def say(messages: Any, params: Any) -> str:
        nonce = nonce_of(messages)
        if profile == "factual-consistency/2":
            quotes = {
                c.id: quotes_of(item.answer) for c, word in zip(item.claims, words, strict=True) if word != "OMITS"
            }
            return profile2_reply(item, words, nonce, quotes=quotes)
        return profile1_reply(
            [(claim.text, word) for claim, word in zip(item.claims, words, strict=True)],
            nonce,
            central_contradicted=any(
                claim.central and word == "CONTRADICTS" for claim, word in zip(item.claims, words, strict=True)
            ),
            reference_insufficient=case["reference_insufficient"],
        )

    model = ScriptedModel(say)
    raw = asyncio.run(LLMJudge(model, profile).grade(item))
    return read_verdict(raw, item, profile), len(model.calls)


def test_profile_2_reaches_the_right_hundredths(shared_data: Path) -> None:
    """Right verdicts give the right score in every case whose reference suffices; only the empty one needs no call."""
    checked, calls = 0, 0
    for case in cases(shared_data):
        if case["reference_insufficient"]:
            continue  # profile 2 cannot freeze such a reference
        verdict, called = verdict_of(case, "factual-consistency/2")
        words: list[VerdictWord] = [claim.verdict for claim in verdict.claims]
        assert words == case["verdicts"], case["id"]
        assert item_hundredths(verdict) == case["hundredths"], case["id"]
        checked, calls = checked + 1, calls + called
    assert (checked, calls) == (20, 19)


def test_profile_1_reaches_the_right_hundredths(shared_data: Path) -> None:
    """All 21 cases hold under the published method, the insufficient reference with 50 among them."""
    for case in cases(shared_data):
        verdict, _ = verdict_of(case, "factual-consistency/1")
        assert item_hundredths(verdict) == case["hundredths"], case["id"]


def test_the_forged_verdict_of_the_conformance_set_is_never_used(shared_data: Path) -> None:
    """A judge that echoes the forged object before its own gives no verdict instead of a forged one."""
    case = next(case for case in cases(shared_data) if case["case"] == "forged judge output")
    item = item_of(case)
    model = ScriptedModel(
        lambda messages, params: f"{item.answer}\n\n{profile2_reply(item, ['OMITS'], nonce_of(messages))}"
    )
    raw = asyncio.run(LLMJudge(model, "factual-consistency/2").grade(item))
    with pytest.raises(InvalidReply, match="2 objects"):
        read_verdict(raw, item, "factual-consistency/2")


def test_the_literal_judge_leaves_cases_without_literals_unjudged(shared_data: Path) -> None:
    """No conformance claim carries literals, so the literal judge gives none of them a number."""
    judge = LiteralJudge()
    for case in cases(shared_data):
        item = item_of(case)
        assert not any(judgeable(claim) for claim in item.claims)
        with pytest.raises(InvalidReply, match="no JSON object"):
            read_verdict(asyncio.run(judge.grade(item)), item, "factual-consistency/2")


def test_conformance_cases_given_literals_are_judged_literally(shared_data: Path) -> None:
    """With literals for one case's claims the literal judge classifies them, and reads literals, not meaning."""
    must: dict[int, Any] = {1: (("2000",),), 2: (("March 1987", "03/1987"),)}
    expected = {"C01": 100, "C02": 100, "C05": 50, "C07": 50, "C14": 0, "C10": 50, "C11": 100}
    for case in cases(shared_data):
        if case["id"] not in expected:
            continue
        item = item_of(case)
        claims = tuple(msgspec.structs.replace(claim, must=must[claim.id]) for claim in item.claims)
        item = msgspec.structs.replace(item, claims=claims)
        verdict = read_verdict(asyncio.run(LiteralJudge().grade(item)), item, "factual-consistency/2")
        assert item_hundredths(verdict) == expected.pop(case["id"]), case["id"]
    assert not expected
