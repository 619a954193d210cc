"""The log probabilities of a reply's first token: read where a server gives them, passed over where it does not."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ragassay.plugins.http_body import Events
from ragassay.plugins.models.openai_logprobs import first_tokens_of
from ragassay.plugins.models.openai_reply import reply_of
from ragassay.plugins.models.openai_stream import joined
from ragassay.records import TokenLogprob

YES, NO = {"token": "Yes", "logprob": -0.1}, {"token": " no", "logprob": -2.5}


def content(*tokens: dict[str, Any]) -> dict[str, Any]:
    """Return what a choice says of its first token: the first of `tokens` came, all could have come."""
    return {"content": [{**tokens[0], "top_logprobs": list(tokens)}, {"token": ".", "logprob": -3.0}]}


def test_the_first_token_is_read_likeliest_first() -> None:
    """In whatever order the server lists them."""
    found = first_tokens_of(content(NO, YES))
    assert found == (TokenLogprob(token="Yes", logprob=-0.1), TokenLogprob(token=" no", logprob=-2.5))


def test_the_token_that_came_counts_where_it_is_not_among_the_likeliest() -> None:
    """A sampled token may stand beside them."""
    said = {"content": [{"token": "Maybe", "logprob": -9.0, "top_logprobs": [YES]}]}
    assert [one.token for one in first_tokens_of(said) or ()] == ["Yes", "Maybe"]


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        [],
        {},
        {"content": None},
        {"content": []},
        {"content": ["Yes"]},
        {"content": [{"token": 3, "logprob": -1.0, "top_logprobs": "x"}]},
        {"content": [{"token": "Yes", "logprob": None}]},
        {"content": [{"token": "Yes", "logprob": True}]},
        {"content": [{"token": "Yes", "logprob": math.nan}]},
        {"content": [{"token": "Yes", "logprob": 2.0}]},
        {"tokens": ["Yes"], "token_logprobs": [-0.1]},
    ],
)
def test_another_form_is_passed_over(logprobs: object) -> None:
    """It is no part of the answer, so the answer stands."""
    assert first_tokens_of(logprobs) is None
    body = {"choices": [{"message": {"content": "Yes"}, "finish_reason": "stop", "logprobs": logprobs}]}
    reply = reply_of(body, host="h", scrub=str, latency_ms=0)
    assert (reply.text, reply.first_tokens) == ("Yes", None)


def test_a_logarithm_that_rounding_put_above_zero_is_zero() -> None:
    """A probability is at most 1."""
    assert first_tokens_of({"content": [{"token": "Yes", "logprob": 1e-7}]}) == (
        TokenLogprob(token="Yes", logprob=0.0),
    )


def test_a_reply_holds_them_without_the_key() -> None:
    """A server that sends the key back as a token does not get it into a record."""
    body = {"choices": [{"message": {"content": "x"}, "logprobs": content({"token": "sk-secret", "logprob": -1.0})}]}
    reply = reply_of(body, host="h", scrub=lambda text: text.replace("sk-secret", "***"), latency_ms=0)
    assert reply.first_tokens == (TokenLogprob(token="***", logprob=-1.0),)


def test_those_of_a_stream_are_the_first() -> None:
    """Each chunk brings those of its own tokens."""
    chunks = (
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None}]},
        {"choices": [{"index": 0, "delta": {"content": "Yes"}, "logprobs": content(YES, NO)}]},
        {"choices": [{"index": 0, "delta": {"content": "."}, "logprobs": content({"token": ".", "logprob": -0.3})}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    )
    reply = reply_of(joined(Events(objects=chunks, done=True)), host="h", scrub=str, latency_ms=0)
    assert [one.token for one in reply.first_tokens or ()] == ["Yes", " no"]
