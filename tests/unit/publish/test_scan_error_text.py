"""Answers that are the text of an error, and answers that explain one."""

from __future__ import annotations

import pytest
from scan_lab import answer, found, scanned

from ragassay.publish.detect.error_text import is_error
from ragassay.publish.texts import PublicText

ERRORS = [
    '{"error": {"message": "Rate limit reached", "type": "requests", "code": 429}}',
    '[{"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}]',
    '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}',
    '{"detail": "Not authenticated"}',
    '{"object": "error", "message": "too long", "type": "BadRequestError", "param": null, "code": 400}',
    '{"errors": [{"message": "AiError", "code": 8007}], "success": false, "result": {}, "messages": []}',
    '```json\n{"error": "model not found"}\n```',
    "Error code: 429 - {'error': {'message': 'slow down'}}",
    "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body></body></html>",
    "<html>\n<head><title>Error</title></head>\n</html>",
    "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>",
    'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: no',
    "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
    "Internal Server Error",
    "  internal server error.\n",
    "500 Internal Server Error",
    "HTTP 503: Service Unavailable",
    "no healthy upstream",
    "Request timed out.",
    "Connection error.",
    "Rate limit reached for gpt-x in organization o on tokens per min. Limit: 9, please try again in 20s.",
    "Rate limit exceeded.",
    "You exceeded your current quota, please check your plan and billing details.",
    "The server is currently overloaded with other requests. Sorry about that!",
    "The model is currently overloaded. Please try again later.",
    "Incorrect API key provided: sk-****. You can find yours in the console.",
    "openai.APIConnectionError: Connection error.",
    "RateLimitError",
    '"Internal Server Error"',
]
ANSWERS = [
    "HTTP 429 means that you sent too many requests; wait and try again.",
    "It returns 429 Too Many Requests with a Retry-After header.",
    "429 Too Many Requests",
    "404 Not Found.",
    "Error code: the exit status of the last command.",
    "Error code 1 is returned when a signature does not match.",
    'It returns {"error": {"code": 429}}.',
    '{"port": 8080, "host": "::"}',
    '{"message": "hello"}',
    '{"error": null, "result": 3}',
    "An internal server error is answered with status 500, and the body names the request's id.",
    "Internal Server Error is what the client sees when the handler raises.",
    "The message 'Traceback (most recent call last):' begins a traceback.",
    "Rate limit exceeded errors are answered with 429.",
    "Rate limit reached means that the bucket is empty.",
    "RateLimitError is raised when the bucket is empty; it has the attribute retry_after.",
    "ValueError: the port is out of range.",
    "Connection errors are retried three times.",
    "<html> is the root element of a page.",
    "<!DOCTYPE html><html><head><title>Quick start</title></head><body>hi</body></html>",
    "The server is the process that listens on port 80.",
    "The model is currently version 3.",
    "Failed to connect? Check the port.",
    "I don't know.",
    "",
    "{",
    "[" * 5_000,
]


@pytest.mark.parametrize("text", ERRORS)
def test_an_answer_that_is_an_error_is_found(text: str) -> None:
    """The answer as a whole is the finding."""
    assert ("error_text", text) in found(text)


@pytest.mark.parametrize("text", ANSWERS, ids=lambda text: text[:40])
def test_an_answer_that_explains_an_error_is_an_answer(text: str) -> None:
    """A right answer about errors, statuses or exceptions is no error text."""
    assert not is_error(text)
    assert [kind for kind, _ in found(text)] == []


@pytest.mark.parametrize("text", ["Error: something went wrong", "Failed to load", "429 Too Many Requests"])
def test_the_same_beginning_of_an_error_on_three_questions_is_one(text: str) -> None:
    """Two questions may have the same short answer; on three it is what the endpoint says to everything."""
    two = [answer(text, "q-1"), answer(text, "q-2"), answer(text, "q-2", run="r2")]
    assert found(*two) == []
    result = scanned(*two, answer(text, "q-3"))
    assert [one.kind for one in result.findings] == ["error_text"]
    assert len(result.findings[0].places) == 4


def test_a_long_answer_or_another_beginning_on_three_questions_is_none() -> None:
    """Only short answers that begin like an error count by repetition."""
    for text in ("I don't know.", "Error handling: " + "words " * 100):
        assert found(*(answer(text, f"q-{n}") for n in range(5))) == []


def test_only_answers_can_be_error_texts() -> None:
    """A question, a chunk or a failure may quote an error; its place is not among the finding's."""
    text = "Internal Server Error"
    others = [
        PublicText(run="r1", file=file, item="q-1", field=field, text=text)
        for file, field in [("outputs.jsonl", "chunks/1/text"), ("benchmark.json", "samples/0/target")]
    ]
    assert found(*others) == []
    (only,) = scanned(*others, answer(text)).findings
    assert [place.field for place in only.places] == ["answer"]
