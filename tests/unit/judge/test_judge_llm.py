"""The judge over a model: one call per reply, a fresh nonce, nothing parsed, everything described."""

from __future__ import annotations

import asyncio
import json

import pytest

from ragassay import canon
from ragassay.errors import ModelError
from ragassay.judge import InvalidReply, LLMJudge, read_verdict
from ragassay.records import Claim, JudgeItem, Reply, Usage
from ragassay.seams import Judge, Model
from ragassay.testing.judge_reply import nonce_of, profile2_reply
from ragassay.testing.scripted_model import ScriptedModel

ITEM = JudgeItem(
    question="Which port?",
    reference="5432.",
    evidence=(),
    claims=(Claim(id=1, text="The port is 5432.", central=True),),
    answer="5432",
)
PROSE = "I think that the answer is mostly right."


def test_it_fills_the_seam() -> None:
    """The judge and the scripted model implement their protocols."""
    model = ScriptedModel([])
    judge = LLMJudge(model, "factual-consistency/2")
    assert isinstance(model, Model)
    assert isinstance(judge, Judge)
    assert (judge.id, judge.attempts, judge.needs_literals) == ("scripted/1", 3, False)


def test_a_reply_is_returned_raw_with_what_it_took() -> None:
    """Text, usage, latency, request id and served model are copied; cost is not known here."""
    reply = Reply(
        text=PROSE, usage=Usage(input_tokens=7, output_tokens=3), latency_ms=12, request_id="r-1", model="m-9"
    )
    raw = asyncio.run(LLMJudge(ScriptedModel([reply]), "factual-consistency/2").grade(ITEM))
    assert (raw.text, raw.usage, raw.latency_ms) == (PROSE, reply.usage, 12)
    assert (raw.request_id, raw.model, raw.attempts, raw.cost_microusd) == ("r-1", "m-9", 1, None)


def test_each_reply_has_its_own_nonce() -> None:
    """Asking again is a new prompt: three calls, three nonces, each in its own prompt and raw reply."""
    model = ScriptedModel([PROSE] * 3)
    judge = LLMJudge(model, "factual-consistency/2")
    raws = [asyncio.run(judge.grade(ITEM)) for _ in range(3)]
    assert len({raw.nonce for raw in raws}) == 3
    assert [nonce_of(messages) for messages, _ in model.calls] == [raw.nonce for raw in raws]


def test_prose_every_time_is_no_verdict() -> None:
    """A judge that answers in prose gives as many raw replies as attempts and no number."""
    judge = LLMJudge(ScriptedModel([PROSE] * 3), "factual-consistency/2")
    for _ in range(judge.attempts):
        raw = asyncio.run(judge.grade(ITEM))
        with pytest.raises(InvalidReply, match="no JSON object"):
            read_verdict(raw, ITEM, "factual-consistency/2")


def test_a_reply_to_an_earlier_prompt_is_not_taken() -> None:
    """A well-formed verdict under another nonce is invalid, the same under the prompt's own is a verdict."""
    stale = profile2_reply(ITEM, ["SUPPORTS"], "0" * 32)
    raw = asyncio.run(LLMJudge(ScriptedModel([stale]), "factual-consistency/2").grade(ITEM))
    with pytest.raises(InvalidReply, match="nonce"):
        read_verdict(raw, ITEM, "factual-consistency/2")
    model = ScriptedModel(lambda messages, params: profile2_reply(ITEM, ["SUPPORTS"], nonce_of(messages)))
    fresh = asyncio.run(LLMJudge(model, "factual-consistency/2").grade(ITEM))
    assert read_verdict(fresh, ITEM, "factual-consistency/2").claims[0].verdict == "SUPPORTS"


def test_null_content_is_kept_and_invalid() -> None:
    """A completion without text is a raw reply like any other and never a verdict."""
    raw = asyncio.run(LLMJudge(ScriptedModel([Reply(text=None)]), "factual-consistency/2").grade(ITEM))
    assert raw.text is None
    with pytest.raises(InvalidReply, match="empty"):
        read_verdict(raw, ITEM, "factual-consistency/2")


def test_a_models_failure_passes_through() -> None:
    """The judge hides no failure of its model."""
    fault = ModelError("busy", kind="rate_limited", retryable=True)
    with pytest.raises(ModelError, match="busy"):
        asyncio.run(LLMJudge(ScriptedModel([fault]), "factual-consistency/2").grade(ITEM))


def test_temperature_and_schema_are_sent() -> None:
    """A call asks for temperature 0 and a strict schema; params add, override, and with None remove."""
    model = ScriptedModel([PROSE] * 2)
    asyncio.run(LLMJudge(model, "factual-consistency/1", {"max_tokens": 900}).grade(ITEM))
    asyncio.run(LLMJudge(model, "factual-consistency/1", {"temperature": None, "response_format": None}).grade(ITEM))
    sent = model.calls[0][1]
    assert (sent["temperature"], sent["max_tokens"]) == (0, 900)
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert model.calls[1][1] == {}


def test_the_description_is_complete_and_canonical() -> None:
    """Model, profile, parameters, prompt and schema digests are described without fractions, equally every time."""
    judge = LLMJudge(ScriptedModel([]), "factual-consistency/2", {"temperature": 0.2})
    described = judge.describe()
    canon.canonical(described)
    assert described == LLMJudge(ScriptedModel([]), "factual-consistency/2", {"temperature": 0.2}).describe()
    assert described["model"] == {"kind": "scripted", "id": "scripted/1"}
    assert described["params"]["temperature"] == "0.2"
    assert len(described["prompt"]) == len(described["schema"]) == 64


@pytest.mark.parametrize("change", ["model", "params", "profile"])
def test_whatever_changes_a_verdict_changes_the_description(change: str) -> None:
    """Another model, parameter or profile is another judge."""
    plain = LLMJudge(ScriptedModel([]), "factual-consistency/2")
    other = {
        "model": LLMJudge(ScriptedModel([], id="other"), "factual-consistency/2"),
        "params": LLMJudge(ScriptedModel([]), "factual-consistency/2", {"seed": 1}),
        "profile": LLMJudge(ScriptedModel([]), "factual-consistency/1"),
    }[change]
    assert canon.digest(plain.describe()) != canon.digest(other.describe())


def test_the_script_counts_and_ends() -> None:
    """A scripted model remembers each call and fails a test that asks once too often."""
    model = ScriptedModel(["one"])
    assert asyncio.run(model.complete((), {"k": 1})).text == "one"
    assert model.calls == [((), {"k": 1})]
    with pytest.raises(AssertionError, match="call 2"):
        asyncio.run(model.complete((), {}))
    asyncio.run(model.close())
    assert model.closed
    assert json.loads(json.dumps(model.describe())) == {"kind": "scripted", "id": "scripted/1"}
