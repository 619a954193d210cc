"""A judge whose endpoint refuses a response format: asked in another, once found out, and never in silence."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ragassay.errors import ModelError
from ragassay.judge import LLMJudge, read_verdict
from ragassay.judge.llm import AHEAD_S
from ragassay.records import JSON, Claim, JudgeItem, Message, Reply
from ragassay.testing.judge_reply import nonce_of, profile2_reply
from ragassay.testing.scripted_model import ScriptedModel

ITEM = JudgeItem(
    question="Which port?",
    reference="5432.",
    evidence=(),
    claims=(Claim(id=1, text="The port is 5432.", central=True),),
    answer="5432",
)


class Endpoint:
    """A model that takes some formats, and refuses the others with a status in some words."""

    def __init__(self, *taken: str, words: str = "HTTP 400: response_format", kind: str = "bad_request") -> None:
        self.taken = taken
        self.words = words
        self.kind = kind
        self.asked: list[str] = []
        self.delay_s = 0.0

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Give a verdict, or refuse the format."""
        form = params.get("response_format", {"type": "none"})["type"]
        self.asked.append(form)
        await asyncio.sleep(self.delay_s)
        if form not in self.taken:
            raise ModelError(self.words, kind=self.kind, retryable=False)  # type: ignore[arg-type]
        return Reply(text=profile2_reply(ITEM, ["SUPPORTS"], nonce_of(messages)))

    def describe(self) -> JSON:
        """Say an id."""
        return {"kind": "scripted", "id": "e-1"}

    async def close(self) -> None:
        """Hold nothing."""


def judge(endpoint: Endpoint, params: Mapping[str, Any] | None = None) -> LLMJudge:
    """Return a judge over an endpoint."""
    return LLMJudge(endpoint, "factual-consistency/2", params)


@pytest.mark.parametrize(
    ("taken", "asked", "format"),
    [
        (("json_schema", "json_object", "none"), ["json_schema"], None),
        (("json_object", "none"), ["json_schema", "json_object"], "json_object"),
        (("none",), ["json_schema", "json_object", "none"], "none"),
    ],
)
@pytest.mark.parametrize("words", ["HTTP 400: json_schema is unavailable now", "HTTP 400: Invalid input"])
def test_the_first_format_that_is_taken_is_kept(
    taken: tuple[str, ...], asked: list[str], format: str | None, words: str
) -> None:
    """Schema, JSON mode, no format: in this order, whatever words refuse; from then on the one that was taken."""
    endpoint = Endpoint(*taken, words=words)
    one = judge(endpoint)
    for _ in range(3):
        raw = asyncio.run(one.grade(ITEM))
        assert raw.format == format
        assert read_verdict(raw, ITEM, "factual-consistency/2").claims[0].verdict == "SUPPORTS"
    assert endpoint.asked == [*asked, asked[-1], asked[-1]]
    assert len(one.notes) == (format is not None)
    assert all(words in note for note in one.notes)


def test_calls_under_way_together_find_out_together() -> None:
    """Eight calls at once: the first finds out for all of them, with one refusal and one note."""
    endpoint = Endpoint("json_object", "none")
    endpoint.delay_s = 0.01
    one = judge(endpoint)

    async def work() -> list[str | None]:
        return [raw.format for raw in await asyncio.gather(*(one.grade(ITEM) for _ in range(8)))]

    assert asyncio.run(work()) == ["json_object"] * 8
    assert endpoint.asked == ["json_schema", *["json_object"] * 8]
    assert len(one.notes) == 1


def test_a_slow_first_call_holds_nobody_up_for_long() -> None:
    """Where the first call takes its time, the others ask for themselves; what was taken first is kept to."""
    endpoint = Endpoint("json_object", "none")
    endpoint.delay_s = 2 * AHEAD_S
    one = judge(endpoint)

    async def work() -> list[str | None]:
        return [raw.format for raw in await asyncio.gather(*(one.grade(ITEM) for _ in range(3)))]

    assert asyncio.run(work()) == ["json_object"] * 3
    assert sorted(endpoint.asked) == [*["json_object"] * 3, *["json_schema"] * 3]
    asyncio.run(work())
    assert endpoint.asked[6:] == ["json_object"] * 3
    assert len(one.notes) == 1


def test_a_first_call_that_fails_holds_nobody_up() -> None:
    """When the first call ends in an error, the waiting ones ask for themselves, all at once."""
    endpoint = Endpoint(words="HTTP 429: busy", kind="rate_limited")
    endpoint.delay_s = 0.01
    one = judge(endpoint)

    async def work() -> list[object]:
        return await asyncio.gather(*(one.grade(ITEM) for _ in range(3)), return_exceptions=True)

    assert [type(found) for found in asyncio.run(work())] == [ModelError] * 3
    assert len(endpoint.asked) == 3


def test_a_request_that_is_refused_in_every_format_says_the_first_refusal() -> None:
    """What has nothing to do with the format stays an error in the server's first words, and nothing is kept."""
    endpoint = Endpoint(words="HTTP 400: the prompt is too long")
    one = judge(endpoint)
    with pytest.raises(ModelError, match="too long"):
        asyncio.run(one.grade(ITEM))
    assert endpoint.asked == ["json_schema", "json_object", "none"]
    assert one.notes == ()
    endpoint.taken = ("json_schema",)
    assert asyncio.run(one.grade(ITEM)).format is None


def test_after_a_format_was_taken_a_refusal_is_one() -> None:
    """A judge that has given verdicts in one format is never asked in another."""
    endpoint = Endpoint("json_schema")
    one = judge(endpoint)
    asyncio.run(one.grade(ITEM))
    endpoint.taken = ("none",)
    with pytest.raises(ModelError):
        asyncio.run(one.grade(ITEM))
    assert endpoint.asked == ["json_schema", "json_schema"]


@pytest.mark.parametrize("pinned", [{"type": "json_object"}, None])
def test_a_format_that_the_board_names_is_not_departed_from(pinned: JSON | None) -> None:
    """With `response_format` in the parameters, or left out of them, there is no fallback and none is described."""
    endpoint = Endpoint("json_schema")
    one = judge(endpoint, {"response_format": pinned})
    with pytest.raises(ModelError):
        asyncio.run(one.grade(ITEM))
    assert endpoint.asked == ["json_object" if pinned else "none"]
    assert "fallback" not in one.describe()
    assert judge(endpoint).describe()["fallback"] == ["json_object", "none"]


@pytest.mark.parametrize(
    ("kind", "words", "calls"),
    [
        ("server_error", "HTTP 500: failed to compile the grammar", 3),
        ("server_error", "HTTP 500: out of memory", 1),
        ("bad_request", "HTTP 404: no such model", 1),
        ("bad_request", "HTTP 307: elsewhere", 1),
        ("auth", "HTTP 401: response_format", 1),
        ("rate_limited", "HTTP 429: json_schema", 1),
    ],
)
def test_only_what_may_be_the_format_is_asked_again(kind: str, words: str, calls: int) -> None:
    """A server that is down, an unknown model or a refused key is not asked in other formats."""
    endpoint = Endpoint(words=words, kind=kind)
    with pytest.raises(ModelError):
        asyncio.run(judge(endpoint).grade(ITEM))
    assert len(endpoint.asked) == calls


def test_a_failure_of_another_kind_in_between_is_itself() -> None:
    """A rate limit in JSON mode, after a schema was refused, is a rate limit: nothing is kept of it."""
    refusal = ModelError("HTTP 400: json_schema", kind="bad_request", retryable=False)
    busy = ModelError("busy", kind="rate_limited", retryable=True)
    model = ScriptedModel([refusal, busy])
    one = LLMJudge(model, "factual-consistency/2")
    with pytest.raises(ModelError, match="busy"):
        asyncio.run(one.grade(ITEM))
    assert one.notes == ()
