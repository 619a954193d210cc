"""What differs between OpenAI-compatible servers: each is read for what it is, and none becomes an answer."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from ragassay.answer import check_reply
from ragassay.errors import InputError, ModelError
from ragassay.plugins.address import checked_base_url
from ragassay.plugins.http import HttpClient
from ragassay.plugins.http_body import Events, Malformed, decoded
from ragassay.plugins.http_faults import duration_s, retry_after_s, spent_for_good
from ragassay.plugins.models.openai import Answered, OpenAIModel
from ragassay.records import JSON, Message, Reply, Secret, Usage
from ragassay.testing.provider_imitations import (
    GEMINI_LIMITED,
    LLAMACPP_LOADING,
    PROVIDERS,
    completion,
    gemini_blocked,
    in_turn,
    openai_error,
)
from ragassay.testing.provider_servers import Imitation, ProviderServer, Said, streamed

KEY = "sk-secret-0123456789"
ASKED = (Message(role="system", content="chunk one"), Message(role="user", content="Why is it so?"))
BODY: JSON = {"model": "m", "messages": []}


def ask(
    imitation: Imitation | Said,
    *,
    model: str = "m",
    messages: tuple[Message, ...] = ASKED,
    params: Mapping[str, Any] | None = None,
    timeout_s: float = 5.0,
) -> tuple[Answered | ModelError, ProviderServer]:
    """Ask an imitation once; return what came of it, and the server."""
    said = (lambda _: imitation) if isinstance(imitation, Said) else imitation

    async def run(base_url: str) -> Answered | ModelError:
        client = OpenAIModel(model, base_url, key=Secret(KEY), timeout_s=timeout_s)
        try:
            return await client.answered(messages, params or {})
        except ModelError as error:
            return error
        finally:
            await client.close()

    with ProviderServer(said) as server:
        return asyncio.run(run(server.base_url)), server


def replied(imitation: Imitation | Said, **options: Any) -> Reply:
    """Return the reply of one call."""
    found, _ = ask(imitation, **options)
    assert isinstance(found, Answered), found
    return found.reply


def failed(imitation: Imitation | Said, **options: Any) -> ModelError:
    """Return the error of one call."""
    found, _ = ask(imitation, **options)
    assert isinstance(found, ModelError), found
    assert KEY not in str(found)
    return found


def chunk(delta: JSON, finish: str | None = None, **top: Any) -> JSON:
    """Return one chunk of a stream."""
    return {"id": "c", "model": "m-7", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **top}


WHOLE = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "4 "}, usage={"prompt_tokens": 5, "completion_tokens": 1}),
    chunk({"reasoning_content": "never the answer"}),
    chunk({"content": "bar"}),
    chunk({}, "stop"),
    {"id": "c", "model": "m-7", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
]


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_provider_answers(name: str) -> None:
    """The answer of each imitated provider is its text alone, with tokens; thoughts stay out."""
    imitation = PROVIDERS[name]
    found, server = ask(imitation, model="@cf/zai-org/glm-5.3-flash")
    assert isinstance(found, Answered)
    assert check_reply(found.reply) == "Why is it so?"
    assert found.reply.usage.input_tokens == 20
    assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"


def test_thoughts_in_the_total_alone_are_output() -> None:
    """Gemini counts what it thought only in `total_tokens`: it is output, and is paid for as such."""
    assert replied(PROVIDERS["gemini"]).usage == Usage(input_tokens=20, output_tokens=404)


def test_a_total_below_its_parts_changes_nothing() -> None:
    """A server whose total is no sum is believed for the parts."""
    body = completion(BODY, "x")
    body["usage"] = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 0}
    assert replied(Said(body=body)).usage == Usage(input_tokens=9, output_tokens=4)


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "content_filter: OTHER"])
def test_a_filter_in_googles_words_is_a_filter(reason: str) -> None:
    """Google's reasons for filtering are failures of kind `content_filter`, whatever text came with them."""
    body = completion(BODY, "half an answer")
    body["choices"][0]["finish_reason"] = reason
    with pytest.raises(ModelError) as caught:
        check_reply(replied(Said(body=body)))
    assert caught.value.kind == "content_filter"


def test_a_spent_budget_in_googles_words_is_one() -> None:
    """MAX_TOKENS without a text is `length`, and names the budget."""
    body = completion(BODY, None)
    body["choices"][0]["finish_reason"] = "MAX_TOKENS"
    with pytest.raises(ModelError) as caught:
        check_reply(replied(Said(body=body)))
    assert (caught.value.kind, caught.value.retryable) == ("length", False)


def test_a_blocked_prompt_without_choices_is_an_error() -> None:
    """A completion without choices is an error that says what providers mean by it."""
    error = failed(gemini_blocked)
    assert (error.kind, error.retryable) == ("error_body", True)
    assert "block" in str(error)


def test_a_tool_call_is_no_answer() -> None:
    """A call of a tool that nobody offered is an error that names it, not an empty answer; its tokens are kept."""
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    reply = replied(Said(body=completion(BODY, None, tool_calls=[call])))
    assert reply.usage.input_tokens == 20
    with pytest.raises(ModelError, match="tool_calls") as caught:
        check_reply(reply)
    assert caught.value.kind == "empty"


@pytest.mark.parametrize(
    "body",
    [
        [{"error": {"code": 429, "message": "exhausted", "status": "RESOURCE_EXHAUSTED"}}],
        {"object": "error", "message": "the engine died", "type": "InternalServerError", "code": 500},
        {"success": False, "errors": [{"code": 3040, "message": "No more data centers"}], "result": None},
        {"success": False, "result": None},
    ],
)
def test_errors_of_other_forms_under_200_are_errors(body: object) -> None:
    """An error in a list, in vLLM's form or in Cloudflare's envelope is an error whatever the status says."""
    error = failed(Said(body=body))
    assert (error.kind, error.retryable) == ("error_body", True)


@pytest.mark.parametrize(
    ("said", "kind", "retryable"),
    [
        (LLAMACPP_LOADING, "server_error", True),
        (GEMINI_LIMITED, "rate_limited", True),
        (openai_error("You exceeded your current quota", status=429, code="insufficient_quota"), "rate_limited", False),
        (Said(status=429, body={"errors": [{"code": 3036, "message": "used up"}]}), "rate_limited", False),
        (Said(status=429, body={"errors": [{"code": 3040, "message": "Out of capacity"}]}), "rate_limited", True),
        (Said(status=400, body={"errors": [{"message": "JSON Mode couldn't be met"}]}), "malformed_reply", True),
        (Said(status=413, body={"errors": [{"code": 3006, "message": "too large"}]}), "bad_request", False),
        (Said(status=502, raw=b"<html><head><title>502</title></head><body>Bad</body></html>"), "server_error", True),
        (Said(raw=b"<!DOCTYPE html><html><body>Log in first</body></html>"), "malformed_reply", True),
        (Said(raw=b'{"choices":[{"message":{"content":"a","content":"b"}}]}'), "malformed_reply", True),
        (Said(raw=b'{"choices":[{"message":{"content":NaN}}]}'), "malformed_reply", True),
        (Said(body=completion(BODY, "never whole"), cut=True), "malformed_reply", True),
        (Said(body=completion(BODY, "late"), delay_s=30), "timeout", True),
        (Said(raw=b"\x1f\x8b broken", headers={"Content-Encoding": "gzip"}), "malformed_reply", True),
        (Said(status=307, headers={"Location": "https://elsewhere.example/v1"}), "bad_request", False),
    ],
)
def test_each_fault_has_its_kind(said: Said, kind: str, retryable: bool) -> None:
    """Whatever a provider sends in place of an answer is named, and asked again where that may help."""
    error = failed(said, timeout_s=0.4 if said.delay_s else 30)
    assert (error.kind, error.retryable) == (kind, retryable), error


def test_an_html_page_is_named_by_its_words() -> None:
    """Of an HTML page the words are repeated, not the tags."""
    assert "Log in first" in str(failed(Said(raw=b"<!DOCTYPE html><html><script>x</script><p>Log in first</p></html>")))


def test_a_compressed_reply_is_read() -> None:
    """A server that compresses although nobody asked is understood; a bomb is cut off at the cap."""
    data = gzip.compress(msgspec.json.encode(completion(BODY, "packed")))
    assert replied(Said(raw=data, headers={"Content-Encoding": "gzip"})).text == "packed"
    bomb = Said(raw=gzip.compress(b" " * 40_000_000), headers={"Content-Encoding": "gzip"})
    assert "more than" in str(failed(bomb))


def test_a_stream_that_nobody_asked_for_is_joined() -> None:
    """A server that answers in a stream all the same: parts in order, usage of the last chunk, thoughts left out."""
    found, server = ask(streamed(WHOLE))
    assert isinstance(found, Answered)
    assert found.streamed
    assert (found.reply.text, found.reply.finish_reason, found.reply.model) == ("4 bar", "stop", "m-7")
    assert found.reply.usage == Usage(input_tokens=5, output_tokens=2)
    assert "stream" not in server.asked[0].body


@pytest.mark.parametrize(
    "words",
    [
        "This model only support stream mode, please enable the stream parameter to access the model. ",
        "Stream must be set to true",
        "Non-streaming requests are not supported for this model",
    ],
)
def test_a_server_that_only_streams_is_asked_for_a_stream(words: str) -> None:
    """A refusal that says so makes the same request a streamed one, once for all later calls."""

    def only_streams(asked: Any) -> Said:
        return streamed(WHOLE) if asked.body.get("stream") else Said(status=400, body={"detail": words})

    async def twice(base_url: str) -> list[str | None]:
        model = OpenAIModel("m", base_url)
        texts = [(await model.complete(ASKED, {})).text for _ in range(2)]
        await model.close()
        return texts

    with ProviderServer(only_streams) as server:
        assert asyncio.run(twice(server.base_url)) == ["4 bar", "4 bar"]
    assert [asked.body.get("stream") for asked in server.asked] == [None, True, True]
    assert server.asked[1].body["stream_options"] == {"include_usage": True}
    same = [{k: v for k, v in asked.body.items() if not k.startswith("stream")} for asked in server.asked]
    assert same[0] == same[1] == same[2]


def test_stream_options_that_are_refused_are_left_out() -> None:
    """A server that streams and knows no options is asked without them, and the usage is unknown, not 0."""

    def picky(asked: Any) -> Said:
        if not asked.body.get("stream"):
            return Said(status=400, body={"detail": "Stream must be set to true"})
        if "stream_options" in asked.body:
            return openai_error("Unknown parameter: 'stream_options'.")
        return streamed([chunk({"content": "yes"}), chunk({}, "stop")])

    reply = replied(picky)
    assert (reply.text, reply.usage) == ("yes", Usage())


def test_a_refusal_to_stream_is_not_answered_with_a_stream() -> None:
    """Words about a stream that a model cannot do change nothing: it was not asked for one."""
    words = "Unsupported value: 'stream' does not support true with this model."
    found, server = ask(openai_error(words))
    assert isinstance(found, ModelError)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "said",
    [
        streamed(WHOLE[:4], done=False),
        streamed(WHOLE[:4], done=True),
        streamed(WHOLE[:4], done=False, whole=False),
        streamed(WHOLE, done=False, whole=False),
        streamed([chunk({"content": "a"}), {"choices": [{"index": 1, "delta": {"content": "b"}}]}, chunk({}, "stop")]),
        streamed([chunk({"content": 5}), chunk({}, "stop")]),
        streamed([{"choices": ["x"]}, chunk({}, "stop")]),
        streamed([[1], chunk({}, "stop")]),
        Said(raw=b"data: {\n\ndata: [DONE]\n\n", content_type="text/event-stream"),
        Said(raw=b"\xff\xfe", content_type="text/event-stream"),
    ],
)
def test_a_torn_stream_is_an_error(said: Said) -> None:
    """A stream without its finish reason, with a broken event or a second choice never is a short answer."""
    assert failed(said).kind == "malformed_reply"


@pytest.mark.parametrize(
    "said",
    [
        streamed([*WHOLE[:3], {"error": {"message": "overloaded"}}]),
        streamed([*WHOLE[:3], {"object": "error", "message": "overloaded"}]),
        streamed([chunk({"content": "x"}), {"choices": [{"index": 0, "error": {"message": "overloaded"}}]}]),
        streamed([]),
        streamed([{"choices": [], "usage": {"prompt_tokens": 3}}]),
    ],
)
def test_an_error_inside_a_stream_is_an_error(said: Said) -> None:
    """An error object among the chunks, or no chunk with a choice, is the provider's error."""
    assert failed(said).kind == "error_body"


def test_a_stream_of_parts_refusals_and_tools_is_read_as_without() -> None:
    """Content in parts, a refusal in pieces and a tool call mean in a stream what they mean without."""
    parts = [chunk({"content": [{"type": "text", "text": "a"}]}), chunk({"content": "b"}), chunk({}, "stop")]
    assert replied(streamed(parts)).text == "ab"
    refusal = [chunk({"refusal": "I "}), chunk({"refusal": "cannot."}), chunk({}, "stop")]
    assert replied(streamed(refusal)).text == "I cannot."
    tool = [chunk({"tool_calls": [{"index": 0}]}), chunk({}, "tool_calls")]
    assert replied(streamed(tool)).finish_reason == "tool_calls"


@pytest.mark.parametrize("line", ["\n", "\r\n", "\r"])
def test_events_are_read_by_the_standard(line: str) -> None:
    """Comments, other fields, joined data lines and each way to end a line are read as the standard says."""
    lines = [": hello", "", "event: message", "id: 7", 'data: {"a":', "data:1}", "", "retry: 5", "", "data: [DONE]", ""]
    found = decoded(line.join(lines).encode(), "text/event-stream; charset=utf-8")
    assert found == Events(objects=({"a": 1},), done=True)


def test_a_list_of_two_is_no_object() -> None:
    """Only a list of one object stands for it."""
    with pytest.raises(Malformed, match="no object"):
        decoded(b'[{"error":1},{"error":2}]')


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("250ms", 0.25),
        ("1h2m3.5s", 3723.5),
        ("12", 12.0),
        ("1d", 86_400.0),
        ("", None),
        ("s", None),
        ("1s soon", None),
        ("-1s", None),
        ("1e3s", None),
    ],
)
def test_durations_are_read(text: str, seconds: float | None) -> None:
    """The forms in which providers write a reset, and nothing else."""
    assert duration_s(text) == seconds


def test_the_reset_of_the_spent_limit_is_waited_for() -> None:
    """Without `Retry-After`: the longest reset of a limit that has nothing left, else the shortest of all."""
    resets = {"X-RateLimit-Reset-Requests": "2s", "x-ratelimit-reset-tokens": "1m0s"}
    assert retry_after_s(resets, 0.0) == 2.0
    assert retry_after_s({**resets, "x-ratelimit-remaining-tokens": "0"}, 0.0) == 60.0
    assert retry_after_s({**resets, "Retry-After": "7"}, 0.0) == 7.0
    assert retry_after_s({"x-ratelimit-reset-tokens": "soon"}, 0.0) is None


def test_googles_delay_is_waited_for() -> None:
    """`RetryInfo` in the error says how long to wait where no header does; a header wins."""
    error = failed(GEMINI_LIMITED)
    assert error.retry_after_s == 0.2
    assert retry_after_s({"Retry-After": "3"}, 0.0, GEMINI_LIMITED.body[0]) == 3.0
    assert retry_after_s({}, 0.0, {"error": {"details": [{"retryDelay": 5}, "x"]}}) is None


def test_a_passing_limit_is_not_taken_for_a_spent_account() -> None:
    """The words of Google's passing limit are not the code of an account that is used up."""
    assert not spent_for_good(str(failed(GEMINI_LIMITED)))


def test_limit_headers_come_with_the_answer() -> None:
    """What a server says of its limits stands beside the reply, without its other headers."""
    found, _ = ask(PROVIDERS["openai"], params={"max_completion_tokens": 5})
    assert isinstance(found, Answered)
    assert dict(found.limits) == {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "1s",
    }
    assert found.reply.request_id == "req_1"


@pytest.mark.parametrize(
    ("params", "advice"),
    [({"max_tokens": 5}, "max_completion_tokens"), ({"temperature": 0}, "omit = ['temperature']")],
)
def test_refused_parameters_say_what_to_write(params: JSON, advice: str) -> None:
    """A reasoning model's refusal of a parameter is final and names what to change on the board."""
    error = failed(PROVIDERS["openai"], params=params)
    assert (error.kind, error.retryable) == ("bad_request", False)
    assert advice in str(error)


@pytest.mark.parametrize("name", ["vllm", "llamacpp-server"])
def test_a_template_that_takes_one_system_message_is_named(name: str) -> None:
    """Status 400 or 500, the refusal of several system messages is final and names the other template."""
    error = failed(PROVIDERS[name], messages=(ASKED[0], *ASKED))
    assert (error.kind, error.retryable) == ("bad_request", False)
    assert "single-system/1" in str(error)


def test_a_parameter_that_is_none_is_left_out() -> None:
    """None in a call's parameters takes a configured one out."""
    _, server = ask(PROVIDERS["ollama"], params={"temperature": None})
    assert "temperature" not in server.asked[0].body


@pytest.mark.parametrize("end", ["", "/", "//"])
def test_a_final_slash_changes_nothing(end: str) -> None:
    """A base URL with and without a final slash is one address."""
    assert checked_base_url(f"https://models.example/v1{end}") == "https://models.example/v1"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/chat/completions/", "/v1/embeddings"])
def test_the_path_of_an_endpoint_is_no_base_url(path: str) -> None:
    """An address copied with its path is refused before it becomes a 404, and says what to cut off."""
    with pytest.raises(InputError, match="must end before"):
        checked_base_url(f"https://models.example{path}")


def test_a_missing_v1_is_hinted_at() -> None:
    """A 404 says that most servers need /v1 in the address."""
    with ProviderServer(PROVIDERS["ollama"]) as server:

        async def run() -> None:
            client = HttpClient(server.base_url.removesuffix("/v1"))
            try:
                await client.post_json("/chat/completions", BODY)
            finally:
                await client.close()

        with pytest.raises(ModelError, match="/v1"):
            asyncio.run(run())


def test_one_answer_after_a_limit() -> None:
    """A server that was over its limit and then answers is answered from: the error was never an answer."""
    with ProviderServer(in_turn([GEMINI_LIMITED, PROVIDERS["gemini"]])) as server:

        async def run() -> str | None:
            model = OpenAIModel("m", server.base_url)
            with pytest.raises(ModelError):
                await model.complete(ASKED, {})
            text = (await model.complete(ASKED, {})).text
            await model.close()
            return text

        assert asyncio.run(run()) == "Why is it so?"
