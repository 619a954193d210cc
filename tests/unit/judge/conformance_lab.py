"""Judges for tests of conformance: a model that knows the right verdicts, and what it may do wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragassay.judge import build_item
from ragassay.judge.conformance import Case
from ragassay.judge.visible import visible
from ragassay.records import Message, Profile
from ragassay.testing.judge_reply import nonce_of, profile1_reply, profile2_reply
from ragassay.testing.scripted_model import Said, ScriptedModel

Change = Callable[[Case, str], Said]
"""Makes what the model says of a case from what would be right."""


def knowing(cases: Sequence[Case], profile: Profile, change: Change = lambda case, reply: reply) -> ScriptedModel:
    """Return a model that finds the case in its prompt and gives its right verdicts, changed by `change`."""
    known = {(case.question, visible(case.answer)): case for case in cases}

    def say(messages: Sequence[Message], params: Mapping[str, Any]) -> Said:
        user = messages[-1].content
        shown = re.search(r"^<<<answer .*\n(.*)\nanswer .*>>>$", user, flags=re.MULTILINE)
        question = re.search(r'^ "question": (".*"),$', user, flags=re.MULTILINE)
        assert shown is not None
        assert question is not None
        case = known[json.loads(question[1]), json.loads(shown[1])]
        return change(case, right_reply(case, profile, nonce_of(messages)))

    return ScriptedModel(say)


def right_reply(case: Case, profile: Profile, nonce: str) -> str:
    """Return the right reply to a case; each quote is the first half of what is shown of the answer."""
    if profile == "factual-consistency/1":
        pairs = [(claim.text, word) for claim, word in zip(case.claims, case.verdicts, strict=True)]
        return profile1_reply(
            pairs,
            nonce,
            central_contradicted=case.right().central_contradicted,
            reference_insufficient=case.reference_insufficient,
        )
    item = build_item(case.asked(), case.answer, (), profile)
    shown = visible(case.answer)
    quotes = {
        claim.id: shown[: len(shown) // 2 + 1]
        for claim, word in zip(case.claims, case.verdicts, strict=True)
        if word != "OMITS"
    }
    kinds = {"abstention": "abstention", "refusal": "refusal", "error-text": "error_text"}
    return profile2_reply(
        item,
        case.verdicts,
        nonce,
        quotes=quotes,
        answer_kind=kinds.get(case.kind, "answer"),
        extra_wrong=case.kind == "extra-wrong",
        injection_seen=case.kind.startswith("injection-"),
    )
