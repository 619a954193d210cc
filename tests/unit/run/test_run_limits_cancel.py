"""Laws of the gate under cancellation, faults and a shared budget, over schedules that nobody wrote by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import virtual_time
from hypothesis import given, settings
from hypothesis import strategies as st
from limit_lab import MESSAGES, Clock, endpoint, fault

from ragassay.errors import InputError, ModelError
from ragassay.plugins.price import Price
from ragassay.records import JSON, Message, Reply, Usage
from ragassay.run.board_file import Limits
from ragassay.run.budget import Amount, Budget, Need
from ragassay.run.limiter import Limiter

PRICE = Price(input_usd_per_mtok="1", output_usd_per_mtok="4")
MOST_OUT = 400


class Call(NamedTuple):
    """When a call is begun and stopped (None: never), how its attempts go, and how long each takes."""

    begun_s: float
    stopped_s: float | None
    attempts: Sequence[str]
    latency_s: float
    output_tokens: int | None


class Scripted:
    """A server that does what the call says; it knows its load and what it took."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.now = self.peak = 0
        self.took: list[int] = []

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Take the latency, then do what the script says for this attempt."""
        attempts, latency_s, output_tokens = params["attempts"], params["latency_s"], params["output_tokens"]
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            await asyncio.sleep(latency_s)
        finally:
            self.now -= 1
        said: Any = attempts.pop(0) if attempts else "ok"
        if said != "ok":
            raise fault(said, retry_after_s=0.7 if said == "rate_limited" and latency_s > 1 else None)
        usage = Usage(input_tokens=90, output_tokens=output_tokens)
        if output_tokens is not None:
            cost = PRICE.cost_microusd(90, output_tokens)
            assert cost is not None
            self.took.append(cost)
        return Reply(text="x" * 100, usage=usage)

    def describe(self) -> JSON:
        """Say nothing."""
        return {}

    async def close(self) -> None:
        """Hold nothing."""


class Watched(Budget):
    """A budget that holds itself to its word whenever a call starts."""

    def reserve(self, need: Need) -> None:
        """Check that what is spent, the most of those under way and this call's estimate are within both caps."""
        for name, cap in (("microusd", self.max_microusd), ("tokens", self.max_tokens)):
            spent = getattr(self, f"spent_{name}") + getattr(self.held, name) + getattr(need.expected, name)
            assert cap is None or spent <= cap
            assert getattr(need.expected, name) <= getattr(need.most, name)
        super().reserve(need)


times = st.integers(0, 60).map(lambda tenths: tenths / 10)
calls = st.builds(
    Call,
    begun_s=times,
    stopped_s=st.none() | times,
    attempts=st.lists(st.sampled_from(["ok", "rate_limited", "server_error", "timeout"]), max_size=2),
    latency_s=st.integers(0, 20).map(lambda tenths: tenths / 10),
    output_tokens=st.none() | st.integers(0, MOST_OUT),
)


async def _one(where: Any, call: Call) -> object:
    await asyncio.sleep(call.begun_s)
    given = {"attempts": list(call.attempts), "latency_s": call.latency_s, "output_tokens": call.output_tokens}
    try:
        return await where.complete(MESSAGES, {**given, "max_tokens": MOST_OUT})
    except (ModelError, InputError) as error:
        return error


async def _all(where: Sequence[Any], script: Sequence[Call]) -> list[object]:
    """Begin and stop the calls as scripted, over the endpoints in turn; 'stopped' for those that were."""
    tasks = [asyncio.create_task(_one(where[n % len(where)], call)) for n, call in enumerate(script)]
    loop = asyncio.get_running_loop()
    for task, call in zip(tasks, script, strict=True):
        if call.stopped_s is not None:
            loop.call_later(call.stopped_s, task.cancel)
    found = await asyncio.gather(*tasks, return_exceptions=True)
    return ["stopped" if isinstance(one, asyncio.CancelledError) else one for one in found]


@settings(max_examples=150, deadline=None)
@given(st.lists(calls, max_size=14), st.integers(1, 3), st.sampled_from([None, 60]), st.sampled_from([None, 4_000]))
def test_no_wake_up_is_lost_and_no_slot_leaks(
    script: list[Call], concurrency: int, requests: int | None, tokens: int | None
) -> None:
    """Whatever is stopped when: all others end, no more run at once than allowed, and all slots come back."""

    async def work(clock: Clock) -> None:
        server = Scripted(clock)
        limits = Limits(concurrency=concurrency, requests_per_minute=requests, tokens_per_minute=tokens)
        budget = Budget()
        where = endpoint(server, clock, limits, budget=budget, price=PRICE)
        found = await _all([where], script)
        assert not [one for one in found if not isinstance(one, Reply | ModelError) and one != "stopped"]
        assert server.peak <= concurrency
        assert where.limiter.under_way == budget.under_way == 0
        assert isinstance(await _one(where, Call(0, None, [], 0.1, 10)), Reply)

    virtual_time.run(work)


@settings(max_examples=200, deadline=None)
@given(st.lists(calls, min_size=1, max_size=24), st.integers(1, 6), st.integers(0, 12_000), st.integers(300, 20_000))
def test_a_cap_is_passed_by_at_most_one_calls_surprise(
    script: list[Call], concurrency: int, max_microusd: int, max_tokens: int
) -> None:
    """Two endpoints share a budget: the sum is over the cap by at most one call's actual minus its estimate."""

    async def work(clock: Clock) -> None:
        server = Scripted(clock)
        budget = Watched(max_microusd, max_tokens=max_tokens)
        limits = Limits(concurrency=concurrency)
        more = {"budget": budget, "price": PRICE, "params": {"max_tokens": MOST_OUT}}
        both = [endpoint(server, clock, limits, **more) for _ in range(2)]
        found = await _all(both, script)
        assert not [one for one in found if isinstance(one, Exception) and not isinstance(one, ModelError | InputError)]
        surprise = PRICE.cost_microusd(90, MOST_OUT) or 0
        assert budget.spent_microusd <= max_microusd + surprise
        assert budget.spent_tokens <= max_tokens + 90 + MOST_OUT
        assert sum(server.took) <= budget.spent_microusd
        assert budget.under_way == 0
        assert budget.held == (0, 0)

    virtual_time.run(work)


def test_a_call_that_is_stopped_when_its_turn_comes_gives_it_on() -> None:
    """The slot, the tokens and the budget that it was given in that instant go to the next, at once."""
    need = Need(Amount(500, 50), Amount(900, 90))

    async def work(clock: Clock) -> tuple[float, Amount, int]:
        budget = Budget(1_000)
        gate = Limiter(Limits(concurrency=1, tokens_per_minute=60_000), budget, clock=clock)
        await gate.acquire(need)
        stopped, following = (asyncio.create_task(gate.acquire(need)) for _ in range(2))
        await asyncio.sleep(10)
        began = clock()
        gate.release(need)
        stopped.cancel()
        await asyncio.gather(stopped, following, return_exceptions=True)
        return clock() - began, budget.held, gate.under_way

    waited_s, held, under_way = virtual_time.run(work)
    assert waited_s < 0.01
    assert (held, under_way) == (Amount(900, 90), 1)


def test_a_call_that_is_stopped_under_way_counts_by_its_estimate() -> None:
    """The server may go on writing what nobody will read: unknown is not nothing."""

    async def work(clock: Clock) -> Budget:
        budget = Budget(10_000)
        where = endpoint(Scripted(clock), clock, budget=budget, price=PRICE)
        task = asyncio.create_task(_one(where, Call(0, None, [], 5.0, 10)))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return budget

    budget = virtual_time.run(work)
    assert (budget.estimated_calls, budget.under_way, budget.held) == (1, 0, Amount(0, 0))
    assert budget.spent_microusd == budget.estimated.microusd > 0
