"""Caps on money and tokens: what a call reserves, what is counted where nobody counted, and the estimate before."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from run_lab import Lab, silent

from ragassay.errors import InputError, ModelError
from ragassay.plugins.meter import metering
from ragassay.plugins.price import Price
from ragassay.records import JSON, Answer, Delivered, Failure, Message, RawVerdict, Reply, Retrieval, Usage
from ragassay.run.board_file import Limits, ModelTable, load_board
from ragassay.run.budget import NOTHING, Amount, Budget, Need, usd
from ragassay.run.expectation import Expectation
from ragassay.run.forecast import Forecast, forecast, in_words, refuse_over_cap, to_be_asked
from ragassay.run.limits import Endpoint
from ragassay.run.prepared import Options, prepare
from ragassay.run.spent import Calls, Tally, tally
from ragassay.run.state import ItemState

PRICE = Price(input_usd_per_mtok="1", output_usd_per_mtok="10")
MESSAGES = (Message(role="user", content="a" * 400),)
REMOTE = ModelTable(
    kind="openai",
    id="m",
    base_url="http://localhost/v1",
    key_env=None,
    path=None,
    params={"max_tokens": 100},
    limits=Limits(concurrency=4),
    price=PRICE,
)
LOCAL = msgspec.structs.replace(REMOTE, kind="reader", price=None)


def _need(expected: int, most: int) -> Need:
    return Need(Amount(expected, expected * 10), Amount(most, most * 10))


def test_all_under_way_but_the_last_are_held_at_their_most() -> None:
    """A second call starts only where the first may take all it can; what is given back makes room again."""
    budget = Budget(max_tokens=1_000)
    assert budget.has_room(_need(100, 900))
    budget.reserve(_need(100, 900))
    assert budget.held == Amount(900, 9_000)
    assert budget.has_room(_need(100, 900))
    assert not budget.has_room(_need(101, 101))
    budget.spend(Amount(120, 0))
    budget.release(_need(100, 900))
    assert (budget.spent_tokens, budget.held) == (120, NOTHING)
    assert budget.has_room(_need(101, 900))


def test_a_call_larger_than_what_is_left_is_never_begun() -> None:
    """With nothing under way the estimate alone decides, so that a cap below one call's most can be used at all."""
    budget = Budget(1_000)
    assert budget.has_room(Need(Amount(1, 1_000), Amount(1, 50_000)))
    assert not budget.has_room(Need(Amount(1, 1_001), Amount(1, 50_000)))


def test_a_cap_of_nothing_lets_nothing_through() -> None:
    """A budget of 0 USD makes no call, not even to a model that is priced at 0."""
    assert not Budget(0).has_room(Need(Amount(5, 0), Amount(5, 0)))


def test_a_refused_budget_stays_closed() -> None:
    """After one refusal no smaller call is begun, which the end of the run would cut off while it is paid for."""
    budget = Budget(1_000, 900)
    error = budget.refuse(Need(Amount(1, 200), Amount(1, 200)))
    assert "the budget of 0.001 USD is too small to go on (0.0009 USD of it spent, the next call takes about" in str(
        error
    )
    assert not budget.has_room(Need(Amount(1, 1), Amount(1, 1)))


def test_a_refused_budget_tells_every_call_the_same() -> None:
    """A later call that would fit by itself is told which cap is reached, not another."""
    budget = Budget(max_tokens=100)
    budget.spend(Amount(90, 0))
    first = budget.refuse(Need(Amount(20, 0), Amount(20, 0)))
    assert "max_tokens" in str(first)
    assert str(budget.refuse(Need(Amount(1, 0), Amount(1, 0)))) == str(first)


def test_the_message_names_the_cap_whole() -> None:
    """Not rounded to cents, with the key to raise, for money and for tokens."""
    assert "the budget of 0.0005 USD is spent; raise [budget] max_usd" in str(Budget(500, 500).refuse(_need(1, 1)))
    tokens = Budget(max_tokens=10)
    tokens.spend(Amount(10, 0))
    assert "the budget of 10 tokens is spent; raise [budget] max_tokens" in str(tokens.refuse(_need(1, 1)))
    assert usd(1_234_567) == "1.234567 USD"


def test_the_most_is_what_the_bytes_and_max_tokens_allow() -> None:
    """A token is at least a byte of what is sent; a reply has at most `max_tokens`, those of the call before others."""
    expectation = Expectation(PRICE, {"max_tokens": 1_000})
    need = expectation.need((Message(role="user", content="é" * 100),), {})
    assert need.most.tokens == 200 + 16 + 1_000
    assert need.expected == Amount(25 + 250, 25 + 2_500)
    assert expectation.need(MESSAGES, {"max_completion_tokens": 40}).most.tokens < 1_000
    assert expectation.need(MESSAGES, {"max_completion_tokens": 40}).expected.tokens <= 100 + 40 + 20
    assert Expectation(None, {}).need(MESSAGES, {}).most == Amount(400 + 16 + 16_384, 0)


def test_estimates_learn_from_what_replies_took() -> None:
    """The first reply replaces the assumption, later ones move a running mean."""
    expectation = Expectation(PRICE, {"max_tokens": 1_000})
    need = expectation.need(MESSAGES, {})
    assert expectation.taken(need, Usage(input_tokens=200, output_tokens=40), "x") == (Amount(240, 600), False)
    assert expectation.need(MESSAGES, {}).expected == Amount(240, 600)
    expectation.taken(need, Usage(input_tokens=100, output_tokens=20), "x")
    assert expectation.need(MESSAGES, {}).expected.tokens == 150 + 30


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=80), Usage(output_tokens=7)])
def test_unknown_usage_counts_by_estimate_and_is_said_so(usage: Usage) -> None:
    """What a server does not count is estimated from the texts, never 0; what it does count is taken as it is."""
    expectation = Expectation(PRICE, {"max_tokens": 1_000})
    need = expectation.need(MESSAGES, {})
    taken, estimated = expectation.taken(need, usage, "x" * 401)
    assert estimated
    assert taken.tokens == (usage.input_tokens or 100) + (usage.output_tokens or 101)
    assert taken.microusd == (usage.input_tokens or 100) + 10 * (usage.output_tokens or 101)


class Silent:
    """A model that counts no tokens, or fails as told."""

    def __init__(self, fault: ModelError | None = None) -> None:
        self.fault = fault
        self.calls = 0

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Answer with eight characters, or fail."""
        self.calls += 1
        if self.fault is not None:
            raise self.fault
        return Reply(text="12345678")

    def describe(self) -> JSON:
        """Say nothing."""
        return {}

    async def close(self) -> None:
        """Hold nothing."""


def _ask(model: Silent, budget: Budget, calls: int = 1, **more: Any) -> list[object]:
    async def run() -> list[object]:
        options: dict[str, Any] = {"price": PRICE, "first_wait_s": 0.0, "params": {"max_tokens": 50}, **more}
        where = Endpoint(model, Limits(concurrency=1), budget=budget, check=lambda reply: reply, **options)
        return list(await asyncio.gather(*(where.complete(MESSAGES, {}) for _ in range(calls)), return_exceptions=True))

    return asyncio.run(run())


def test_a_cap_holds_before_a_server_that_counts_nothing() -> None:
    """Ten calls of about 102 tokens under a cap of 500: four are made, and all that is spent is marked as estimated."""
    model, budget = Silent(), Budget(max_tokens=500)
    found = _ask(model, budget, 10)
    assert model.calls == 4
    assert (budget.spent_tokens, budget.estimated_calls, budget.estimated.tokens) == (408, 4, 408)
    assert sum(isinstance(one, InputError) for one in found) == 6


def test_telemetry_stays_unknown_where_the_budget_estimates() -> None:
    """The estimate counts against the cap alone: in the record the cost is unknown."""

    async def run() -> tuple[int | None, int | None]:
        where = Endpoint(Silent(), Limits(concurrency=1), price=PRICE, budget=Budget(10**6), check=lambda reply: reply)
        with metering() as meter:
            await where.complete(MESSAGES, {})
        return meter.cost_microusd, meter.input_tokens

    assert asyncio.run(run()) == (None, None)


@pytest.mark.parametrize(("kind", "counted"), [("timeout", 3), ("malformed_reply", 3), ("connection", 0)])
def test_a_reply_that_nobody_saw_counts_by_estimate(kind: Any, counted: int) -> None:
    """A server that was too late, or was cut off, may have written a reply; one that was not reached has not."""
    budget = Budget(10**6)
    _ask(Silent(ModelError(kind, kind=kind, retryable=True)), budget)
    assert budget.estimated_calls == counted
    assert (budget.spent_microusd > 0) == bool(counted)


def test_a_model_on_this_machine_is_under_no_cap() -> None:
    """Calls that cost nothing are made whatever the budget, and are not counted."""
    model, budget = Silent(), Budget(0, max_tokens=1)
    found = _ask(model, budget, 3, price=None, counted=False)
    assert all(isinstance(one, Reply) for one in found)
    assert (budget.spent_microusd, budget.spent_tokens, budget.estimated_calls) == (0, 0, 0)


def _answer(text: str, usage: Usage, cost: int | None) -> Answer:
    return Answer(text=text, finish_reason=None, usage=usage, latency_ms=1, attempts=1, cost_microusd=cost)


def test_what_earlier_sessions_took_is_counted() -> None:
    """Answers, failed attempts and every judge's reply count; unknown parts by estimate, calls without a reply not."""
    delivered = (Delivered(rank=1, chunk="c", sha256="0" * 64, text="x" * 40, score="1"),)
    known = Usage(input_tokens=10, output_tokens=5)
    full = ItemState(answer=_answer("a", known, 60), replies=[RawVerdict(nonce="n", text="{}", usage=known)])
    blind = ItemState(
        retrieval=Retrieval(state="ok", delivered=delivered, latency_ms=0),
        answer=_answer("x" * 80, Usage(), None),
        earlier=[RawVerdict(nonce="", text=None), RawVerdict(nonce="n", text="x" * 8, usage=Usage())],
    )
    refused = ItemState(
        failed=("answer_failed", Failure(kind="rate_limited", message="")), spent=_answer("", Usage(), None)
    )
    late = ItemState(failed=("answer_failed", Failure(kind="timeout", message="")), spent=_answer("", Usage(), None))
    found = tally([full, blind, refused, late], REMOTE, REMOTE)
    assert found.answering == Calls(done=2, measured=1, input_tokens=10, output_tokens=5)
    assert found.judging == Calls(done=1, measured=1, input_tokens=10, output_tokens=5)
    tokens = 15 + 15 + (10 + 30 + 20) + (900 + 2) + 30
    assert found.spent == Amount(tokens, 60 + 60 + (40 + 200) + (900 + 20) + 30)
    assert (found.estimated_calls, found.estimated.tokens) == (3, tokens - 30)
    assert tally([full, blind], LOCAL, None).spent == NOTHING


def _prepared(tmp_path: Path, budget: str = "", price: str = "", judge: str = 'kind = "literal"') -> Any:
    lab = Lab(tmp_path, 10)
    lab.write(
        answer=f'kind = "openai"\nid = "m"\nbase_url = "http://127.0.0.1:9/v1"\n{price}{budget}',
        judge=judge,
        head="passes = 2",
    )
    return prepare(load_board(tmp_path / "board.toml"), lab.space, {}, Options(), silent)


PRICED = 'price = { input_usd_per_mtok = "1", output_usd_per_mtok = "10" }\n'


def test_the_estimate_rests_on_what_was_measured(tmp_path: Path) -> None:
    """What is left is estimated by the mean of the replies that are there, else by assumptions; done calls are gone."""
    prepared = _prepared(tmp_path, price=PRICED)
    whole = forecast(prepared)
    assert (whole.answer_calls, whole.measured_calls, whole.output_tokens) == (40, 0, 40 * 250)
    done = Tally(answering=Calls(done=10, measured=5, input_tokens=500, output_tokens=100), spent=Amount(600, 1_500))
    left = forecast(prepared, {}, done)
    assert (left.answer_calls, left.input_tokens, left.output_tokens, left.measured_calls) == (30, 3_000, 600, 5)
    assert left.cost_microusd == 3_000 + 6_000
    assert (left.spent_microusd, left.capped_tokens) == (1_500, 3_600)
    assert "by the mean of 5 replies; money: about 0.0090 USD" in in_words(left)
    assert forecast(prepared, {"row": 1}, None).answer_calls == 30


def test_a_price_that_nobody_gave_is_unknown(tmp_path: Path) -> None:
    """Without a price the estimate of money is None, and there is nothing to ask about."""
    prepared = _prepared(tmp_path)
    found = forecast(prepared)
    assert found.cost_microusd is None
    assert not to_be_asked(prepared.board, found)
    assert "money: unknown (no price)" in in_words(found)


def _forecast(**given: Any) -> Forecast:
    zero = {"rows": 1, "questions": 1, "passes": 1, "answer_calls": 1, "judge_calls": 0, "input_tokens": 0}
    return Forecast(**{**zero, "output_tokens": 0, "cost_microusd": None, **given})


def test_over_a_cap_nothing_begins(tmp_path: Path) -> None:
    """Spent and estimated together are held against both caps, and both problems are told at once."""
    prepared = _prepared(tmp_path, price=PRICED, budget='[budget]\nmax_usd = "0.01"\nmax_tokens = 1000\n')
    refuse_over_cap(prepared.board, _forecast(cost_microusd=10_000, capped_tokens=1_000))
    with pytest.raises(InputError, match="--over-budget") as caught:
        refuse_over_cap(
            prepared.board, _forecast(cost_microusd=8_000, spent_microusd=2_001, capped_tokens=1, spent_tokens=1_000)
        )
    assert caught.value.problems == (
        "about 0.010001 USD (0.002001 USD of it spent), and [budget] max_usd is 0.01 USD",
        "about 1001 tokens (1000 of them spent), and [budget] max_tokens is 1000",
    )


def test_a_dollar_without_a_cap_is_asked_about(tmp_path: Path) -> None:
    """From above 1 USD a person is asked, unless a cap stands in the board."""
    free, capped = _prepared(tmp_path, price=PRICED), _prepared(tmp_path, price=PRICED + '[budget]\nmax_usd = "9"\n')
    assert to_be_asked(free.board, _forecast(cost_microusd=1_000_001))
    assert not to_be_asked(free.board, _forecast(cost_microusd=1_000_000))
    assert not to_be_asked(capped.board, _forecast(cost_microusd=5_000_000))


@pytest.mark.parametrize(
    ("text", "said"),
    {
        "[budget]\n": "budget: caps nothing",
        "[budget]\nmax_tokens = 0\n": "budget.max_tokens: must be from 1",
        "[budget]\nmax_tokens = '5'\n": "budget.max_tokens: must be an integer",
        "[budget]\nmax_tokens = true\n": "budget.max_tokens: must be an integer",
        "[budget]\nmax_usd = 5\n": "budget.max_usd: must be a string",
        "[budget]\nmax_token = 5\n": "did you mean 'max_tokens'",
        "limits = { tokens_per_minute = 0 }\n": "answer.limits.tokens_per_minute: must be from 1",
        "limits = { tokens_per_minute = 1.5 }\n": "answer.limits.tokens_per_minute: must be an integer",
    }.items(),
)
def test_a_cap_that_cannot_be_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    """Wrong caps and paces are named by their key."""
    with pytest.raises(InputError) as caught:
        _prepared(tmp_path, budget=text)
    assert said in str(caught.value)
