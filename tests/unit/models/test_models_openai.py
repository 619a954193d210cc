"""The OpenAI-compatible model: what it sends, what it takes for a reply, and what it never takes for one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from ragassay.answer import build_messages, check_reply
from ragassay.errors import InputError, ModelError
from ragassay.plugins.models.openai import OpenAIModel
from ragassay.records import JSON, Delivered, Message, Reply, Secret, Usage
from ragassay.testing.chat_faults import Fault
from ragassay.testing.chat_replies import MODES, ReplyOf, counter, echo
from ragassay.testing.chat_server import ChatServer

KEY = "sk-secret-0123456789"
ASKED = (
    Message(role="system", content="chunk one"),
    Message(role="system", content="chunk two"),
    Message(role="user", content="Why?"),
)


def ask(
    *faults: Fault | str,
    reply: ReplyOf = echo,
    params: Mapping[str, Any] | None = None,
    call: Mapping[str, Any] | None = None,
    messages: Sequence[Message] = ASKED,
) -> tuple[Reply | ModelError, ChatServer]:
    """Ask a server once; return what came of it, and the server."""

    async def run() -> tuple[Reply | ModelError, ChatServer]:
        async with ChatServer(reply, faults=dict(enumerate(faults, 1))) as server:
            model = OpenAIModel("served-1", server.base_url, key=Secret(KEY), params=params, timeout_s=5)
            try:
                return await model.complete(messages, call or {}), server
            except ModelError as error:
                return error, server
            finally:
                await model.close()

    return asyncio.run(run())


def replied(*faults: Fault | str, **options: Any) -> Reply:
    """Return the reply of one call."""
    found, _ = ask(*faults, **options)
    assert isinstance(found, Reply)
    return found


def failed(*faults: Fault | str, **options: Any) -> ModelError:
    """Return the error of one call."""
    found, server = ask(*faults, **options)
    assert isinstance(found, ModelError)
    assert server.calls == 1
    return found


def body(message: JSON, **fields: Any) -> Fault:
    """Return a 200 reply whose only choice holds `message`."""
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return Fault(raw=msgspec.json.encode({"id": "r-1", "model": "m", "choices": [choice], **fields}))


def test_nothing_is_sent_but_what_was_given() -> None:
    """Model, messages and the configured parameters: no temperature, no stream, no further system prompt."""
    _, server = ask(params={"max_tokens": 16384})
    assert server.requests == [
        {
            "model": "served-1",
            "messages": [{"role": m.role, "content": m.content} for m in ASKED],
            "max_tokens": 16384,
        }
    ]


def test_the_parameters_of_a_call_win() -> None:
    """A judge's parameters replace configured ones of the same name and leave the others."""
    _, server = ask(params={"max_tokens": 9, "top_p": 0.5}, call={"max_tokens": 7, "temperature": 0})
    assert {k: server.requests[0][k] for k in ("max_tokens", "top_p", "temperature")} == {
        "max_tokens": 7,
        "top_p": 0.5,
        "temperature": 0,
    }


def test_a_reply_is_read_whole() -> None:
    """Text, finish reason, tokens, request id and served model are what the server said."""
    reply = replied()
    assert reply.latency_ms >= 0
    assert msgspec.structs.replace(reply, latency_ms=0) == Reply(
        text="Why?",
        finish_reason="stop",
        usage=Usage(input_tokens=10, output_tokens=1),
        request_id="call-1",
        model="test-model",
    )


def test_text_parts_are_joined() -> None:
    """Content in parts is read in order; parts that are no text are left out."""
    parts = [{"type": "text", "text": "4 "}, {"type": "thinking", "text": "hm"}, {"type": "text", "text": "bar"}]
    assert replied(body({"content": parts})).text == "4 bar"


@pytest.mark.parametrize("content", [[], [{"type": "image_url", "image_url": {}}], None])
def test_no_text_is_none(content: object) -> None:
    """Content without a text is None and never an empty answer."""
    assert replied(body({"content": content})).text is None


def test_a_refusal_in_its_own_field_is_the_text() -> None:
    """A model that declines has said so; the judge classes it."""
    assert replied(body({"content": None, "refusal": "I cannot help with that."})).text == "I cannot help with that."


def test_reasoning_is_no_answer() -> None:
    """`reasoning_content` beside a null content is never taken for the answer."""
    assert replied(body({"content": None, "reasoning_content": "The valve…"})).text is None


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ({}, Usage()),
        ("many", Usage()),
        ({"prompt_tokens": 3}, Usage(input_tokens=3)),
        ({"prompt_tokens": 3.0, "completion_tokens": 0}, Usage(input_tokens=3, output_tokens=0)),
        ({"prompt_tokens": -1, "completion_tokens": True}, Usage()),
        ({"prompt_tokens": "7", "completion_tokens": 1.5}, Usage()),
        ({"prompt_tokens": 1e300, "completion_tokens": 2**60}, Usage()),
    ],
)
def test_tokens_that_were_not_told_are_unknown(usage: object, expected: Usage) -> None:
    """What the server does not count is None, and never 0."""
    assert replied(body({"content": "x"}, usage=usage)).usage == expected


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b'{"choices":null}',
        b'{"choices":[]}',
        b'{"choices":[{"error":{"message":"upstream 502"},"message":{"content":"x"}}]}',
        b'{"error":{"message":"rate limited"},"choices":[{"message":{"content":"Too many requests"}}]}',
    ],
)
def test_a_providers_error_under_200_is_no_answer(raw: bytes) -> None:
    """No choices, an error object in the body or in the choice: an error that may be asked again."""
    error = failed(Fault(raw=raw))
    assert (error.kind, error.retryable) == ("error_body", True)


@pytest.mark.parametrize(
    "raw", [b'{"choices":[1]}', b'{"choices":[{}]}', b'{"choices":[{"message":{"content":5}}]}', b'{"choices":[null]}']
)
def test_a_choice_of_another_shape_is_malformed(raw: bytes) -> None:
    """A choice that cannot be read is typed, and nothing is guessed from it."""
    assert failed(Fault(raw=raw)).kind == "malformed_reply"


def test_a_fluent_answer_about_errors_is_an_answer() -> None:
    """A right answer that explains HTTP 429 passes unchanged."""
    text = 'It returns {"error": {"code": 429, "message": "rate limit exceeded"}} with status 429.'
    assert check_reply(replied(reply=lambda _: text)) == text


@pytest.mark.parametrize("fault", ["429", "500", "200-error", "empty", "content-filter"])
def test_after_a_fault_the_second_reply_is_used(fault: str) -> None:
    """The first call is never taken for an answer and may be retried; the second call's text is the answer."""

    async def run() -> tuple[ModelError, str]:
        async with ChatServer(counter(), faults={1: fault}) as server:
            model = OpenAIModel("m", server.base_url)
            with pytest.raises(ModelError) as caught:
                check_reply(await model.complete(ASKED, {}))
            text = check_reply(await model.complete(ASKED, {}))
            await model.close()
            assert server.calls == 2
            return caught.value, text

    error, text = asyncio.run(run())
    assert error.retryable
    assert text == "answer 1"


def test_three_passes_get_three_answers() -> None:
    """Nothing is cached: equal messages are sent and answered every time."""

    async def run() -> tuple[list[str | None], int]:
        async with ChatServer(counter()) as server:
            model = OpenAIModel("m", server.base_url)
            texts = [(await model.complete(ASKED, {})).text for _ in range(3)]
            await model.close()
            return texts, server.calls

    assert asyncio.run(run()) == (["answer 1", "answer 2", "answer 3"], 3)


def test_a_spent_budget_is_told_apart() -> None:
    """Content null with finish length: no crash, a final failure that names the budget."""
    with pytest.raises(ModelError) as caught:
        check_reply(replied("null-length"))
    assert (caught.value.kind, caught.value.retryable) == ("length", False)


@pytest.mark.parametrize(
    "fault",
    [
        "400-system",
        Fault(status=400, error="System message must be at the beginning."),
        Fault(status=400, error="Conversation roles must alternate user/assistant/user/assistant/..."),
        Fault(status=422, error="multiple system messages are not supported"),
        Fault(status=500, error="Jinja Exception: Conversation roles must alternate"),
    ],
)
def test_refused_system_messages_name_the_other_template(fault: Fault | str) -> None:
    """An endpoint that takes one system message only is an error that says what to set, never a silent merge."""
    error = failed(fault)
    assert (error.kind, error.retryable) == ("bad_request", False)
    assert "single-system/1" in str(error)


def test_other_refusals_name_no_template() -> None:
    """A 400 about something else, one about a lone system message, and a plain 500 stay what they are."""
    assert "single-system/1" not in str(failed("400"))
    assert "single-system/1" not in str(failed("400-system", messages=ASKED[1:]))
    error = failed(Fault(status=500, error="internal system error: try first another region"))
    assert (error.kind, error.retryable) == ("server_error", True)


def test_the_other_template_is_taken() -> None:
    """The template that the error names sends one system message."""
    chunks = [Delivered(rank=n, chunk=f"c{n}", sha256="0" * 64, text=f"t{n}", score="1") for n in (1, 2)]
    _, server = ask(messages=build_messages("Why?", chunks, "single-system/1"))
    assert [m["role"] for m in server.requests[0]["messages"]] == ["system", "user"]


def test_an_echoed_key_reaches_no_record() -> None:
    """A server that writes the caller's header into its answer does not get the key into outputs."""
    reply = replied("200-echo")
    assert reply.text == "your header was Bearer ***"
    assert KEY not in str(failed("401-echo"))


def test_the_description_holds_no_fraction_and_no_key() -> None:
    """Kind, id, base URL and parameters as decimal strings; neither key nor limits."""
    model = OpenAIModel(
        "m", "https://models.example/v1/", key=Secret(KEY), params={"temperature": 0.2}, concurrency=300, timeout_s=1
    )
    assert model.describe() == {
        "kind": "openai",
        "id": "m",
        "base_url": "https://models.example/v1",
        "params": {"temperature": "0.2"},
    }
    assert KEY not in repr(model) + repr(vars(model))


def test_parameters_of_the_harness_are_refused() -> None:
    """Streaming, other messages, another model and several choices cannot be configured; all are named at once."""
    with pytest.raises(InputError) as caught:
        OpenAIModel("m", "http://127.0.0.1:1", params={"stream": True, "messages": [], "model": "x", "n": 2})
    assert len(caught.value.problems) == 4


def test_every_mode_of_the_server_answers() -> None:
    """Each built-in reply can be asked for by name."""
    for name, make in MODES.items():
        assert replied(reply=make()).text, name
