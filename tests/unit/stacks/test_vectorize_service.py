"""Vectorize says what is wrong: the service down, slow, refusing, limiting, half-answering, or not what it was."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ragassay import canon
from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.vectorize import Vectorize
from ragassay.records import Chunk, Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.rest_server import Answer, Fault
from ragassay.testing.stack_contract import corpus, ignore_progress
from ragassay.testing.vectorize_search import Config, Refused
from ragassay.testing.vectorize_server import ACCOUNT, TOKEN, CreateIndex, Held, VectorizeServer

CHUNKS = corpus()
QUESTION = "Where does the quick fox jump?"


@pytest.fixture
def server() -> Iterator[VectorizeServer]:
    """Give a server that makes changes at once."""
    with VectorizeServer() as server:
        yield server


def stack(server: VectorizeServer, **params: Any) -> Vectorize:
    """Return a stack over the server; `token` is the one that is sent."""
    key = Secret(params.pop("token", TOKEN))
    return Vectorize(**{"account_id": ACCOUNT, "url": server.base_url, "key": key, "wait_s": 20, **params})


def built(server: VectorizeServer, **params: Any) -> Any:
    """Return the retriever over the suite's chunks."""
    return stack(server, **params).build(CHUNKS, {"embedder": WordEmbedder()}, ignore_progress)


def test_the_wire_form_is_the_documented_one(server: VectorizeServer) -> None:
    """Vectors go up as a form's NDJSON file, ids are positions, and a query asks for neither values nor metadata."""
    with_closing = built(server, namespace="docs")
    with_closing.search(QUESTION, 3)
    with_closing.close()
    asked = dict(server.asked)
    assert [operation for operation, _ in server.asked][:4] == ["get", "create", "upsert", "info"]
    assert asked["upsert"].query == {"unparsable-behavior": "error"}
    assert asked["upsert"].headers["content-type"].startswith("multipart/form-data; boundary=ragassay-")
    assert (
        b'name="vectors"; filename="vectors.ndjson"\r\nContent-Type: application/x-ndjson\r\n\r\n'
        in asked["upsert"].raw
    )
    assert asked["upsert"].raw.count(b'"namespace":"docs"') == len(CHUNKS)
    assert b'"topK":12' in asked["query"].raw
    assert b'"returnValues":false,"returnMetadata":"none","namespace":"docs"' in asked["query"].raw
    assert all(request.headers["authorization"] == f"Bearer {TOKEN}" for _, request in server.asked)


def test_the_index_is_found_again_and_says_where_it_stays(server: VectorizeServer) -> None:
    """A whole index is not filled twice; other rows' indexes on the account are named."""
    first = built(server)
    assert first.stored.reused is False
    assert re.fullmatch(r"ragassay_[0-9a-f]{32}", first.stored.name)
    again, other = built(server), built(server, metric="euclidean")
    assert (again.stored.name, again.stored.reused, server.count("upsert")) == (first.stored.name, True, 2)
    assert other.stored.others == (first.stored.name,)
    assert again.count() == len(CHUNKS)
    for one in (first, again, other):
        one.close()
    with pytest.raises(StackError, match="after it was closed"):
        again.search(QUESTION, 1)
    assert set(server.indexes) == {first.stored.name, other.stored.name}


def test_a_chunk_more_is_another_index(server: VectorizeServer) -> None:
    """Two rows share an index only when chunks, embedder and settings are the same."""
    one = built(server)
    fewer: Any = stack(server).build(CHUNKS[:-1], {"embedder": WordEmbedder()}, ignore_progress)
    filtered = built(server, filter={"page": "page-1.md"})
    assert len({one.stored.name, fewer.stored.name, filtered.stored.name}) == 3
    for retriever in (one, fewer, filtered):
        retriever.close()


def test_the_description_says_what_can_change_a_result(server: VectorizeServer) -> None:
    """Metric, precision, namespace, filter and address; approximate; neither token nor account."""
    plain = built(server)
    about = plain.describe()
    assert {name: about[name] for name in ("kind", "api", "url", "metric", "precision", "approximate")} == {
        "kind": "vectorize",
        "api": "v2",
        "url": server.base_url,
        "metric": "cosine",
        "precision": "approximate",
        "approximate": True,
    }
    assert "filter" not in about
    full = built(server, namespace="docs", filter={"start": {"$lt": 10}}, precision="high")
    assert (full.describe()["namespace"], full.describe()["filter"]) == ("docs", {"start": {"$lt": 10}})
    written = canon.canonical(full.describe()).decode()
    assert TOKEN not in written
    assert ACCOUNT not in written
    plain.close()
    full.close()


def test_an_interrupted_fill_is_continued(server: VectorizeServer) -> None:
    """What was stopped in the middle is filled to the end by the next build."""
    calls = []

    def stop(done: int, total: int) -> None:
        calls.append(done)
        if len(calls) == 3:  # the first is the embedding
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stack(server, block=4).build(CHUNKS, {"embedder": WordEmbedder()}, stop)
    (index,) = server.indexes.values()
    index.settle(time.monotonic())
    assert 0 < len(index.vectors) < len(CHUNKS)
    whole = built(server, block=4)
    assert (whole.stored.reused, whole.count()) == (False, len(CHUNKS))
    assert len(whole.search(QUESTION, 50)) == len(CHUNKS)
    whole.close()


def test_vectors_are_waited_for() -> None:
    """The build returns when the last upload is processed, and says so when it is not in time."""
    with VectorizeServer(lag_s=0.3) as server:
        retriever = built(server)
        assert len(retriever.search(QUESTION, 12)) == 12
        retriever.close()
    with (
        VectorizeServer(lag_s=30) as server,
        pytest.raises(
            StackError, match=r"not made them searchable within 1 s; it holds 0 by now\. Run again"
        ) as caught,
    ):
        built(server, wait_s=1)
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("description", "words"), [(None, "no index of ragassay's"), ("ragassay 00", "another corpus")]
)
def test_a_foreign_index_is_left_alone(server: VectorizeServer, description: str | None, words: str) -> None:
    """An index of somebody else's, or of another corpus, is neither written to nor searched."""
    config = Config(dimensions=64, metric="cosine")
    server.indexes["mine"] = Held(CreateIndex(config=config, name="mine", description=description))
    other = stack(server, index="mine")
    with pytest.raises(StackError, match=words):
        other.build(CHUNKS, {"embedder": WordEmbedder()}, ignore_progress)
    assert server.count("upsert") == 0


def test_down_at_the_build_and_in_the_middle(server: VectorizeServer) -> None:
    """No connection is a failure that may pass, never an empty list; the same retriever answers when it is back."""
    retriever = built(server)
    before = retriever.search(QUESTION, 5)
    server.stop()
    with pytest.raises(StackError, match="connection failed") as caught:
        retriever.search(QUESTION, 5)
    assert caught.value.retryable
    with pytest.raises(StackError, match="connection failed") as caught:
        built(server, wait_s=1)
    assert caught.value.retryable
    server.start()
    assert retriever.search(QUESTION, 5) == before
    retriever.close()


def test_a_refused_token_is_never_repeated(server: VectorizeServer) -> None:
    """The message names the permission; the token that was sent is in no message."""
    with pytest.raises(StackError, match=r"HTTP 401.*needs the permission Vectorize Write") as caught:
        built(server, token="a-wrong-token")
    assert not caught.value.retryable
    server.fail("get", Fault(answer=Refused(403, 10000, f"no access for {TOKEN}").answer))
    with pytest.raises(StackError, match=r"HTTP 403.*no access for \*\*\*") as caught:
        built(server)
    assert TOKEN not in str(caught.value)


def test_an_unknown_account_or_path_says_what_to_check(server: VectorizeServer) -> None:
    """Both are answered with 404."""
    with pytest.raises(StackError, match=r"404.*check url, account_id and index"):
        built(server, account_id="f" * 32)
    with pytest.raises(StackError, match=r"404.*check url, account_id and index"):
        built(server, url=server.base_url + "/v5")


def test_an_index_that_is_missing_under_another_status_is_made(server: VectorizeServer) -> None:
    """Error 3000 means that there is none, whatever the status."""
    server.fail("get", Fault(answer=Refused(400, 3000, "not there").answer, times=1))
    retriever = built(server)
    assert retriever.count() == len(CHUNKS)
    retriever.close()


@pytest.mark.parametrize(
    "refusal",
    [
        Answer(status=429, headers={"Retry-After": "0"}, body={"success": False, "errors": [{"code": 971}]}),
        Refused(400, 40041, "Too Many Requests").answer,
        Answer(status=503, raw=b"<html>later</html>"),
    ],
)
def test_a_build_waits_out_a_rate_limit_and_a_search_says_so(server: VectorizeServer, refusal: Answer) -> None:
    """Uploads are sent again as the service asks; a search is one call, and may be asked again."""
    server.fail("upsert", Fault(answer=refusal, times=1))
    retriever = built(server)
    assert server.count("upsert") == 2
    server.fail("query", Fault(answer=refusal))
    with pytest.raises(StackError) as caught:
        retriever.search(QUESTION, 3)
    assert caught.value.retryable
    assert server.count("query") == 1
    retriever.close()


def test_a_wait_longer_than_the_budget_is_an_error_at_once(server: VectorizeServer) -> None:
    """A Retry-After of five minutes is not slept through when `wait_s` is less."""
    limited = Answer(status=429, headers={"Retry-After": "300"}, body={"success": False, "errors": []})
    server.fail("upsert", Fault(answer=limited))
    begun = time.monotonic()
    with pytest.raises(StackError, match="HTTP 429"):
        built(server, wait_s=60)
    assert time.monotonic() - begun < 5


def test_a_slow_service_meets_the_time_budget(server: VectorizeServer) -> None:
    """A query that takes longer than `timeout_s` is a failure that may pass."""
    retriever = built(server, timeout_s=1)
    server.fail("query", Fault(delay_s=30))
    with pytest.raises(StackError, match="no complete reply within 1 s") as caught:
        retriever.search(QUESTION, 3)
    assert caught.value.retryable
    retriever.close()


def test_half_a_reply_is_an_error(server: VectorizeServer) -> None:
    """A connection that ends early is never read as fewer hits."""
    retriever = built(server)
    server.fail("query", Fault(cut=True))
    with pytest.raises(StackError, match="ended before its body was complete"):
        retriever.search(QUESTION, 3)
    retriever.close()


def _matches(change: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    def changed(body: Any) -> Any:
        matches = change(body["result"]["matches"])
        return {**body, "result": {"count": len(matches), "matches": matches}}

    return changed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_matches(lambda found: found[:2]), "returned 2 matches, and there are 12 to return"),
        (_matches(lambda found: []), "returned 0 matches, and there are 12 to return"),
        (_matches(lambda found: found + found[:1]), "13 matches where 12 were asked for"),
        (_matches(lambda found: [*found[:-1], found[0]]), "the same vector twice"),
        (_matches(lambda found: [{"id": "99", "score": 1.0}, *found[1:]]), "'99', which is none that"),
        (_matches(lambda found: [{"id": "doc-1", "score": 1.0}, *found[1:]]), "'doc-1', which is none that"),
        (_matches(lambda found: found[::-1]), "lists the worst match first"),
        (_matches(lambda found: [{"id": "1", "score": "high"}]), r"outside the documented form: .*matches\[0\].score"),
        (lambda body: {**body, "result": {**body["result"], "count": 50}}, "announced 50 matches and sent 12"),
        (lambda body: {**body, "result": None}, "outside the documented form"),
        (lambda body: {"matches": []}, "outside the documented form"),
        (lambda body: {**body, "success": False, "errors": [{"code": 40099}]}, "sent an error object"),
    ],
)
def test_a_wrong_answer_is_an_error(server: VectorizeServer, change: Callable[[Any], Any], words: str) -> None:
    """Fewer matches, more, strange, repeated or upside-down ones, and replies of another form."""
    retriever = built(server)
    server.fail("query", Fault(changed=change))
    with pytest.raises(StackError, match=words):
        retriever.search(QUESTION, 3)
    retriever.close()


def test_a_vanished_index_and_another_dimension_are_errors(server: VectorizeServer) -> None:
    """What the service says of it is in the message."""
    retriever = built(server)
    index = server.indexes.pop(retriever.stored.name)
    with pytest.raises(StackError, match=r"404.*index not found"):
        retriever.search(QUESTION, 3)
    index.given.config.dimensions = 7
    server.indexes[retriever.stored.name] = index
    with pytest.raises(StackError, match="expected 7 dimensions"):
        retriever.search(QUESTION, 3)
    retriever.close()


def test_the_documented_limits_are_held(server: VectorizeServer) -> None:
    """100 hits without values, 50 with; 1,536 numbers."""
    chunks = corpus([f"word{at} text" for at in range(130)])
    for precision, most in (("approximate", 100), ("high", 50)):
        retriever = stack(server, precision=precision).build(chunks, {"embedder": WordEmbedder()}, ignore_progress)
        assert len(retriever.search("word7", most)) == most
        with pytest.raises(StackError, match=f"at most {most} hits, and {most + 1} were asked for"):
            retriever.search("word7", most + 1)
        retriever.close()
    with pytest.raises(InputError, match="at most 1536 numbers, and the embedder gives 2000"):
        stack(server).build(CHUNKS, {"embedder": WordEmbedder(dimension=2000)}, ignore_progress)


def test_uploads_stay_below_what_the_service_takes(server: VectorizeServer) -> None:
    """A block of long vectors is split where it would be too large."""
    chunks = corpus([f"text {at}" for at in range(4_000)])
    whole = stack(server, block=5000).build(chunks, {"embedder": WordEmbedder(dimension=1500)}, ignore_progress)
    assert server.count("upsert") == 2
    assert max(len(request.raw) for operation, request in server.asked if operation == "upsert") < 100_000_000
    whole.close()


def test_a_filter_lets_through_what_it_says(server: VectorizeServer) -> None:
    """Its properties are indexed before the vectors come; more hits than pass it are an error, and fewer too."""
    retriever = built(server, filter={"page": {"$in": ["page-0.md", "page-9.md"]}})
    assert retriever.left_out == {chunk.id for chunk in CHUNKS if chunk.page not in ("page-0.md", "page-9.md")}
    names = [operation for operation, _ in server.asked]
    assert names.index("create_metadata_index") < names.index("upsert")
    assert {hit.chunk for hit in retriever.search(QUESTION, 10)} == {"page-0.md#0", "page-9.md#0"}
    server.fail("query", Fault(changed=_matches(lambda found: found[:1])))
    with pytest.raises(StackError, match="returned 1 matches, and there are 2"):
        retriever.search(QUESTION, 10)
    retriever.close()
    server.heal()
    nothing = built(server, filter={"end": {"$lt": 0}})
    assert nothing.search(QUESTION, 10) == []
    nothing.close()


def test_a_page_with_a_long_name_cannot_be_filtered(server: VectorizeServer) -> None:
    """Only 64 bytes of a text are indexed."""
    long = [Chunk(id="x", page="p" * 65, start=0, end=1, text="x", sha256=CHUNKS[0].sha256)]
    with pytest.raises(InputError, match="first 64 bytes"):
        stack(server, filter={"page": "a"}).build(long, {"embedder": WordEmbedder()}, ignore_progress)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"account_id": None}, "account_id must be the account's identifier"),
        ({"account_id": "a/b"}, "account_id must be the account's identifier"),
        ({"metric": "dot"}, "metric = 'dot' must be one of cosine, euclidean, dot-product"),
        ({"precision": "exact"}, "precision = 'exact' must be one of"),
        ({"index": "Mine"}, "index = 'Mine' must be 1 to 64"),
        ({"index": "a" * 65}, "must be 1 to 64"),
        ({"namespace": "é" * 33}, "namespace must be at most 64 bytes"),
        ({"url": "api.cloudflare.com"}, "url must be an http or https address"),
        ({"block": 5001}, "block = 5001 must be an integer from 1 to 5000"),
        ({"timeout_s": 56}, "timeout_s = 56 must be an integer from 1 to 55"),
        ({"wait_s": 0}, "wait_s = 0 must be"),
        ({"top": 1}, "unknown parameter 'top'"),
        ({"filter": {}}, "filter is empty"),
        ({"filter": "page"}, "filter = 'page' must be a table"),
        ({"filter": {"title": "x"}}, "filter.title: a chunk has no such property; known are end, page, start"),
        ({"filter": {"page": 3}}, "filter.page must be a string"),
        ({"filter": {"page": {}}}, "filter.page is empty"),
        ({"filter": {"page": {"$in": "x"}}}, r"filter.page.\$in must be a list of strings"),
        ({"filter": {"start": {"$lt": "5"}}}, r"filter.start.\$lt must be a number"),
        ({"filter": {"start": {"$near": 5}}}, r"filter.start.\$near: there is no such operator"),
        ({"filter": {"page": "p" * 65}}, "filter.page must be a string"),
        ({"filter": {"page": {"$in": ["p" * 60 for _ in range(40)]}}}, "less than 2048 bytes"),
    ],
)
def test_parameters_that_cannot_be_used(params: dict[str, Any], words: str) -> None:
    """Each is named with what it must be."""
    with pytest.raises(InputError, match=words):
        Vectorize(**{"account_id": ACCOUNT, **params})


def test_all_problems_are_listed_and_no_key_is_repeated() -> None:
    """A token that stands where a name should is in no message."""
    with pytest.raises(InputError) as caught:
        Vectorize(account_id="secret-token-1", key_env="secret-token-2", metric="x", url="https://u:secret@h/")
    assert len(caught.value.problems) == 4
    assert "secret" not in str(caught.value)


def test_a_missing_token_is_wrong_input(server: VectorizeServer) -> None:
    """The message names the parameter."""
    with pytest.raises(InputError, match="name the environment variable that holds it in key_env"):
        Vectorize(account_id=ACCOUNT, url=server.base_url).build(CHUNKS, {"embedder": WordEmbedder()}, ignore_progress)
    assert server.asked == []
