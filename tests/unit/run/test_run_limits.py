"""Limits around a model: slots, retries by kind, pace, budget."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ragassay.errors import InputError, ModelError, ModelErrorKind
from ragassay.plugins.meter import Meter, metering
from ragassay.plugins.price import Price
from ragassay.records import JSON, Message, Reply, Usage
from ragassay.run.board_file import Limits
from ragassay.run.budget import Budget
from ragassay.run.limits import ATTEMPTS, Endpoint

MESSAGES = (Message(role="user", content="q"),)


class Server:
    """A model that fails as scripted and tracks how many calls are under way."""

    def __init__(self, faults: Sequence[ModelError | None] = (), latency_s: float = 0.0) -> None:
        self.faults = list(faults)
        self.latency_s = latency_s
        self.calls = self.now = self.peak = 0

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Wait, then fail or answer with the number of the call."""
        self.calls += 1
        call = self.calls
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            await asyncio.sleep(self.latency_s)
            fault = self.faults.pop(0) if self.faults else None
            if fault is not None:
                raise fault
            return Reply(text=str(call), usage=Usage(input_tokens=1000, output_tokens=10), latency_ms=5)
        finally:
            self.now -= 1

    def describe(self) -> JSON:
        """Say nothing."""
        return {}

    async def close(self) -> None:
        """Hold nothing."""


def _fault(kind: ModelErrorKind, *, retryable: bool = True, retry_after_s: float | None = None) -> ModelError:
    return ModelError(kind, kind=kind, retryable=retryable, retry_after_s=retry_after_s)


def _endpoint(server: Server, concurrency: int = 8, **more: Any) -> Endpoint:
    options: dict[str, Any] = {
        "price": None,
        "budget": Budget(None),
        "check": lambda reply: reply,
        "first_wait_s": 0.01,
    }
    return Endpoint(server, Limits(concurrency=concurrency), **{**options, **more})


@pytest.mark.parametrize("concurrency", [1, 8, 300])
def test_the_peak_equals_the_limit(concurrency: int) -> None:
    """As many calls run at once as the limit says, never one more, retries included (CASES 14)."""
    server = Server([_fault("server_error")] * 3, latency_s=0.02)

    async def run() -> None:
        endpoint = _endpoint(server, concurrency)
        await asyncio.gather(*(endpoint.complete(MESSAGES, {}) for _ in range(5 * concurrency + 5)))

    asyncio.run(run())
    assert server.peak == concurrency


def test_a_waiting_retry_holds_no_slot() -> None:
    """While one call waits to be made again, another is made through the only slot (CASES 14)."""
    server = Server([_fault("server_error")])

    async def run() -> list[str]:
        endpoint = _endpoint(server, 1, first_wait_s=0.2)
        done: list[str] = []

        async def call(name: str) -> None:
            await endpoint.complete(MESSAGES, {})
            done.append(name)

        await asyncio.gather(call("failed"), call("other"))
        return done

    assert asyncio.run(run()) == ["other", "failed"]


@pytest.mark.parametrize("kind", ["rate_limited", "server_error", "error_body", "empty", "content_filter", "timeout"])
def test_a_retryable_failure_is_asked_again(kind: ModelErrorKind) -> None:
    """The second reply is used, and both attempts are counted."""
    server = Server([_fault(kind)])

    async def run() -> tuple[str | None, int]:
        with metering() as meter:
            reply = await _endpoint(server).complete(MESSAGES, {})
        return reply.text, meter.attempts

    assert asyncio.run(run()) == ("2", 2)


def test_attempts_end_by_kind() -> None:
    """A kind that keeps failing is final after its number of attempts, and the error says which it was."""
    server = Server([_fault("server_error")] * 20)
    with pytest.raises(ModelError, match="server_error"):
        asyncio.run(_endpoint(server).complete(MESSAGES, {}))
    assert server.calls == ATTEMPTS["server_error"]


def test_what_cannot_help_is_not_asked_again() -> None:
    """A failure that is not retryable is final at once."""
    server = Server([_fault("bad_request", retryable=False)])
    with pytest.raises(ModelError, match="bad_request"):
        asyncio.run(_endpoint(server).complete(MESSAGES, {}))
    assert server.calls == 1


def test_retry_after_is_honoured() -> None:
    """The second call is not made before the server's time is over."""
    server = Server([_fault("rate_limited", retry_after_s=0.3)])
    began = time.monotonic()
    asyncio.run(_endpoint(server).complete(MESSAGES, {}))
    assert time.monotonic() - began >= 0.3


def test_a_retry_after_of_hours_is_final() -> None:
    """Nobody waits for hours in silence: the error says how long the server asked for."""
    server = Server([_fault("rate_limited", retry_after_s=7200)])
    with pytest.raises(ModelError, match="7200"):
        asyncio.run(_endpoint(server).complete(MESSAGES, {}))


def test_calls_per_minute_are_spaced() -> None:
    """600 calls a minute start a tenth of a second apart."""
    server = Server()

    async def run() -> float:
        endpoint = Endpoint(
            server,
            Limits(concurrency=8, requests_per_minute=600),
            price=None,
            budget=Budget(None),
            check=lambda reply: reply,
        )
        began = time.monotonic()
        await asyncio.gather(*(endpoint.complete(MESSAGES, {}) for _ in range(4)))
        return time.monotonic() - began

    assert asyncio.run(run()) >= 0.3


def test_cost_is_summed_over_attempts_and_stops_at_the_budget() -> None:
    """A reply that is refused costs as well; a call that the rest of the budget does not reach for is not made."""
    server = Server()
    budget = Budget(4_000)
    price = Price(input_usd_per_mtok="1.00", output_usd_per_mtok="10")

    async def run() -> None:
        endpoint = _endpoint(server, price=price, budget=budget, params={"max_tokens": 20})
        with metering() as meter:
            await endpoint.complete(MESSAGES, {})
        assert meter.cost_microusd == 1100
        for _ in range(3):
            await endpoint.complete(MESSAGES, {})

    with pytest.raises(InputError, match=r"the budget of 0\.004 USD is too small to go on \(0\.0033 USD of it spent"):
        asyncio.run(run())
    assert (server.calls, budget.spent_microusd) == (3, 3300)


def test_unknown_usage_is_unknown_cost() -> None:
    """Where the server counted no tokens the cost is None, not 0."""
    assert Price(input_usd_per_mtok="1", output_usd_per_mtok="1").cost_microusd(None, 5) is None


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    """One reply that did not count its tokens makes the sum unknown; a call without a reply adds nothing."""
    meter = Meter()
    assert (meter.input_tokens, meter.cost_microusd) == (None, None)
    meter.add(Usage(input_tokens=5, output_tokens=1), 10, 7)
    assert (meter.input_tokens, meter.cost_microusd) == (5, 7)
    meter.add(Usage(), 10, None)
    meter.add(Usage(input_tokens=5, output_tokens=1), 10, 7)
    assert (meter.input_tokens, meter.output_tokens, meter.cost_microusd) == (None, None, None)
