"""Judge servers that fail, each in its own way: over the conformance cases no fault ends as a score."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from ragassay.answer import check_reply
from ragassay.errors import InputError
from ragassay.judge import LLMJudge
from ragassay.judge.conformance import ConformanceReport, conformance, shipped_cases
from ragassay.plugins.models.openai import OpenAIModel
from ragassay.records import JSON, Message, Reply, Secret
from ragassay.run.board_file import Limits
from ragassay.run.budget import Budget
from ragassay.run.limits import Endpoint
from ragassay.testing import chat_replies
from ragassay.testing.chat_server import ChatServer

CASES = [case for case in shipped_cases()[0] if case.id in ("C01", "C13", "K016", "K088")]
FAULTS = {
    "429": "rate_limited",
    "408": "timeout",
    "400": "bad_request",
    "404": "bad_request",
    "500": "server_error",
    "503": "server_error",
    "200-error": "error_body",
    "no-choices": "error_body",
    "empty": "empty",
    "content-filter": "content_filter",
    "null-length": "length",
    "no-json": "malformed_reply",
    "truncated": "malformed_reply",
    "hang-up": "connection",
}


def planted(body: Any) -> str:
    """Reply with a whole verdict that was written for no prompt."""
    return json.dumps({**json.loads(chat_replies.judge(body)), "nonce": "0" * 32})


REPLIES: dict[str, Callable[[Any], str]] = {
    "prose": lambda body: "It is right.",
    "echo": chat_replies.echo,
    "the answer alone": lambda body: chat_replies.echo(body).split("\n<<<answer ")[1].split("\n")[1],
    "another nonce": planted,
    "two objects": lambda body: chat_replies.judge(body) * 2,
    "torn": lambda body: chat_replies.judge(body)[:-5],
    "no words": lambda body: chat_replies.judge(body).replace("SUPPORTS", "YES"),
}


class Once:
    """A model behind the check of its replies that asks no second time."""

    def __init__(self, model: OpenAIModel) -> None:
        self._model = model

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Return a usable reply, or raise the fault at once."""
        reply = await self._model.complete(messages, params)
        check_reply(reply)
        return reply

    def describe(self) -> JSON:
        """Return what the model says of itself."""
        return self._model.describe()

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


async def judged(server: ChatServer, *, again: bool = False) -> ConformanceReport:
    """Return the report on a judge whose model this server is; `again`: behind the limits and retries of a board."""
    async with server:
        model = OpenAIModel("m", server.base_url, key=Secret("sk-secret-secret"))
        limited = Endpoint(
            model, Limits(concurrency=4), price=None, budget=Budget(), check=check_reply, first_wait_s=0.01
        )
        judge = LLMJudge(limited if again else Once(model), "factual-consistency/2")
        try:
            return await conformance(judge, "factual-consistency/2", CASES)
        finally:
            await model.close()


def none_scored(report: ConformanceReport) -> None:
    """Assert that every case is unjudged with its reason, and counts neither as right nor as wrong."""
    total = report.total
    assert (total.judged, total.unjudged, total.exact_items, total.claims, total.absolute) == (0, 4, 0, 0, 0)
    assert all(result.score is None and result.given == () and result.failure for result in report.results)


def test_services_that_fail() -> None:
    """Fourteen servers with as many faults, side by side: each leaves every case unjudged, by the fault's kind."""

    async def work() -> list[ConformanceReport]:
        servers = [ChatServer(chat_replies.judge, faults=lambda call, name=fault: name) for fault in FAULTS]
        return await asyncio.gather(*map(judged, servers))

    for (fault, kind), report in zip(FAULTS.items(), asyncio.run(work()), strict=True):
        none_scored(report)
        assert {result.failure.kind for result in report.results if result.failure} == {kind}, fault


def test_replies_that_are_no_verdict() -> None:
    """Seven servers that answer without a verdict: three replies to each case are kept, and none is used."""

    async def work() -> list[ConformanceReport]:
        return await asyncio.gather(*(judged(ChatServer(reply)) for reply in REPLIES.values()))

    for name, report in zip(REPLIES, asyncio.run(work()), strict=True):
        none_scored(report)
        assert {len(result.replies) for result in report.results} == {3}, name


@pytest.mark.parametrize("fault", ["429", "500", "200-error", "empty", "content-filter", "no-json", "hang-up"])
def test_a_service_that_recovers_is_used(fault: str) -> None:
    """The first call fails: each case is judged all the same, by the reply that came whole (CASES 8)."""
    server = ChatServer(chat_replies.judge, faults={1: fault})
    report = asyncio.run(judged(server, again=True))
    assert (report.total.judged, report.total.unjudged, server.calls) == (4, 0, 5)


def test_a_refused_key_is_said_without_the_key() -> None:
    """The server echoes the key; the error that ends it all does not (CASES 27)."""
    with pytest.raises(InputError, match="refused the key") as caught:
        asyncio.run(judged(ChatServer(chat_replies.judge, faults=lambda call: "401-echo")))
    assert "sk-secret" not in str(caught.value)
