"""A model inside a stack: asked behind its limits, paid from the board's budget, counted with the search."""

from __future__ import annotations

import asyncio
import gc
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest
from run_lab import Lab, Scripted, register

from ragassay import plugins
from ragassay.errors import InputError, RunStopped
from ragassay.manifest import decode_run, read_run
from ragassay.plugins.price import input_price, input_price_problems
from ragassay.records import JSON, Chunk, Hit, Message, Secret
from ragassay.run.board_run import Ended
from ragassay.run.build import check_stack, needed_keys, parts_of
from ragassay.run.passes import WARM_UP
from ragassay.run.row_config import measured_entry
from ragassay.seams import BlockingModel, Progress
from ragassay.testing.chat_faults import FAULTS
from ragassay.testing.chat_server import ChatServer


class Asking(Scripted):
    """Asks its model about the question, and delivers the first chunk."""

    model: BlockingModel
    wire_form_only: ClassVar[bool] = True

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Asking:
        """Keep chunks and model."""
        self.chunks, self.model = chunks, parts["model"]
        return self

    def search(self, text: str, k: int) -> list[Hit]:
        """Ask, whatever comes of it."""
        self.model.complete([Message(role="user", content=text)], {"max_tokens": 5})
        return [Hit(chunk=self.chunks[0].id, score=1.0)]

    def describe(self) -> JSON:
        """Say the model."""
        return {"kind": "asking", "maturity": "preview", "model": self.model.describe()}


@pytest.fixture
def lab(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a board's folder of four questions, and the kind `asking`."""
    module = types.ModuleType("asking_stack")
    module.Stack = Asking  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "asking_stack", module)
    monkeypatch.setitem(plugins.BUILT_IN["stacks"], "asking", "asking_stack:Stack")
    return Lab(tmp_path, questions=4)


PRICE = 'price = { input_usd_per_mtok = "1", output_usd_per_mtok = "10" }'


def run(lab: Lab, server: ChatServer, *, more: str = PRICE, **board: Any) -> Ended:
    """Run the board with the server as the model inside the row's stack; return the row's pass."""

    async def work() -> Ended:
        async with server:
            model = f'{{ kind = "openai", id = "m", base_url = "{server.base_url}", {more} }}'
            lab.write(stack=f'{{ kind = "asking", model = {model} }}', **board)
            return (await lab.run_async(keys={"A_KEY": Secret("s3cret")}))["row", 1]

    return asyncio.run(work())


def test_the_calls_of_a_search_are_counted_with_it(lab: Lab) -> None:
    """Attempts, tokens and money of each search stand in the telemetry; the warm-up's do not."""
    server = ChatServer(lambda _: "yes")
    end = run(lab, server)
    assert (end.held, end.missing) == (None, {})
    for row in lab.telemetry(end).values():
        usage = row.retrieval_usage
        assert row.retrieval_attempts == 1
        assert usage.input_tokens is not None
        assert usage.output_tokens is not None
        assert row.retrieval_cost_microusd == usage.input_tokens + 10 * usage.output_tokens
    assert server.calls == 1 + 4


def test_a_search_without_a_price_has_an_unknown_cost(lab: Lab) -> None:
    """Unknown is null: tokens are there and money is not, and nowhere a 0."""
    rows = lab.telemetry(run(lab, ChatServer(lambda _: "yes"), more="params = {}")).values()
    assert {(row.retrieval_attempts, row.retrieval_cost_microusd) for row in rows} == {(1, None)}


def test_a_stack_that_asks_nobody_counts_nothing(lab: Lab) -> None:
    """bm25 makes no call: no attempt, no cost."""
    lab.write()
    rows = lab.telemetry(lab.run()["row", 1]).values()
    assert {(row.retrieval_attempts, row.retrieval_cost_microusd) for row in rows} == {(0, None)}


def test_a_model_that_fails_is_a_failure_of_retrieval_and_is_counted(lab: Lab) -> None:
    """What the failed calls were stands in the record of the question, which has no score."""
    server = ChatServer(lambda _: "yes", faults=lambda call: None if call == 1 else FAULTS["400"])
    end = run(lab, server)
    assert end.missing == {"retrieval_failed": 4}
    assert "the stack's model 'm'" in (end.held or "")


def test_failed_searches_stay_in_the_sum(lab: Lab) -> None:
    """A question whose first search failed and whose second succeeded took both."""
    failing = {2, 3, 4, 5}
    server = ChatServer(lambda _: "yes", faults=lambda call: FAULTS["400"] if call in failing else None)
    assert run(lab, server).missing == {"retrieval_failed": 4}
    end = run(lab, ChatServer(lambda _: "yes", port=int(str(urlsplit(server.base_url).port))))
    rows = lab.telemetry(end).values()
    assert [row.retrieval_attempts for row in rows] == [2] * 4
    assert all(row.retrieval_cost_microusd is None for row in rows)


def test_a_refused_key_stops_the_run(lab: Lab) -> None:
    """Nobody's stack is down where the key is wrong: the run ends, and no question has failed."""
    server = ChatServer(lambda _: "yes", faults=lambda call: FAULTS["401-echo"])
    with pytest.raises(InputError, match="refused the key"):
        run(lab, server, more='key_env = "A_KEY"')
    assert "s3cret" not in lab.everything_written()


def test_a_spent_budget_stops_the_run(lab: Lab) -> None:
    """The model inside a stack draws on the board's budget."""
    with pytest.raises(RunStopped, match="budget"):
        run(lab, ChatServer(lambda _: "yes"), head='passes = 1\nbudget = { max_usd = "0.0000001" }')


class AskingTwice(Asking):
    """Asks its model twice in every search, and waits a little first, so that several searches are under way."""

    def search(self, text: str, k: int) -> list[Hit]:
        """Ask, and ask again."""
        self.model.complete([Message(role="user", content=text)], {"max_tokens": 5})
        return super().search(text, k)


@pytest.mark.parametrize("more", [PRICE, "params = {}"])
def test_a_cap_holds_over_any_number_of_resumes(lab: Lab, monkeypatch: pytest.MonkeyPatch, more: str) -> None:
    """The search that warms up and those that were stopped on their way count too when a run is continued."""
    monkeypatch.setattr(sys.modules["asking_stack"], "Stack", AskingTwice)
    calls: list[int] = []
    port = 0
    for _ in range(4):
        server = ChatServer(lambda _: "yes", port=port)
        with pytest.raises(InputError, match="budget"):
            run(lab, server, more=more, head="passes = 1\nbudget = { max_tokens = 60 }")
        port = int(str(urlsplit(server.base_url).port))
        calls.append(server.calls)
    assert calls[0] > 2, "the warm-up and at least one more call"
    assert sum(calls[1:]) <= 1, f"{calls}: each resume began to count anew"


def test_a_search_that_nobody_waits_for_any_more_is_not_reported(lab: Lab, capfd: pytest.CaptureFixture[str]) -> None:
    """Where a spent budget stops several searches at once, one error is told, without a traceback of the others."""
    with pytest.raises(InputError, match="budget"):
        run(lab, ChatServer(lambda _: "yes"), head="passes = 1\nbudget = { max_tokens = 30 }")
    gc.collect()
    assert "never retrieved" not in capfd.readouterr().err


def test_a_budget_needs_the_price_of_a_stacks_model(lab: Lab) -> None:
    """What has no price cannot be kept under a cap."""
    with pytest.raises(InputError, match="row 'row', model"):
        run(lab, ChatServer(lambda _: "yes"), more="params = {}", head='passes = 1\nbudget = { max_usd = "1" }')


def test_what_is_around_a_stacks_model_is_no_part_of_its_row(lab: Lab) -> None:
    """Names of keys, limits and prices are recorded beside the measurement."""
    end = run(lab, ChatServer(lambda _: "yes"), more=f'key_env = "A_KEY", limits = {{ concurrency = 2 }}, {PRICE}')
    config = decode_run(read_run(lab.space.runs / end.run_id).files).config
    assert config is not None
    assert set(config.measure.stack["entry"]["model"]) == {"kind", "id", "base_url"}
    around = config.circumstance
    assert around.key_env["stack.model"] == "A_KEY"
    assert around.limits["stack.model"] == {"limits": {"concurrency": 2}}
    assert around.prices["stack.model"] == {"input_usd_per_mtok": "1", "output_usd_per_mtok": "10"}
    assert around.wire_form_only


def test_entry_parts_are_found_at_any_depth() -> None:
    """Every part has its seam and its place."""
    model = {"kind": "openai", "key_env": "B"}
    inner = {"kind": "dense", "embedder": {"kind": "openai", "key_env": "A", "batch": 3}}
    entry = {"kind": "rerank", "of": {"kind": "hybrid", "of": [{"kind": "bm25"}, inner]}, "model": model}
    places = [(part.seam, part.place) for part in parts_of(entry)]
    assert places == [
        ("stacks", ""),
        ("stacks", "of"),
        ("stacks", "of.of[0]"),
        ("stacks", "of.of[1]"),
        ("embedders", "of.of[1].embedder"),
        ("models", "model"),
    ]
    assert needed_keys([], [entry]) == ["A", "B"]
    assert "key_env" not in str(measured_entry(entry))
    assert "batch" not in str(measured_entry(entry))


def test_all_problems_of_a_stacks_model_are_told_at_once(lab: Lab) -> None:
    """As for every other model of a board."""
    with pytest.raises(InputError) as caught:
        check_stack({"kind": "asking", "model": {"kind": "openai", "limits": {"concurrency": 0}}}, "row 'x'")
    assert len(caught.value.problems) == 3


def test_the_first_search_is_nobodys(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """One search goes before the questions, whatever comes of it; a row that has nothing to ask makes none."""
    seen: list[str] = []

    def search(text: str, k: int, chunks: Any) -> list[Hit]:
        seen.append(text)
        if text == WARM_UP:
            raise ConnectionError("not yet")
        return []

    lab.write(stack=register(monkeypatch, search))
    end = lab.run()["row", 1]
    assert (seen[0], seen.count(WARM_UP), len(seen)) == (WARM_UP, 1, 5)
    assert (end.held, end.missing) == (None, {})
    assert any("the search before the first question failed" in note for note in lab.status.notes)


@pytest.mark.parametrize("price", ["x", {}, {"input_usd_per_mtok": 1}, {"input_usd_per_mtok": "-1"}, {"a": "1"}])
def test_a_price_of_input_is_checked(price: Any) -> None:
    """It is one decimal string; anything else is said to be none."""
    assert input_price_problems(price) == [
        "price must be { input_usd_per_mtok = '…' }, a decimal string from 0 to 1000000"
    ]


def test_a_price_of_input_costs_tokens() -> None:
    """0.10 USD a million: 25 tokens take 2.5, which is 3 micro-USD; unknown tokens an unknown amount."""
    price = input_price({"input_usd_per_mtok": "0.10"})
    assert price is not None
    assert (price.cost_microusd(25, 0), price.cost_microusd(None, 0)) == (3, None)
    assert input_price(None) is None
    assert input_price_problems(None) == []
