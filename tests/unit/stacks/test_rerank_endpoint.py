"""The rerank services: what is sent, what is read, what is counted, and every reply that is none."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from ragassay.errors import StackError
from ragassay.plugins.meter import metering
from ragassay.plugins.stacks.rerank import calls as rerank_calls
from ragassay.plugins.stacks.rerank.endpoint import PROBE, EndpointScorer
from ragassay.plugins.stacks.rerank.reply import billed, scores_of
from ragassay.plugins.stacks.rerank.settings import EndpointSettings, read_settings
from ragassay.records import Secret, Usage
from ragassay.testing.rerank_server import PATHS, RerankServer, share
from ragassay.testing.rest_server import Answer, Fault

QUESTION = "what is the retry limit"
PASSAGES = ("a proxy", "the retry limit is three", "cache", "the limit of what")
KEY = Secret("sk-rerank-0123456789")
FORMS = tuple(PATHS)


@pytest.fixture
def server() -> Iterator[RerankServer]:
    """Give a server that asks for the key."""
    with RerankServer(token=KEY.reveal()) as running:
        yield running


def scorer(server: RerankServer, form: str = "cohere", key: Secret | None = KEY, **params: Any) -> EndpointScorer:
    """Return the scorer over a form of the server."""
    model = {} if form == "tei" else {"id": "word-share-1"}
    given = {"method": "endpoint", "form": form, "url": server.address(form), **model, **params}
    settings, _ = read_settings(given)
    assert isinstance(settings, EndpointSettings)
    return EndpointScorer(settings, key)


def sent(server: RerankServer, at: int = -1) -> Any:
    """Return the body of a request."""
    return msgspec.json.decode(server.asked[at][1].raw)


def failed(rerank: EndpointScorer) -> StackError:
    """Return the error of one question."""
    with pytest.raises(StackError) as caught:
        rerank.scores(QUESTION, PASSAGES)
    assert KEY.reveal() not in str(caught.value)
    return caught.value


def changed(server: RerankServer, form: str, change: Callable[[list[Any]], Any]) -> None:
    """Let a form answer with changed results from now on."""

    def apply(body: Any) -> Any:
        return change(body) if form == "tei" else {**body, "results": change(body["results"])}

    server.fail(form, Fault(changed=apply))


@pytest.mark.parametrize("form", FORMS)
def test_scores_come_back_in_the_order_of_the_passages(server: RerankServer, form: str) -> None:
    """The server lists them best first; the index says whose they are."""
    assert scorer(server, form).scores(QUESTION, PASSAGES) == [share(QUESTION, one) for one in PASSAGES]
    assert server.asked[-1][1].headers["authorization"] == f"Bearer {KEY.reveal()}"


def test_a_request_is_the_documented_one(server: RerankServer) -> None:
    """All passages are asked for, and the parameters of the board stand beside."""
    scorer(server, params={"max_tokens_per_doc": 2048}).scores(QUESTION, PASSAGES)
    assert sent(server) == {
        "model": "word-share-1",
        "query": QUESTION,
        "documents": list(PASSAGES),
        "top_n": 4,
        "max_tokens_per_doc": 2048,
    }
    scorer(server, "tei").scores(QUESTION, PASSAGES)
    assert sent(server) == {"query": QUESTION, "texts": list(PASSAGES), "truncate": True}
    scorer(server, "tei", params={"truncate": False, "raw_scores": True}).scores(QUESTION, PASSAGES)
    assert sent(server) == {"query": QUESTION, "texts": list(PASSAGES), "truncate": False, "raw_scores": True}


def test_the_service_is_asked_once_when_the_row_is_built(server: RerankServer) -> None:
    """About two sentences of ours."""
    scorer(server)
    assert server.count("cohere") == 1
    assert sent(server)["documents"] == list(PROBE[1])


@pytest.mark.parametrize(("form", "batch", "sizes"), [("jina", 3, [3, 1]), ("cohere", 4, [4]), ("tei", 1, [1] * 4)])
def test_many_passages_are_asked_about_in_batches(
    server: RerankServer, form: str, batch: int, sizes: list[int]
) -> None:
    """Each score stands where its passage stood."""
    rerank = scorer(server, form, batch=batch)
    before = len(server.asked)
    assert rerank.scores(QUESTION, PASSAGES) == [share(QUESTION, one) for one in PASSAGES]
    told = [msgspec.json.decode(asked.raw) for _, asked in server.asked[before:]]
    assert sorted((len(body.get("documents", body.get("texts"))) for body in told), reverse=True) == sizes


def test_a_tei_server_says_what_it_is_and_what_it_takes() -> None:
    """Model, its commit and the server's version are recorded; its batch size is kept."""
    with RerankServer(max_client_batch_size=2) as running:
        rerank = scorer(running, "tei", key=None)
        assert rerank.scores(QUESTION, PASSAGES) == [share(QUESTION, one) for one in PASSAGES]
        assert rerank.describe() == {
            "method": "endpoint",
            "form": "tei",
            "url": running.address("tei"),
            "service": {
                "model_id": "word-share-1",
                "model_sha": "0" * 40,
                "model_dtype": "float32",
                "max_input_length": 512,
                "max_client_batch_size": 2,
                "auto_truncate": False,
                "version": "1.7.1",
            },
            "batch": 2,
        }
        running.fail("info", Fault(answer=Answer(status=404, body={})))
        assert scorer(running, "tei", key=None, batch=2).describe().get("service") is None
        running.heal()
        with pytest.raises(StackError, match="maximum allowed batch size 2"):
            scorer(running, "tei", key=None, batch=3).scores(QUESTION, PASSAGES)


def test_a_tei_server_that_sends_the_key_back_is_refused(server: RerankServer) -> None:
    """What it says of itself is recorded."""
    server.fail("info", Fault(answer=Answer(body={"model_id": f"model of {KEY.reveal()}"})))
    with pytest.raises(StackError, match="sent the key back") as caught:
        scorer(server, "tei")
    assert KEY.reveal() not in str(caught.value)


def test_the_description_holds_what_can_change_a_score(server: RerankServer) -> None:
    """The served model too, where the service names it; neither key nor price nor time limit."""
    rerank = scorer(server, "jina", params={"temperature": 0.5}, price={"usd_per_mtok": "0.02"}, timeout_s=9)
    assert rerank.describe() == {
        "method": "endpoint",
        "form": "jina",
        "url": server.address("jina"),
        "id": "word-share-1",
        "served": "word-share-1",
        "params": {"temperature": "0.5"},
        "batch": 100,
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda found: found[:-1], "1 of 4 passages have no score"),
        (lambda found: [], "4 of 4 passages have no score, the first of them passage 0"),
        (lambda found: [*found, found[0]], "passage 1 has two scores"),
        (lambda found: [{**found[0], "index": 4}, *found[1:]], "has the index '4'; 4 passages have 0 to 3"),
        (lambda found: [{**found[0], "index": -1}, *found[1:]], "has the index '-1'"),
        (lambda found: [{**found[0], "index": True}, *found[1:]], "has the index 'True'"),
        (lambda found: [{**found[0], "index": "1"}, *found[1:]], "has the index '1'"),
        (lambda found: [{"document": "x"}, *found[1:]], "has the index 'None'"),
        (lambda found: [None, *found[1:]], "has the index 'None'"),
        (lambda found: [{**found[0], "score": None, "relevance_score": None}, *found[1:]], "no finite number"),
        (lambda found: [{**found[0], "score": "1", "relevance_score": "1"}, *found[1:]], "no finite number"),
        (lambda found: [{**found[0], "score": True, "relevance_score": True}, *found[1:]], "no finite number"),
    ],
)
def test_each_passage_has_one_score_or_the_search_fails(
    server: RerankServer, form: str, change: Any, words: str
) -> None:
    """For good: the same question would get the same reply, and would be billed again."""
    rerank = scorer(server, form)
    changed(server, form, change)
    before = len(server.asked)
    error = failed(rerank)
    assert words in str(error)
    assert not error.retryable
    assert len(server.asked) == before + 1


def test_the_order_of_the_results_is_not_read(server: RerankServer) -> None:
    """Servers are known that return them unsorted."""
    rerank = scorer(server, "jina")
    changed(server, "jina", lambda found: sorted(found, key=lambda one: one["index"]))
    assert rerank.scores(QUESTION, PASSAGES) == [share(QUESTION, one) for one in PASSAGES]


@pytest.mark.parametrize(
    ("raw", "words", "retryable"),
    [
        (b'{"results": [{"index": 0, "relevance_score": NaN}]}', "NaN is no number of JSON", True),
        (b'{"results": [{"index": 0, "relevance_score": 1e999}]}', "", None),
        (b"<html>bad gateway</html>", "HTML page and no JSON", True),
        (b"{}", "holds no list of results (it has nothing); check url and form", False),
        (b'{"data": [], "object": "list"}', "(it has 'data', 'object')", False),
        (b'{"results": {}}', "holds no list of results", False),
        (b'{"error": {"message": "overloaded"}}', "sent an error object: ", True),
        (b'data: {"results": []}\n\n', "sent a stream of events", False),
    ],
)
def test_a_reply_that_is_no_list_of_scores_is_an_error(
    server: RerankServer, monkeypatch: pytest.MonkeyPatch, raw: bytes, words: str, retryable: bool | None
) -> None:
    """Whatever its status says."""
    monkeypatch.setattr(rerank_calls, "FIRST_WAIT_S", 0.001)
    rerank = scorer(server)
    server.fail("cohere", Fault(answer=Answer(raw=raw)))
    error = failed(rerank)
    assert words in str(error)
    assert retryable in (error.retryable, None)


def test_another_model_than_before_is_an_error(server: RerankServer) -> None:
    """A row measures one."""
    rerank = scorer(server, "jina")
    server.model = "word-share-2"
    assert "reranked with 'word-share-1' and then with 'word-share-2'" in str(failed(rerank))


@pytest.mark.parametrize("form", FORMS)
def test_a_refused_key_is_final(server: RerankServer, form: str) -> None:
    """When the row is built, and later; nothing is asked again."""
    rerank = scorer(server, form)
    server.token = "another"
    before = len(server.asked)
    error = failed(rerank)
    assert "HTTP 401" in str(error)
    assert "`key_env`" in str(error)
    assert not error.retryable
    assert len(server.asked) == before + 1
    with pytest.raises(StackError, match="HTTP 401"):
        scorer(server, form)


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "check url (the whole address"), (413, "`batch`"), (307, "redirects are not followed"), (400, "HTTP 400")],
)
def test_other_refusals_are_final_and_say_what_to_do(server: RerankServer, status: int, words: str) -> None:
    """Asked once."""
    rerank = scorer(server)
    server.fail("cohere", Fault(answer=Answer(status=status, body={"message": "no"})))
    before = len(server.asked)
    error = failed(rerank)
    assert words in str(error)
    assert not error.retryable
    assert len(server.asked) == before + 1


@pytest.mark.parametrize("status", [429, 500, 503, 424])
def test_what_passes_is_asked_again(server: RerankServer, status: int) -> None:
    """Each attempt is counted, and the scores are those of the one that was answered."""
    rerank = scorer(server)
    server.fail("cohere", Fault(answer=Answer(status=status, headers={"Retry-After": "0"}), times=2))
    with metering() as meter:
        assert rerank.scores(QUESTION, PASSAGES) == [share(QUESTION, one) for one in PASSAGES]
    assert (meter.attempts, meter.replies) == (3, 1)


def test_a_service_is_waited_for_as_long_as_it_asks(server: RerankServer) -> None:
    """And no shorter."""
    rerank = scorer(server)
    refusal = Answer(status=429, body={"message": "slow down"}, headers={"Retry-After": "1"})
    server.fail("cohere", Fault(answer=refusal, times=1))
    started = time.monotonic()
    rerank.scores(QUESTION, PASSAGES)
    assert time.monotonic() - started >= 1


def test_a_wait_beyond_a_searchs_time_is_not_begun(server: RerankServer) -> None:
    """The error says that asking again may help, and it comes at once."""
    rerank = scorer(server)
    server.fail("cohere", Fault(answer=Answer(status=429, body={"message": "x"}, headers={"Retry-After": "90"})))
    started = time.monotonic()
    error = failed(rerank)
    assert time.monotonic() - started < 5
    assert error.retryable


def test_patience_ends(server: RerankServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long one reply may take, a search waits no longer than its time in all."""
    monkeypatch.setattr("ragassay.plugins.stacks.rerank.endpoint.PATIENCE_S", 0.5)
    rerank = scorer(server, timeout_s=20)
    server.fail("cohere", Fault(delay_s=60))
    started = time.monotonic()
    error = failed(rerank)
    assert time.monotonic() - started < 15
    assert error.retryable
    assert "no reply within" in str(error)


def test_a_slow_reply_and_a_cut_one_are_errors_in_time(server: RerankServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Retryable, and never half a list."""
    monkeypatch.setattr(rerank_calls, "FIRST_WAIT_S", 0.001)
    rerank = scorer(server, timeout_s=1)
    server.fail("cohere", Fault(cut=True))
    assert "ended before its body was complete" in str(failed(rerank))
    server.fail("cohere", Fault(delay_s=60))
    error = failed(rerank)
    assert "no complete reply within 1 s" in str(error)
    assert error.retryable


def test_a_server_that_is_down_is_an_error_and_is_used_when_it_is_back(
    server: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two questions."""
    monkeypatch.setattr(rerank_calls, "FIRST_WAIT_S", 0.001)
    rerank = scorer(server)
    server.stop()
    assert failed(rerank).retryable
    with pytest.raises(StackError):
        scorer(server)
    server.start()
    assert rerank.scores(QUESTION, PASSAGES) == [share(QUESTION, one) for one in PASSAGES]
    rerank.close()
    rerank.close()


@pytest.mark.parametrize(
    ("form", "price", "usage", "cost"),
    [
        ("cohere", {"usd_per_1000_searches": "2.00"}, Usage(), 4000),
        ("cohere", None, Usage(), None),
        ("cohere", {"usd_per_mtok": "1"}, Usage(), None),
        ("jina", {"usd_per_mtok": "2"}, Usage(input_tokens=32, output_tokens=0), 64),
        ("tei", None, Usage(), None),
    ],
)
def test_what_a_search_took_is_counted_with_it(
    server: RerankServer, form: str, price: Any, usage: Usage, cost: int | None
) -> None:
    """Two requests for four passages; what the service does not say is unknown."""
    rerank = scorer(server, form, batch=2, **({"price": price} if price else {}))
    with metering() as meter:
        rerank.scores(QUESTION, PASSAGES)
    assert (meter.attempts, meter.replies, meter.usage, meter.cost_microusd) == (2, 2, usage, cost)
    assert meter.outside_microusd == (cost or 0)


@pytest.mark.parametrize(
    ("body", "searches", "tokens"),
    [
        ({"meta": {"billed_units": {"search_units": 1.0}}}, Decimal("1.0"), None),
        ({"meta": {"billed_units": {"search_units": 2}, "tokens": {"input_tokens": 77}}}, Decimal(2), 77),
        ({"usage": {"search_units": 1, "total_tokens": 150}}, Decimal(1), 150),
        ({"usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 815}}, None, 815),
        ({"usage": {"prompt_tokens": 815}}, None, 815),
        ({"meta": None, "usage": None}, None, None),
        ({"meta": {"billed_units": {"search_units": "1"}}, "usage": {"total_tokens": -5}}, None, None),
        ({"usage": {"total_tokens": True}}, None, None),
        ({"usage": {"total_tokens": 1e300}}, None, None),
        ({}, None, None),
    ],
)
def test_what_was_billed_is_read_where_it_stands(body: Any, searches: Decimal | None, tokens: int | None) -> None:
    """Figures that are none are unknown."""
    found = billed(body)
    assert (found.searches, found.tokens) == (searches, tokens)


def test_a_bare_number_that_is_infinite_is_no_score() -> None:
    """Python reads 1e999 as infinity."""
    with pytest.raises(StackError, match="no finite number"):
        scores_of({"results": [{"index": 0, "relevance_score": math.inf}]}, "jina", 1)


def test_one_passage_in_a_bare_list_is_a_list(server: RerankServer) -> None:
    """TEI's list of one result is not taken for the result itself."""
    assert scorer(server, "tei").scores("limit", ["the limit"]) == [1.0]
