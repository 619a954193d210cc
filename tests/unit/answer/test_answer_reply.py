"""Which replies are answers, and what the others are called."""

from __future__ import annotations

import pytest

from ragassay.answer import check_reply
from ragassay.errors import ModelError
from ragassay.records import Reply, Usage


def failure(reply: Reply) -> ModelError:
    """Return the error that `check_reply` raises for `reply`."""
    with pytest.raises(ModelError) as caught:
        check_reply(reply)
    return caught.value


def test_a_text_is_an_answer_unchanged() -> None:
    """Outer whitespace stays: the answer is what the model wrote."""
    assert check_reply(Reply(text=" 4 bar.\n", finish_reason="stop")) == " 4 bar.\n"


def test_an_answer_that_explains_an_error_is_an_answer() -> None:
    """Documentation about HTTP 429 exists: words alone never make a text an error."""
    text = "HTTP 429 Too Many Requests: rate limit exceeded. Retry after 20 s."
    assert check_reply(Reply(text=text, finish_reason="stop")) == text


def test_a_text_cut_off_by_its_budget_is_an_answer() -> None:
    """Only a reply without any text has failed."""
    assert check_reply(Reply(text="The valve op", finish_reason="length")) == "The valve op"


@pytest.mark.parametrize("text", [None, "", " \n\t", "\u200b\ufeff", "\u00a0"])
def test_nothing_visible_is_empty_and_may_be_asked_again(text: str | None) -> None:
    """No text, whitespace or invisible characters alone are no answer."""
    error = failure(Reply(text=text, finish_reason="stop"))
    assert (error.kind, error.retryable) == ("empty", True)


@pytest.mark.parametrize("text", [None, "", "  "])
def test_a_spent_budget_is_final_and_says_so(text: str | None) -> None:
    """Content null with finish length is a reasoning model out of budget: asking again would only cost again."""
    error = failure(Reply(text=text, finish_reason="length", usage=Usage(output_tokens=16384)))
    assert (error.kind, error.retryable) == ("length", False)
    assert "whole output budget (16384 tokens)" in str(error)
    assert "max_tokens" in str(error)


@pytest.mark.parametrize("text", [None, "", "half an ans"])
def test_filtered_content_is_never_an_answer(text: str | None) -> None:
    """A finish by content filter is retried, whatever text came with it."""
    error = failure(Reply(text=text, finish_reason="content_filter"))
    assert (error.kind, error.retryable) == ("content_filter", True)
