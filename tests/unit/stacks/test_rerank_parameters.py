"""What the stack `rerank` takes, refuses and never repeats."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any

import pytest

from ragassay.errors import InputError
from ragassay.plugins.declared import declared
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.rerank import Rerank
from ragassay.plugins.stacks.rerank.price import Price, read_price
from ragassay.plugins.stacks.rerank.settings import EndpointSettings, read_settings
from ragassay.run.build import check_stack
from ragassay.run.row_config import measured_entry
from ragassay.testing.blocking_model import BlockingScript
from ragassay.testing.stack_contract import corpus, ignore_progress

COHERE = {"method": "endpoint", "url": "https://api.cohere.com/v2/rerank", "id": "rerank-v3.5"}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "method must be one of cross-encoder, endpoint, llm"),
        ({"method": "colbert"}, "must be one of"),
        ({"method": "llm", "depth": 0}, "depth = 0"),
        ({"method": "llm", "depth": True}, "depth = True"),
        ({"method": "llm", "url": "http://x/rerank"}, "url belongs to method = 'endpoint'"),
        ({"method": "llm", "id": "m"}, "id belongs to method = 'cross-encoder' or 'endpoint'"),
        ({"method": "llm", "top_logprobs": 1}, "top_logprobs = 1"),
        ({"method": "llm", "llm_score": "guess"}, "llm_score"),
        ({"method": "cross-encoder"}, "path must be the folder of model.onnx and tokenizer.json"),
        ({"method": "cross-encoder", "path": "m", "id": "x"}, "id belongs to runtime = 'sentence-transformers'"),
        ({"method": "cross-encoder", "path": "m", "device": "cuda"}, "device belongs to runtime"),
        ({"method": "cross-encoder", "path": "m", "max_tokens": 4}, "max_tokens = 4"),
        ({"method": "cross-encoder", "path": "m", "scores": "softmax"}, "scores"),
        ({"method": "cross-encoder", "path": "m", "concurrency": 2}, "concurrency belongs to"),
        (
            {"method": "cross-encoder", "runtime": "sentence-transformers"},
            "path must be the folder of the model, or id",
        ),
        ({"method": "cross-encoder", "runtime": "sentence-transformers", "path": "m", "id": "x"}, "and not both"),
        ({"method": "cross-encoder", "runtime": "sentence-transformers", "path": "m", "threads": 2}, "threads belongs"),
        ({"method": "cross-encoder", "runtime": "sentence-transformers", "path": "m", "revision": "a"}, "revision"),
        ({"method": "endpoint", "id": "m"}, "url is missing"),
        ({**COHERE, "id": None}, "id is missing"),
        ({"method": "endpoint", "form": "tei", "url": "http://h/rerank", "id": "m"}, "id must be left out"),
        ({**COHERE, "form": "voyage"}, "form = 'voyage'"),
        ({**COHERE, "params": {"top_n": 3}}, "params.top_n is set by the harness"),
        ({**COHERE, "timeout_s": 56}, "timeout_s = 56"),
        ({**COHERE, "price": {}}, "price must be"),
        ({**COHERE, "price": {"usd_per_mtok": "1", "usd_per_1000_searches": "1"}}, "price must be"),
        ({**COHERE, "price": {"usd_per_mtok": "-1"}}, "price.usd_per_mtok = '-1'"),
        ({**COHERE, "price": {"usd_per_mtok": "NaN"}}, "price.usd_per_mtok"),
        ({**COHERE, "price": {"usd_per_mtok": "free"}}, "price.usd_per_mtok"),
        ({**COHERE, "nonsense": 1}, "unknown parameter 'nonsense'"),
    ],
)
def test_what_cannot_be_used_is_named(params: dict[str, Any], words: str) -> None:
    """Before any work, with what it must be."""
    with pytest.raises(InputError) as caught:
        Rerank(**params)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "https://user:sk-very-secret@api.example/rerank"},
        {"url": "https://api.example/rerank?key=sk-very-secret"},
        {"url": "sk-very-secret"},
        {"url": 5},
        {"key_env": "sk-very-secret"},
        {"key_env": ["sk-very-secret"]},
    ],
)
def test_a_wrong_address_or_key_is_not_repeated(wrong: dict[str, Any]) -> None:
    """Either may hold the key."""
    with pytest.raises(InputError) as caught:
        Rerank(**{**COHERE, **wrong})
    assert "sk-very-secret" not in str(caught.value)
    assert len(caught.value.problems) == 1


def test_all_problems_are_in_one_error() -> None:
    """Nobody corrects a board one line at a time."""
    with pytest.raises(InputError) as caught:
        Rerank(method="endpoint", depth=0, threads=4, price={"x": 1}, timeout_s=0)
    assert len(caught.value.problems) == 6


def test_the_address_is_kept_whole() -> None:
    """Its path is the service's to name."""
    settings, depth = read_settings({**COHERE, "depth": 7})
    assert isinstance(settings, EndpointSettings)
    assert (settings.url, settings.form, settings.batch, depth) == (COHERE["url"], "cohere", None, 7)


@pytest.mark.parametrize(
    ("table", "searches", "tokens", "cost"),
    [
        ({"usd_per_1000_searches": "2.00"}, Decimal(1), None, 2000),
        ({"usd_per_1000_searches": 2.5}, Decimal("3.0"), 10, 7500),
        ({"usd_per_1000_searches": "2"}, None, 10, None),
        ({"usd_per_mtok": "0.02"}, None, 815, 16),
        ({"usd_per_mtok": "0.02"}, None, 25, 1),
        ({"usd_per_mtok": "0.02"}, Decimal(1), None, None),
        ({"usd_per_mtok": 0}, None, 5, 0),
    ],
)
def test_a_price_is_for_searches_or_for_tokens(
    table: dict[str, Any], searches: Decimal | None, tokens: int | None, cost: int | None
) -> None:
    """Half-up in millionths of a dollar; what the service did not count has an unknown cost, not none."""
    price, problems = read_price(table)
    assert isinstance(price, Price)
    assert problems == []
    assert price.cost_microusd(searches, tokens) == cost


def test_price_key_limits_are_around_the_measurement() -> None:
    """A new price or another time limit makes no new row; another batch does."""
    around = {"price": {"usd_per_mtok": "1"}, "key_env": "A_KEY", "timeout_s": 9, "concurrency": 2}
    entry = {"kind": "rerank", **COHERE, "batch": 50}
    assert measured_entry({**entry, **around}) == entry


def test_a_model_belongs_to_the_method_llm() -> None:
    """With another it is a mistake, and without it `llm` cannot work."""
    inner = BM25().build(corpus(), {}, ignore_progress)
    with pytest.raises(InputError, match="needs a language model"):
        Rerank(method="llm").build(corpus(), {"of": inner}, ignore_progress)
    with pytest.raises(InputError, match="`model` belongs to method = 'llm'"):
        Rerank(method="cross-encoder", path="m").build(
            corpus(), {"of": inner, "model": BlockingScript(lambda _: "x")}, ignore_progress
        )
    with pytest.raises(InputError, match="needs one stack to wrap"):
        Rerank(method="llm").build(corpus(), {"model": BlockingScript(lambda _: "x")}, ignore_progress)


def test_a_board_is_checked_before_anything_is_built() -> None:
    """The wrapped stack's parameters too, each problem at its place."""
    check_stack({"kind": "rerank", **COHERE, "of": {"kind": "bm25"}}, "row 'x'")
    with pytest.raises(InputError, match=r"row 'x'\.of: the parameters of 'bm25'"):
        check_stack({"kind": "rerank", **COHERE, "of": {"kind": "bm25", "k2": 1}}, "row 'x'")


def test_a_runtime_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the row is built, with the extra that brings it; the other methods need nothing of it."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.delitem(sys.modules, "ragassay.plugins.stacks.rerank.torch", raising=False)
    inner = BM25().build(corpus(), {}, ignore_progress)
    stack = Rerank(method="cross-encoder", runtime="sentence-transformers", path="m")
    with pytest.raises(InputError, match=r"pip install 'ragassay\[sentence-transformers\]'"):
        stack.build(corpus(), {"of": inner}, ignore_progress)
    found = next(one for one in declared("stacks") if one.kind == "rerank")
    assert (found.extras, found.missing) == (("run",), ())
