"""`elasticsearch` and `opensearch` say what is wrong: a service that refuses, is overloaded or answers by half."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

pytest.importorskip("elasticsearch", reason="pip install 'ragassay[elasticsearch]'")
pytest.importorskip("opensearchpy", reason="pip install 'ragassay[opensearch]'")

from elastic_stand_in import KINDS, MANY, QUESTION, built, kind_of, serving

from ragassay.errors import StackError
from ragassay.testing.elastic_index import Refused, StandInIndex
from ragassay.testing.elastic_server import TOKEN, ElasticServer
from ragassay.testing.elasticsearch_server import ElasticsearchServer
from ragassay.testing.opensearch_server import OpenSearchServer
from ragassay.testing.rest_server import Answer, Fault


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[ElasticServer]:
    """Give a server of each kind."""
    with serving(request.param) as server:
        yield server


def refused(server: ElasticServer, status: int, type: str, reason: str, times: int = 0) -> Fault:
    """Return the fault of a service that refuses as documented."""
    answer = Refused(status, type, reason).answer
    return Fault(answer=Answer(status=status, body=answer.body, headers=server.headers()), times=times)


def test_the_server_is_asked_once_and_without_sniffing(server: ElasticServer) -> None:
    """A search is one request; a build asks for no node and repeats nothing."""
    with_closing = built(server)
    with_closing.search(QUESTION, 3)
    with_closing.close()
    operations = [operation for operation, _ in server.asked]
    assert operations == [
        *("info", "mapping", "create", "bulk", "refresh", "forcemerge", "refresh", "put_mapping"),
        *("mapping", "count", "mapping", "search"),
    ]
    search = server.asked[-1][1]
    assert search.query == {"allow_partial_search_results": "false"}
    assert b'"track_total_hits":true' in search.raw
    assert b'"_source":false' in search.raw


@pytest.mark.parametrize(
    ("status", "type", "again", "advice"),
    [
        (429, "circuit_breaking_exception", True, "overloaded"),
        (503, "no_shard_available_action_exception", True, ""),
        (500, "null_pointer_exception", True, ""),
        (401, "security_exception", False, "`key_env` names"),
        (403, "security_exception", False, "what it may do"),
        (404, "index_not_found_exception", False, "build the index again"),
        (400, "illegal_argument_exception", False, ""),
    ],
)
def test_a_refused_search(server: ElasticServer, status: int, type: str, again: bool, advice: str) -> None:
    """Is told with its status, type and reason; asking again is advised only where it may help."""
    retriever = built(server)
    server.fail("search", refused(server, status, type, "[parent] Data too large"))
    with pytest.raises(StackError, match=rf"could not search: status {status}: {type}: \[parent\]") as caught:
        retriever.search(QUESTION, 3)
    assert caught.value.retryable is again
    assert advice in str(caught.value)
    assert server.count("search") == 1
    retriever.close()


def _partial(body: Any) -> Any:
    failure = {"shard": 0, "index": "i", "reason": {"type": "es_rejected_execution_exception", "reason": "queue full"}}
    return {**body, "_shards": {"total": 1, "successful": 0, "failed": 1, "failures": [failure]}}


def _hits(change: Callable[[list[Any]], list[Any]]) -> Callable[[Any], Any]:
    return lambda body: {**body, "hits": {**body["hits"], "hits": change(body["hits"]["hits"])}}


@pytest.mark.parametrize(
    ("change", "said", "again"),
    [
        (_partial, r"1 of 1 shards did not answer: es_rejected_execution_exception: queue full; a partial", True),
        (lambda body: {**body, "timed_out": True}, "its own time limit, and a partial result is not used", True),
        (lambda body: {**body, "terminated_early": True}, "a partial result is not used", True),
        (_hits(lambda hits: hits[:-1]), r"returned 13 of \d+ hits that it found", True),
        (_hits(lambda hits: [*hits, hits[0]]), "15 hits where 14 were asked for", False),
        (_hits(lambda hits: [*hits[:-1], hits[0]]), "the same document twice", False),
        (_hits(lambda hits: [{**hits[0], "_id": "99999"}, *hits[1:]]), "'99999' of .* did not put", False),
        (_hits(lambda hits: [{**hits[0], "_id": "x"}, *hits[1:]]), "'x' of .* did not put", False),
        (_hits(lambda hits: [{**hits[0], "_index": "y"}, *hits[1:]]), "of 'y', which ragassay did not put", False),
        (_hits(lambda hits: [{**hits[0], "_score": 9.5}, *hits[1:]]), "scored a vector 9.5, which is no score", False),
        (_hits(lambda hits: [{**hits[0], "_score": None}, *hits[1:]]), "not in the documented form", False),
        (lambda body: {"hits": []}, "not in the documented form", False),
    ],
)
def test_an_answer_that_is_not_whole(
    server: ElasticServer, change: Callable[[Any], Any], said: str, again: bool
) -> None:
    """Is an error, never fewer hits."""
    retriever = built(server, MANY)
    server.fail("search", Fault(changed=change))
    with pytest.raises(StackError, match=said) as caught:
        retriever.search(QUESTION.replace("quick", "number"), 3)
    assert caught.value.retryable is again
    retriever.close()


def test_fewer_vectors_than_there_are(server: ElasticServer) -> None:
    """An exact search that finds only a part of them is an error, though the service calls it whole."""
    retriever = built(server, MANY)
    index = next(iter(server.indexes.values()))
    index.searchable = dict(list(index.searchable.items())[:2])
    with pytest.raises(StackError, match="returned 2 of 14 documents with a vector") as caught:
        retriever.search("number", 3)
    assert caught.value.retryable
    retriever.close()


def test_documents_that_are_not_written(server: ElasticServer) -> None:
    """The status of each is looked at: one that is refused is named; an overloaded server is asked again."""

    def overloaded(body: Any) -> Any:
        item = body["items"][1]["index"]
        error = {"type": "es_rejected_execution_exception", "reason": "rejected execution of primary operation"}
        items = [body["items"][0], {"index": {"_id": item["_id"], "status": 429, "error": error}}, *body["items"][2:]]
        return {**body, "errors": True, "items": items}

    server.fail("bulk", Fault(changed=overloaded, times=1))
    retriever = built(server)
    assert (server.count("bulk"), retriever.count()) == (2, 12)
    retriever.close()

    def conflicting(body: Any) -> Any:
        return msgspec.json.decode(
            msgspec.json.encode(overloaded(body)).replace(b"429", b"400").replace(b"es_rejected", b"mapper_parsing")
        )

    server.fail("bulk", Fault(changed=conflicting))
    with pytest.raises(StackError, match=r"did not write 1 of 12 documents to 'other': document 1: status 400: mapper"):
        built(server, index="other")
    server.fail("bulk", Fault(changed=lambda body: {**body, "items": body["items"][:-1]}))
    with pytest.raises(StackError, match="answered for 11 documents of 12"):
        built(server, index="another")


def test_a_red_cluster(server: ElasticServer) -> None:
    """An index whose shard does not start is an error that says where to look."""
    server.fail("create", Fault(changed=lambda body: {**body, "shards_acknowledged": False}))
    with pytest.raises(StackError, match=r"its shard has not started; look at the health") as caught:
        built(server)
    assert caught.value.retryable


@pytest.mark.parametrize("operation", ["refresh", "forcemerge"])
def test_a_shard_that_does_not_follow(server: ElasticServer, operation: str) -> None:
    """A refresh or a merge that a shard did not take part in is an error, and is made up for by the next build."""
    shards = {"_shards": {"total": 1, "successful": 0, "failed": 0}}
    server.fail(operation, Fault(changed=lambda body: shards))
    with pytest.raises(StackError, match=r"1 of 1 shards did not answer"):
        built(server)
    server.heal()
    retriever = built(server)
    assert retriever.search(QUESTION, 1)
    assert retriever.stored.reused
    assert next(iter(server.indexes.values())).segments == 1
    retriever.close()


def test_an_interrupted_build_is_continued(server: ElasticServer) -> None:
    """Written again from the start, under the same name, whole and merged afterwards."""
    written = 0

    def stop(body: Any) -> Any:
        nonlocal written
        written += 1
        return body if written == 1 else {**body, "items": []}

    server.fail("bulk", Fault(changed=stop))
    with pytest.raises(StackError, match="answered for 0 documents of 128"):
        built(server, MANY)
    server.heal()
    ((name, index),) = server.indexes.items()
    index.searchable.clear()
    retriever = built(server, MANY)
    assert (retriever.stored.name, retriever.stored.reused, retriever.count()) == (name, False, 300)
    assert index.mappings["_meta"]["ragassay_merged"] is True
    retriever.close()


def test_a_whole_index_is_only_read(server: ElasticServer) -> None:
    """Built once, it is found again by a key that may read, and other indexes of ragassay are told."""
    built(server).close()
    other = built(server, MANY)
    server.asked.clear()
    again = built(server)
    assert (again.stored.reused, again.stored.others) == (True, (other.stored.name,))
    assert [operation for operation, _ in server.asked] == [
        "info",
        "mapping",
        "count",
        "mapping",
        "count",
        "search",
        "mapping",
    ]
    again.close()
    other.close()


def test_documents_that_went_missing_are_written_again(server: ElasticServer) -> None:
    """An index that lost some is filled and merged again."""
    retriever = built(server)
    index = next(iter(server.indexes.values()))
    del index.written["3"]
    index.refresh()
    again = built(server)
    assert (again.stored.reused, again.count(), index.segments) == (False, 12, 1)
    assert again.search(QUESTION, 3) == retriever.search(QUESTION, 3)
    again.close()
    retriever.close()


def test_an_index_that_is_not_ours(server: ElasticServer) -> None:
    """Somebody else's, another corpus's, or an alias is never written to."""
    server.indexes["theirs"] = StandInIndex("theirs", {}, {"properties": {}}, None, None)
    with pytest.raises(StackError, match="'theirs' holds no index of ragassay's"):
        built(server, index="theirs")
    built(server, index="ours").close()
    with pytest.raises(StackError, match="'ours' holds another corpus, embedder or setting"):
        built(server, MANY, index="ours")
    server.aliases["also"] = "ours"
    with pytest.raises(StackError, match="'also' holds no index of ragassay's"):
        built(server, index="also")
    assert len(server.indexes["ours"].written) == 12


def test_an_index_of_another_dimension(server: ElasticServer) -> None:
    """Whose mark was copied is refused by the server, whose words are told."""
    retriever = built(server)
    index = next(iter(server.indexes.values()))
    assert index.vectors
    index.vectors.dimension = 8
    with pytest.raises(StackError, match=r"could not search: status 400: .*number of dimensions \[64\]"):
        retriever.search(QUESTION, 3)
    retriever.close()


def test_a_wrong_key(server: ElasticServer) -> None:
    """Is refused for good, names `key_env`, and stands in no message although the server repeats it."""
    key = "another-key-0123456789"
    server.fail("info", refused(server, 401, "security_exception", f"no such key: {key}"))
    with pytest.raises(StackError, match="`key_env` names, and user") as caught:
        built(server, key=key)
    assert not caught.value.retryable
    assert key not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_user_with_a_password(kind: str) -> None:
    """Is sent as such, and recorded nowhere."""
    with serving(kind, user=("reader", TOKEN)) as server:
        retriever = built(server, user="reader", key_env="PASSWORD")
        assert retriever.search(QUESTION, 1)
        assert TOKEN not in str(retriever.describe())
        assert "reader" not in str(retriever.describe())
        retriever.close()


def test_a_redirect_is_not_followed(server: ElasticServer) -> None:
    """The key reaches no other server."""
    elsewhere = {**server.headers(), "Location": f"{server.url}/elsewhere"}
    server.fail("info", Fault(answer=Answer(status=302, body={}, headers=elsewhere)))
    with pytest.raises(StackError, match="redirects are not followed"):
        built(server)
    assert len(server.asked) == 1


def test_a_page_in_place_of_a_reply(server: ElasticServer) -> None:
    """A proxy's words are an error that says to look at the address."""
    server.fail("info", Fault(answer=Answer(raw=b"<html>", headers={**server.headers(), "Content-Type": "text/html"})))
    with pytest.raises(StackError, match="check url"):
        built(server)


def test_another_kind_of_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """An Elasticsearch is not taken for an OpenSearch, nor the other way round; each names the other's kind."""
    with ElasticsearchServer() as server:
        server.product = ""
        with pytest.raises(StackError, match='does not call itself Elasticsearch; name kind = "opensearch"'):
            built(server)
    with OpenSearchServer() as other:
        monkeypatch.setattr(other, "version", {"number": "8.1.0", "build_flavor": "default", "lucene_version": "9"})
        with pytest.raises(StackError, match=r'calls its distribution .None.; name kind = "elasticsearch"'):
            built(other)
        monkeypatch.setattr(other, "version", {"number": "2.18.0", "distribution": "opensearch", "lucene_version": "9"})
        with pytest.raises(StackError, match=r"is version '2\.18\.0'; use 2\.19 or later"):
            built(other)


def test_an_elasticsearch_of_another_major_version() -> None:
    """Does not speak the client's media type; the error says which server is needed."""
    with ElasticsearchServer() as server:
        server.speaks = 8
        with pytest.raises(StackError, match="needs a server of that major version") as caught:
            built(server)
    assert not caught.value.retryable


def test_a_connection_that_is_not_secure(server: ElasticServer) -> None:
    """An https address of a server that speaks http is an error that names the certificates."""
    stack_url = server.url.replace("http:", "https:")
    with pytest.raises(
        StackError, match=r"could not say its version: no secure connection: .*; check url and ca_certs"
    ):
        built(server, url=stack_url)


def test_what_is_recorded(server: ElasticServer) -> None:
    """Versions of client and server, layout and search; no address, no key."""
    retriever = built(server)
    about = retriever.describe()
    assert re.fullmatch(r"\d+\.\d+\.\d+", about["server"]["version"])
    assert about["server"]["lucene"]
    assert about["zero_vectors_left_out"] == 1
    assert (about["kind"], about["shards"], about["segments"], about["exact"]) == (kind_of(server), 1, 1, True)
    assert "127.0.0.1" not in str(about)
    retriever.close()
