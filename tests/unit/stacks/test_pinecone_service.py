"""Pinecone says what is wrong: slow, refusing, limiting, half-answering, other records; its client is kept quiet."""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pinecone", reason="pip install 'ragassay[pinecone]'")

from ragassay import canon
from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.pinecone import Pinecone
from ragassay.plugins.stacks.pinecone.client import _asking_once
from ragassay.records import Secret
from ragassay.testing.fake_embedder import TableEmbedder, WordEmbedder
from ragassay.testing.pinecone_server import KEY, PineconeServer
from ragassay.testing.rest_server import Answer, Fault
from ragassay.testing.stack_contract import corpus, ignore_progress

CHUNKS = corpus()
STORED = len(CHUNKS) - 1  # one chunk is blank, and the service takes no vector of zeros
QUESTION = "Where does the quick fox jump?"


@pytest.fixture
def server() -> Iterator[PineconeServer]:
    """Give a server on which everything is seen at once."""
    with PineconeServer() as server:
        yield server


def stack(server: PineconeServer, **params: Any) -> Pinecone:
    """Return a stack over the server."""
    key = Secret(params.pop("key", KEY))
    return Pinecone(**{"url": server.url, "key": key, "wait_s": 20, **params})


def built(server: PineconeServer, **params: Any) -> Any:
    """Return the retriever over the suite's chunks."""
    return stack(server, **params).build(CHUNKS, {"embedder": WordEmbedder()}, ignore_progress)


def test_one_index_holds_a_namespace_for_each_row(server: PineconeServer) -> None:
    """Rows of one metric and dimension share an index; each has its own namespace, and the others are named."""
    first = built(server)
    fewer: Any = stack(server).build(CHUNKS[:-1], {"embedder": WordEmbedder()}, ignore_progress)
    again, other = built(server), built(server, metric="euclidean")
    assert set(server.indexes) == {"ragassay-cosine-64", "ragassay-euclidean-64"}
    assert re.fullmatch(r"ragassay-cosine-64/ragassay_[0-9a-f]{32}", first.stored.name)
    assert (first.stored.reused, again.stored.reused, server.count("upsert")) == (False, True, 3)
    assert again.stored.others == (fewer.stored.name,)
    assert other.stored.others == ("ragassay-cosine-64",)
    assert (first.count(), fewer.count()) == (STORED, STORED - 1)
    for retriever in (first, fewer, again, other):
        retriever.close()


def test_the_description_says_what_can_change_a_result(server: PineconeServer) -> None:
    """Metric, place, client, what was left out; approximate; no key."""
    plain, sparse = built(server), built(server, metric="dotproduct", sparse=True, alpha=0.5)
    about = plain.describe()
    assert (about["metric"], about["cloud"], about["region"]) == ("cosine", "aws", "us-east-1")
    assert (about["approximate"], about["zero_vectors_left_out"]) == (True, 1)
    assert plain.left_out is not None
    assert len(plain.left_out) == 1
    assert re.fullmatch(r"\d+\.\d+\.\d+", about["pinecone"])
    assert "alpha" not in about
    assert (sparse.describe()["alpha"], sparse.describe()["tokens"]["k1"]) == ("0.5", "1.5")
    assert KEY not in canon.canonical(sparse.describe()).decode()
    plain.close()
    sparse.close()


def test_the_index_is_described_where_it_is(server: PineconeServer) -> None:
    """An index that was made elsewhere before is recorded as it is, not as the row would have made it."""
    there = built(server, cloud="gcp", region="europe-west4")
    again = built(server)
    assert (again.describe()["cloud"], again.describe()["region"]) == ("gcp", "europe-west4")
    there.close()
    again.close()


def test_an_index_of_another_kind_is_refused(server: PineconeServer) -> None:
    """Metric and dimension of an index that was named by hand must be the row's."""
    built(server, index="mine").close()
    with pytest.raises(StackError, match=r"of 64 numbers by cosine, and this row has dense ones of 64 by euclidean"):
        built(server, index="mine", metric="euclidean")
    with pytest.raises(StackError, match=r"of 64 numbers by cosine, and this row has dense ones of 32 by cosine"):
        stack(server, index="mine").build(CHUNKS, {"embedder": WordEmbedder(dimension=32)}, ignore_progress)


def test_an_interrupted_fill_is_continued(server: PineconeServer) -> None:
    """What was stopped in the middle is filled to the end by the next build."""
    calls = []

    def stop(done: int, total: int) -> None:
        calls.append(done)
        if len(calls) == 3:  # the first is the embedding
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stack(server, block=4).build(CHUNKS, {"embedder": WordEmbedder()}, stop)
    whole = built(server, block=4)
    assert (whole.stored.reused, whole.count()) == (False, STORED)
    assert len(whole.search(QUESTION, 50)) == STORED
    whole.close()


def test_what_was_written_is_waited_for() -> None:
    """The build returns when index and records are there, and says so when they are not in time."""
    with PineconeServer(lag_s=0.3) as server:
        retriever = built(server)
        assert len(retriever.search(QUESTION, 12)) == STORED
        retriever.close()
    with PineconeServer(lag_s=30) as server:
        with pytest.raises(StackError, match=r"'ragassay-cosine-64' was not ready within 1 s\. Run again") as caught:
            built(server, wait_s=1)
        assert caught.value.retryable
        server.indexes["ragassay-cosine-64"].ready_at = 0
        with pytest.raises(StackError, match=r"did not count 11 records within 1 s\. Run again"):
            built(server, wait_s=1)


def test_a_chunk_without_a_vector_is_left_out(server: PineconeServer) -> None:
    """The service refuses zeros: such a chunk is not stored, not found, and counted in the description."""
    table = {"a": [1.0, 0.0], "b": [0.0, 0.0], "c": [0.0, 1.0], "q": [1.0, 0.5]}
    for metric in ("cosine", "euclidean", "dotproduct"):
        retriever = stack(server, metric=metric).build(
            corpus(["a", "b", "c"]), {"embedder": TableEmbedder(table)}, ignore_progress
        )
        assert [hit.chunk for hit in retriever.search("q", 3)] == ["page-0.md#0", "page-2.md#0"]
        retriever.close()


def test_the_same_order_as_an_exact_search(server: PineconeServer) -> None:
    """Cosines are those of `dense`, and the three metrics have the documented scores, higher is better."""
    ours = Dense().build(CHUNKS, {"embedder": WordEmbedder()}, ignore_progress)
    theirs = built(server)
    wanted = [hit for hit in ours.search(QUESTION, 20) if hit.chunk != "page-7.md#0"]
    assert [hit.chunk for hit in theirs.search(QUESTION, 20)] == [hit.chunk for hit in wanted]
    theirs.close()
    table = {"near": [3.0, 4.0], "far": [0.0, 1.0], "q": [3.0, 3.0]}
    for metric, best in (("euclidean", -1.0), ("dotproduct", 21.0)):
        retriever = stack(server, metric=metric).build(
            corpus(["near", "far"]), {"embedder": TableEmbedder(table)}, ignore_progress
        )
        assert retriever.search("q", 1)[0].score == pytest.approx(best)
        retriever.close()


def test_token_weights_are_added_up(server: PineconeServer) -> None:
    """alpha · product + (1 − alpha) · BM25, computed by hand for one chunk."""
    table = {"red fox": [1.0, 0.0], "grey wolf": [0.0, 1.0], "fox": [0.0, 2.0], "?": [0.0, 0.0]}
    params = {"metric": "dotproduct", "sparse": True, "alpha": "0.25", "k1": 1, "b": 0}
    retriever = stack(server, **params).build(
        corpus(["red fox", "grey wolf"]), {"embedder": TableEmbedder(table)}, ignore_progress
    )
    hits = {hit.chunk: hit.score for hit in retriever.search("fox", 2)}
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert hits == pytest.approx({"page-0.md#0": 0.75 * idf * 0.5, "page-1.md#0": 0.25 * 2.0})
    assert retriever.search("?", 2) == []
    retriever.close()


def test_one_search_is_one_call(server: PineconeServer) -> None:
    """The client's own retries, which no setting of an index reaches, are switched off."""
    retriever = built(server)
    server.fail("query", Fault(answer=Answer(status=503, body={"error": {"code": "UNAVAILABLE", "message": "later"}})))
    with pytest.raises(StackError, match=r"\[503 UNAVAILABLE\] later") as caught:
        retriever.search(QUESTION, 3)
    assert caught.value.retryable
    assert server.count("query") == 1
    retriever.close()


def test_a_client_that_keeps_its_retries_elsewhere_is_refused() -> None:
    """The message names the version that is known to be held to one attempt."""
    strange = SimpleNamespace(_http=None, close=lambda: None)
    with pytest.raises(StackError, match=r"keeps its retries elsewhere than version 9\.1 does"):
        _asking_once(strange)


def test_a_slow_service_meets_the_time_budget(server: PineconeServer) -> None:
    """One attempt, not four."""
    retriever = built(server, timeout_s=1)
    server.fail("query", Fault(delay_s=30))
    begun = time.monotonic()
    with pytest.raises(StackError, match="no reply within 1 s") as caught:
        retriever.search(QUESTION, 3)
    assert caught.value.retryable
    assert time.monotonic() - begun < 15
    retriever.close()


def test_a_build_waits_out_a_rate_limit_and_a_search_says_so(server: PineconeServer) -> None:
    """Uploads are sent again as the service asks; a search may be asked again; a longer wait is an error at once."""
    limited = Answer(status=429, headers={"Retry-After": "0"}, body={"error": {"code": "RESOURCE_EXHAUSTED"}})
    server.fail("upsert", Fault(answer=limited, times=1))
    retriever = built(server)
    assert server.count("upsert") == 2
    server.fail("query", Fault(answer=limited))
    with pytest.raises(StackError, match="429") as caught:
        retriever.search(QUESTION, 3)
    assert caught.value.retryable
    retriever.close()
    long = Answer(status=429, headers={"Retry-After": "300"}, body={})
    server.fail("upsert", Fault(answer=long))
    begun = time.monotonic()
    with pytest.raises(StackError, match="429"):
        built(server, namespace="other")
    assert time.monotonic() - begun < 5


def test_a_refused_key_is_never_repeated(server: PineconeServer) -> None:
    """What to check is said; what the service echoes is taken out."""
    with pytest.raises(StackError, match=r"401 UNAUTHENTICATED.*check the key in the environment variable") as caught:
        built(server, key="a-wrong-key")
    assert not caught.value.retryable
    body = {"error": {"code": "FORBIDDEN", "message": f"no more indexes for {KEY}"}}
    server.fail("create", Fault(answer=Answer(status=403, body=body)))
    with pytest.raises(StackError, match=r"no more indexes for \*\*\*.*limits of the project's plan") as caught:
        built(server)
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in str(error)
        error = error.__cause__ or error.__context__


def test_an_index_that_cannot_come_up_is_an_error_at_once(server: PineconeServer) -> None:
    """Nothing is waited for that will not come."""
    broken = {"ready": False, "state": "InitializationFailed"}
    built(server, index="mine").close()
    server.fail("describe", Fault(changed=lambda body: {**body, "status": broken}))
    with pytest.raises(StackError, match="'mine' is in the state InitializationFailed"):
        built(server, index="mine")


def test_records_that_were_not_stored_are_an_error(server: PineconeServer) -> None:
    """The service's own count of an upsert is believed."""
    server.fail("upsert", Fault(changed=lambda body: {**body, "upsertedCount": 3}))
    with pytest.raises(StackError, match="stored 3 of 11 records"):
        built(server)


def _matches(change: Callable[[list[Any]], list[Any]]) -> Callable[[Any], Any]:
    return lambda body: {**body, "matches": change(body["matches"])}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_matches(lambda found: found[:2]), "returned 2 matches, and there are 11 to return"),
        (lambda body: {}, "returned 0 matches, and there are 11 to return"),
        (_matches(lambda found: [*found[:-1], found[0]]), "the same record twice"),
        (_matches(lambda found: [{"id": "99", "score": 1.0}, *found[1:]]), "'99', which ragassay did not put"),
        (_matches(lambda found: [{"id": "7", "score": 1.0}, *found[1:]]), "'7', which ragassay did not put"),
        (_matches(lambda found: found[::-1]), "lists the worst match first"),
        (_matches(lambda found: [{"id": "1"}]), "outside the client's form"),
        (lambda body: [], "outside the client's form"),
    ],
)
def test_a_wrong_answer_is_an_error(server: PineconeServer, change: Callable[[Any], Any], words: str) -> None:
    """Fewer matches, none at all, strange, repeated or upside-down ones, and replies of another form."""
    retriever = built(server)
    server.fail("query", Fault(changed=change))
    with pytest.raises(StackError, match=words):
        retriever.search(QUESTION, 3)
    retriever.close()


def test_more_matches_than_asked_for_are_an_error(server: PineconeServer) -> None:
    """The service does not decide how many there are."""
    chunks = corpus([f"word{at} text" for at in range(40)])
    retriever = stack(server).build(chunks, {"embedder": WordEmbedder()}, ignore_progress)
    more = [{"id": str(at), "score": 0.0} for at in range(40)]
    server.fail("query", Fault(changed=_matches(lambda _: more)))
    with pytest.raises(StackError, match="returned 40 matches where 14 were asked for"):
        retriever.search("word7", 3)
    retriever.close()


def test_uploads_stay_below_what_the_service_takes(server: PineconeServer) -> None:
    """Long vectors go up in smaller blocks."""
    rows = {f"text {at}": [math.sqrt(at + number + 2) for number in range(1536)] for at in range(120)}
    retriever = stack(server, block=1000).build(corpus(list(rows)), {"embedder": TableEmbedder(rows)}, ignore_progress)
    sizes = [len(asked.raw) for operation, asked in server.asked if operation == "upsert"]
    assert (len(sizes), max(sizes) < 2_000_000) == (3, True)
    retriever.close()


def test_a_chunk_of_too_many_tokens_is_wrong_input(server: PineconeServer) -> None:
    """The message says what to do."""
    chunks = corpus([" ".join(f"word{at}" for at in range(1001))])
    sparse = stack(server, sparse=True, metric="dotproduct")
    with pytest.raises(InputError, match="one has 1001 different tokens; split the pages into shorter chunks"):
        sparse.build(chunks, {"embedder": WordEmbedder()}, ignore_progress)


def test_the_client_is_quiet_and_takes_nothing_from_the_environment(
    server: PineconeServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No warning, no output, no key in any log, and every request goes to the row's server with the row's key."""
    monkeypatch.setenv("PINECONE_API_KEY", "another-key")
    monkeypatch.setenv("PINECONE_CONTROLLER_HOST", "http://127.0.0.1:9")
    monkeypatch.setenv("PINECONE_ADDITIONAL_HEADERS", '{"X-From-The-Environment": "1"}')
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("PINECONE_DEBUG_CURL", "1")
    with caplog.at_level(logging.DEBUG):
        retriever = built(server)
        retriever.search(QUESTION, 3)
        retriever.close()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert KEY not in caplog.text
    assert capsys.readouterr() == ("", "")
    for _, asked in server.asked:
        assert asked.headers["api-key"] == KEY
        assert "x-from-the-environment" not in asked.headers


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"metric": "dot"}, "metric = 'dot' must be one of cosine, euclidean, dotproduct"),
        ({"sparse": True}, 'sparse = true needs metric = "dotproduct"'),
        ({"index": "My_Index"}, "index = 'My_Index' must be 1 to 45"),
        ({"index": "a" * 46}, "must be 1 to 45"),
        ({"namespace": "ä"}, "namespace = 'ä' must be 1 to 512"),
        ({"cloud": "moon"}, "cloud = 'moon' must be one of aws, gcp, azure"),
        ({"region": "../x"}, "region = '../x' must be a region's name"),
        ({"alpha": 2}, "alpha = 2 must be a number from 0 to 1"),
        ({"block": 1001}, "block = 1001 must be an integer from 1 to 1000"),
        ({"timeout_s": 51}, "timeout_s = 51 must be an integer from 1 to 50"),
        ({"url": "api.pinecone.io"}, "url must be an http or https address"),
        ({"host": "x"}, "unknown parameter 'host'"),
    ],
)
def test_parameters_that_cannot_be_used(params: dict[str, Any], words: str) -> None:
    """Each is named with what it must be."""
    with pytest.raises(InputError, match=re.escape(words)):
        Pinecone(**params)


def test_all_problems_are_listed_and_no_key_is_repeated() -> None:
    """A key that stands where a name should is in no message."""
    with pytest.raises(InputError) as caught:
        Pinecone(key_env="secret-1", url="https://u:secret-2@h/", metric="x")
    assert len(caught.value.problems) == 3
    assert "secret" not in str(caught.value)


def test_a_missing_key_and_too_long_vectors_are_wrong_input(server: PineconeServer) -> None:
    """Nothing is asked of the service."""
    with pytest.raises(InputError, match="name the environment variable that holds it in key_env"):
        Pinecone(url=server.url).build(CHUNKS, {"embedder": WordEmbedder()}, ignore_progress)
    with pytest.raises(InputError, match="at most 20000 numbers, and the embedder gives 20001"):
        stack(server).build(CHUNKS[:1], {"embedder": WordEmbedder(dimension=20_001)}, ignore_progress)
    assert server.asked == []
