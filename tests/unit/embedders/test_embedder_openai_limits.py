"""The embedder over an endpoint behind the runner's gate: limits a minute, retries, and what calls took."""

from __future__ import annotations

import time
from typing import Any

import pytest

from ragassay.errors import ModelError
from ragassay.plugins.embedders.openai import OpenAIEmbedder
from ragassay.plugins.meter import metering
from ragassay.run import limiter
from ragassay.run.board_file import Limits
from ragassay.run.build import StackBuilder
from ragassay.run.embedding_gate import EmbeddingGate
from ragassay.run.embeddings import CachedEmbedder
from ragassay.testing.embedding_imitations import TEI_FAILED, TEI_OVERLOADED, tei
from ragassay.testing.provider_imitations import embeddings, in_turn, openai_error
from ragassay.testing.provider_servers import Asked, Imitation, ProviderServer, Said
from ragassay.testing.stack_contract import corpus, ignore_progress

GATES: list[EmbeddingGate] = []


def gate(**limits: Any) -> EmbeddingGate:
    """Return the runner's gate without waits of its own choice, and keep it."""
    GATES.append(EmbeddingGate(Limits(**limits), first_wait_s=0.001))
    return GATES[-1]


def small(asked: Asked) -> Said:
    """Return vectors of four numbers."""
    return Said(body=embeddings(asked.body, 4))


def uncounted(asked: Asked) -> Said:
    """Return vectors, and nothing of tokens."""
    body = embeddings(asked.body, 4)
    del body["usage"]
    return Said(body=body)


def made(server: ProviderServer, **given: Any) -> OpenAIEmbedder:
    """Return an embedder behind the gate."""
    return OpenAIEmbedder(**{"id": "e", "base_url": server.base_url, "dimension": 4, "gate": gate, **given})


def seconds(imitation: Imitation, texts: int, **given: Any) -> float:
    """Return how long it takes to embed so many texts of 40 characters, one in a call."""
    with ProviderServer(imitation) as server:
        one = made(server, batch=1, **given)
        one.embed(["warm"], "query")
        started = time.perf_counter()
        one.embed([f"{n:040d}" for n in range(texts)], "document")
        taken = time.perf_counter() - started
        one.close()
        return taken


def test_requests_a_minute_are_spread() -> None:
    """Six calls at 600 a minute begin a tenth of a second after each other; without a limit they do not."""
    assert seconds(small, 6, requests_per_minute=600) > 0.45
    assert seconds(small, 6) < 0.4


def test_tokens_a_minute_are_spread_by_what_servers_counted() -> None:
    """Six texts of ten expected tokens at 3,000 a minute take a second; the server counts one for each: far less."""
    assert seconds(uncounted, 6, tokens_per_minute=3000) > 0.8
    assert seconds(small, 6, tokens_per_minute=3000) < 0.8


def test_what_the_server_asks_to_wait_holds_every_call() -> None:
    """After one refusal with `Retry-After` no call begins before its time."""
    times: list[float] = []

    def busy(asked: Asked) -> Said:
        times.append(time.perf_counter())
        if asked.call == 2:
            return openai_error("slow down", status=429, **{"retry-after-ms": "400"})
        return small(asked)

    with ProviderServer(busy) as server:
        one = made(server, batch=1, concurrency=1)
        one.embed(["warm"], "query")
        one.embed(["a", "b", "c"], "document")
        one.close()
    assert len(times) == 5
    assert times[2] - times[1] > 0.35


@pytest.mark.parametrize(("fault", "kind"), [(TEI_OVERLOADED, "rate_limited"), (TEI_FAILED, "server_error")])
def test_a_passing_fault_is_asked_again(fault: Said, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An overloaded server and a model that failed once are no failure of the index, and are counted by kind."""
    monkeypatch.setattr(limiter, "FIRST_COOL_S", 0.001)
    with ProviderServer(in_turn([fault, fault, tei])) as server:
        one = made(server, dimension=384)
        assert one.embed(["x"], "document").shape == (1, 384)
        one.close()
    assert dict(GATES[-1].retries) == {kind: 2}


def test_a_wait_of_an_hour_is_final() -> None:
    """Who asks to wait longer than a quarter of an hour has refused; the message says so."""
    hour = openai_error("later", status=429, **{"Retry-After": "3600"})
    with ProviderServer(in_turn([hour])) as server:
        one = made(server)
        with pytest.raises(ModelError, match="asks to wait 3600 s"):
            one.embed(["x"], "query")
        one.close()
        assert len(server.asked) == 1


def test_tokens_and_calls_are_counted_by_kind() -> None:
    """Documents and queries apart: calls, replies and tokens, a call that failed among the calls."""
    fault = Said(status=500, body={"error": {"message": "no"}})
    with ProviderServer(in_turn([fault, small])) as server:
        one = made(server, batch=2)
        one.embed(["one two", "three", "four"], "document")
        one.embed(["why"], "query")
        one.close()
    documents, queries = one.counted["document"], one.counted["query"]
    assert (documents.calls, documents.replies, documents.input_tokens) == (3, 2, 4)
    assert (queries.calls, queries.replies, queries.input_tokens) == (1, 1, 1)


def test_what_a_question_took_reaches_the_meter_of_its_search() -> None:
    """Attempts, tokens and time of the calls inside a search are in its meter, and not those of another search."""
    with ProviderServer(in_turn([Said(status=500, body={"error": {"message": "no"}}), small])) as server:
        one = made(server)
        with metering() as meter:
            one.embed(["one two three"], "query")
        one.embed(["four"], "query")
        one.close()
    assert (meter.attempts, meter.replies, meter.input_tokens, meter.outside_tokens) == (2, 1, 3, 3)
    assert meter.cost_microusd is None


def test_unknown_tokens_make_the_sum_unknown() -> None:
    """One reply without a count, and the sum is None: it is not zero, and it is not what the others took."""
    with ProviderServer(in_turn([small, uncounted, small])) as server:
        one = made(server, batch=1, concurrency=1)
        one.embed(["a", "b", "c"], "document")
        one.close()
    assert one.counted["document"].input_tokens is None
    assert one.counted["document"].replies == 3


def test_a_board_s_limits_reach_the_gate_and_no_description(tmp_path: Any) -> None:
    """The runner paces the calls of a row as its entry says; what is recorded does not change by it."""
    with ProviderServer(small) as server:
        entry: dict[str, Any] = {"id": "e", "base_url": server.base_url, "dimension": 4, "batch": 1}
        paced = {"kind": "openai", **entry, "requests_per_minute": 1200}
        builder = StackBuilder(
            corpus(), evidence={}, cache=tmp_path, weights_cache=tmp_path, report=lambda _: ignore_progress
        )
        started = time.perf_counter()
        retriever = builder.build({"kind": "dense", "embedder": paced}, "row")
        taken = time.perf_counter() - started
        assert taken > (len(server.asked) - 2) * 0.05
        assert retriever.describe()["embedder"] == OpenAIEmbedder(**entry).describe()
        retriever.close()


def test_an_interrupted_index_goes_on_where_it_stopped(tmp_path: Any) -> None:
    """Blocks that were embedded before the endpoint went down are not sent again."""
    chunks = [*corpus()] * 40
    texts = [f"{n} {chunk.text}" for n, chunk in enumerate(chunks)]

    def down_after_six(asked: Asked) -> Said:
        return small(asked) if asked.call <= 6 else openai_error("no", status=401)

    def store(server: ProviderServer) -> CachedEmbedder:
        one = made(server, batch=50, concurrency=1)
        one.describe = lambda: {"kind": "openai"}  # type: ignore[method-assign]  # the port differs between servers
        return CachedEmbedder(one, tmp_path)

    blocks = [texts[at : at + 250] for at in range(0, len(texts), 250)]
    assert len(blocks) > 1
    with ProviderServer(down_after_six) as server:
        first = store(server)
        first.embed(blocks[0], "document")
        with pytest.raises(ModelError):
            first.embed(blocks[1], "document")
    with ProviderServer(small) as server:
        second = store(server)
        for block in blocks:
            second.embed(block, "document")
        sent = [text for asked in server.asked for text in asked.body["input"]]
    assert second.reused == len(blocks[0])
    assert not set(sent) & set(blocks[0])
