"""Slots that adapt, cool-downs and pace, against servers with hidden limits, in virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import virtual_time
from limit_lab import MESSAGES, Clock, HiddenServer, ask, endpoint, fault

from ragassay.errors import ModelError
from ragassay.records import Reply, Usage
from ragassay.run.board_file import Limits
from ragassay.run.budget import Budget
from ragassay.run.limiter import BACK_OFF, Limiter, Pace
from ragassay.run.limits import ATTEMPTS, Endpoint

Found = tuple[HiddenServer, Endpoint, list[object], float]


def _simulate(calls: int, *, limits: Limits | None = None, workers: int = 128, **server: Any) -> Found:
    """Make the calls against a hidden server; return it, the endpoint, what came of each call, and the seconds."""

    async def work(clock: Clock) -> Found:
        hidden = HiddenServer(clock, **server)
        where = endpoint(hidden, clock, limits)
        began = clock()
        found = await ask(where, calls, workers)
        return hidden, where, found, clock() - began

    return virtual_time.run(work)


@pytest.mark.parametrize("hidden", [5, 10, 20, 50])
def test_slots_settle_near_a_hidden_limit(hidden: int) -> None:
    """Over 2,000 calls the load stays within 15 % of what the server takes, and all are answered.

    Few are refused besides those of the first flight, with which the endpoint says how many it takes.
    """
    server, _, found, seconds = _simulate(2_000, at_once=hidden)
    assert all(isinstance(one, Reply) for one in found)
    load = [now for _, now in server.load[len(server.load) // 4 :]]
    assert 0.85 * hidden <= sum(load) / len(load) <= hidden
    assert server.refused <= 64 - hidden + 2_000 * 0.06
    assert seconds <= 1.25 * 2_000 / hidden


def test_a_server_that_takes_everything_gets_all_that_the_board_allows() -> None:
    """Without a refusal all slots are used from the first call on, and nothing is spent on probing."""
    server, where, _, seconds = _simulate(2_000, latency_s=1.0, jitter=0.0)
    early = [now for at, now in server.load if at < server.came[0] + 0.5]
    assert max(early) == 64
    assert server.peak == where.limiter.report().slots == 64
    assert seconds == pytest.approx(-(-2_000 // 64), abs=0.01)


@pytest.mark.parametrize("served", [1, 5, 20])
def test_the_first_flight_says_how_many_an_endpoint_takes(served: int) -> None:
    """Where 64 begin together and some are refused, there are as many slots as were served, whichever came first."""

    async def work(clock: Clock, refused_first: bool) -> int:
        limiter = Limiter(Limits(concurrency=64), Budget(), clock=clock)
        tickets = [await limiter.acquire(None) for _ in range(64)]
        for at in range(64) if refused_first else reversed(range(64)):
            if at < 64 - served:
                limiter.refused(tickets[at], fault("rate_limited"))
            else:
                limiter.succeeded(tickets[at])
            limiter.release(None)
        return limiter.slots

    for refused_first in (True, False):
        assert virtual_time.run(lambda clock, first=refused_first: work(clock, first)) == served  # type: ignore[misc]


def test_a_first_flight_of_which_none_is_served_begins_with_one() -> None:
    """The slots are doubled by each round of replies, until there are as many as the board allows."""
    _, where, found, _ = _simulate(
        500, workers=64, jitter=0.0, refuse=lambda n: fault("rate_limited") if n < 64 else None
    )
    assert all(isinstance(one, Reply) for one in found)
    assert where.limiter.slots == 64
    assert where.limiter.report().episodes == 1


def test_a_server_with_a_limit_per_minute_is_used_to_it() -> None:
    """A server that names its time is asked at 90 % of its rate or more; one that names none still answers all."""
    server, _, found, seconds = _simulate(3_000, per_minute=600, names_the_time=True)
    assert all(isinstance(one, Reply) for one in found)
    assert server.served / seconds >= 0.9 * 10
    server, _, found, seconds = _simulate(3_000, per_minute=600)
    assert all(isinstance(one, Reply) for one in found)
    assert server.served / seconds >= 0.7 * 10


def test_refusals_of_calls_under_way_together_are_one_episode() -> None:
    """Six of eight calls under way are refused: a fifth of the slots in use goes once; the next refusal is news."""

    async def work(clock: Clock) -> list[tuple[int, int]]:
        server = HiddenServer(clock, jitter=0.0)
        where = endpoint(server, clock, Limits(concurrency=16), first_wait_s=30.0)
        await ask(where, 60, 16)
        seen = [(where.limiter.slots, where.limiter.report().episodes)]
        for under_way, refused in ((8, 6), (5, 1)):
            first = len(server.came)
            server.refuse = lambda n, to=first + refused: fault("rate_limited") if n < to else None  # type: ignore[misc]
            tasks = [asyncio.create_task(where.complete(MESSAGES, {})) for _ in range(under_way)]
            await asyncio.sleep(0.5)
            seen.append((where.limiter.slots, where.limiter.report().episodes))
            await asyncio.gather(*tasks)
        return seen

    assert virtual_time.run(work) == [(16, 0), (int(8 * BACK_OFF), 1), (int(5 * BACK_OFF), 2)]


@pytest.mark.parametrize("kind", ["rate_limited", "server_error"])
def test_a_named_time_holds_the_whole_endpoint_to_the_millisecond(kind: Any) -> None:
    """No call starts before the server's time is over, not even one that was never refused; then they start at once."""
    asked_s = 12.345

    async def work(clock: Clock) -> tuple[float, list[float], float]:
        server = HiddenServer(clock, refuse=lambda n: fault(kind, retry_after_s=asked_s) if n == 2 else None)
        where = endpoint(server, clock, Limits(concurrency=2))
        await ask(where, 20, 10)
        refused_at = server.came[2] + 0.02
        return refused_at, [at - refused_at for at in server.came[3:]], where.limiter.report().cooled_s

    _, after, cooled_s = virtual_time.run(work)
    assert min(after) == pytest.approx(asked_s, abs=0.001)
    assert min(after) >= asked_s - 1e-9
    assert cooled_s == pytest.approx(asked_s, abs=0.001)


def test_a_server_that_always_refuses_ends_as_that() -> None:
    """One call is made as often as its kind allows and then fails by its name."""
    server, where, found, _ = _simulate(1, workers=1, refuse=lambda _: fault("rate_limited"))
    assert len(server.came) == ATTEMPTS["rate_limited"] == where.calls
    (error,) = found
    assert isinstance(error, ModelError)
    assert error.kind == "rate_limited"


@pytest.mark.parametrize("retry_after_s", [None, 1.0, 30.0])
def test_a_board_before_a_server_that_always_refuses_ends_in_minutes(retry_after_s: float | None) -> None:
    """540 calls all fail by the name of the refusal, within ten minutes, and the server hears few of them."""
    server, _, found, seconds = _simulate(
        540, workers=32, refuse=lambda _: fault("rate_limited", retry_after_s=retry_after_s)
    )
    assert {error.kind for error in found if isinstance(error, ModelError)} == {"rate_limited"}
    assert len(found) == 540
    assert seconds <= 600
    assert len(server.came) <= 64
    assert "has served no call for" in str(found[-1])


def test_two_minutes_of_refusals_are_survived() -> None:
    """A server that refuses everything for 100 s, naming no time, loses no call."""

    async def work(clock: Clock) -> list[object]:
        began = clock()
        server = HiddenServer(clock, refuse=lambda _: fault("rate_limited") if clock() < began + 100 else None)
        return await ask(endpoint(server, clock), 300, 32)

    assert all(isinstance(one, Reply) for one in virtual_time.run(work))


def test_a_server_that_asks_for_hours_is_not_asked_by_the_others() -> None:
    """Once a server asks to wait two hours, every other call fails at once and says so; none reaches the server."""
    server, _, found, seconds = _simulate(
        50, limits=Limits(concurrency=1), workers=4, refuse=lambda _: fault("rate_limited", retry_after_s=7200)
    )
    assert (len(server.came), len(found)) == (1, 50)
    assert all(isinstance(error, ModelError) and "asks to wait" in str(error) for error in found)
    assert seconds < 1


def test_an_account_that_is_used_up_is_asked_no_more() -> None:
    """A rate limit that asking again cannot help ends every call that is left, at once and by its name."""
    server, _, found, seconds = _simulate(
        540, workers=32, refuse=lambda n: fault("rate_limited", retryable=False) if n >= 40 else None
    )
    failed = [one for one in found if isinstance(one, ModelError)]
    assert {error.kind for error in failed} == {"rate_limited"}
    assert (len(found), server.served) == (540, 40)
    assert len(server.came) <= 40 + 32
    assert seconds < 20


def test_calls_start_in_the_order_in_which_they_came() -> None:
    """Whoever waits longest starts next, so that no row is starved by another."""

    async def work(clock: Clock) -> list[int]:
        order: list[int] = []

        class Server(HiddenServer):
            async def complete(self, messages: Any, params: Any) -> Reply:
                order.append(params["n"])
                return await super().complete(messages, params)

        where = endpoint(Server(clock), clock, Limits(concurrency=3))
        await asyncio.gather(*(where.complete(MESSAGES, {"n": n}) for n in range(60)))
        return order

    assert virtual_time.run(work) == list(range(60))


def test_tokens_keep_to_their_pace() -> None:
    """In no minute more tokens are taken than allowed and one call's, and nine tenths of them are used."""

    def usage(call: int) -> Usage:
        return Usage(input_tokens=80 + call % 7 * 10, output_tokens=100 + call % 5 * 80)

    async def work(clock: Clock) -> tuple[float, HiddenServer]:
        server = HiddenServer(clock, usage=usage)
        limits = Limits(concurrency=64, tokens_per_minute=20_000)
        where = Endpoint(server, limits, price=None, budget=Budget(), check=lambda r: r, clock=clock)
        began = clock()
        await ask(where, 400, 128)
        return clock() - began, server

    seconds, server = virtual_time.run(work)
    taken = [
        (at, sum(filter(None, (usage(n).input_tokens, usage(n).output_tokens)))) for n, at in enumerate(server.came)
    ]
    most = max(tokens for _, tokens in taken)
    minutes = [sum(tokens for other, tokens in taken if at <= other < at + 60) for at, _ in taken]
    assert max(minutes) <= 20_000 + most
    assert sum(tokens for _, tokens in taken) / seconds >= 0.9 * 20_000 / 60


@pytest.mark.parametrize("per_minute", [30, 600, 6_000])
def test_requests_keep_to_their_pace(per_minute: int) -> None:
    """Calls start evenly spaced, retries included, and at the pace that was given."""
    server, where, _, seconds = _simulate(
        300,
        limits=Limits(concurrency=200, requests_per_minute=per_minute),
        refuse=lambda n: fault("server_error") if n % 10 == 3 else None,
    )
    gaps = [later - sooner for sooner, later in zip(server.came, server.came[1:], strict=False)]
    assert min(gaps) >= 60 / per_minute - 1e-6
    assert len(server.came) == where.calls
    assert len(server.came) / seconds >= 0.9 * per_minute / 60 or per_minute == 6_000
    assert where.limiter.report().waits["requests per minute"] > 0 or per_minute == 6_000


def test_a_late_timer_does_not_slow_the_pace_down() -> None:
    """What is taken late is counted from when it was free; what is given back is free at once."""
    pace = Pace(60)
    pace.take(1, 10.0)
    pace.take(1, 11.03 - 0.05)
    assert pace.free_at == 12.0
    pace.correct(-1, 11.1)
    assert pace.free_at == 11.0
    pace.correct(2, 20.0)
    assert pace.free_at == 22.0
    unlimited = Pace(None)
    unlimited.take(10**9, 5.0)
    assert unlimited.free_at == float("-inf")


def test_slots_that_nobody_needs_do_not_grow() -> None:
    """One call at a time says nothing of what more would meet: after a refusal there is one more than is used."""
    _, where, _, _ = _simulate(100, workers=1, refuse=lambda n: fault("rate_limited") if n == 0 else None)
    assert where.limiter.slots == 2


def test_failed_calls_give_their_tokens_back() -> None:
    """A call that was not served took no tokens: the pace counts it until it fails, and no longer."""
    limits = Limits(concurrency=1, tokens_per_minute=6_000)
    served, _, _, _ = _simulate(20, limits=limits, workers=1)
    faulty, _, _, _ = _simulate(20, limits=limits, workers=1, refuse=lambda n: fault("server_error") if n % 2 else None)
    assert faulty.served == served.served == 20
    assert faulty.came[-1] - faulty.came[0] <= 1.6 * (served.came[-1] - served.came[0])
