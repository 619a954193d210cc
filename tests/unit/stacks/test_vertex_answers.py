"""What Vertex AI Vector Search answers is checked before it is used, and its distances are read for what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("google.cloud.vectorsearch_v1beta", reason="pip install 'ragassay[vertex]'")

from vertex_stand_in import CHUNKS, PARENT, built

from ragassay.errors import StackError
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.vertex.client import api
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import ignore_progress
from ragassay.testing.vertex_server import VertexServer, serving

QUESTION = "What is the default of retries?"


@pytest.fixture
def server() -> Iterator[VertexServer]:
    """Give a server."""
    with serving() as server:
        yield server


@pytest.mark.parametrize(
    ("how", "distance"),
    [
        ("1 - distance", lambda cosine: 1 - cosine),
        ("distance", lambda cosine: cosine),
        ("-distance", lambda cosine: -cosine),
    ],
)
def test_the_meaning_of_a_distance_is_found_out(
    server: VertexServer, how: str, distance: Callable[[float], float]
) -> None:
    """Whichever number the service gives for a cosine, the score is the cosine, as in `dense`, and this is recorded."""
    server.methods.cosine = distance
    dense = Dense().build(CHUNKS, {"embedder": WordEmbedder()}, ignore_progress)
    index = built(server)
    assert index.describe()["score"] == how
    ours, theirs = index.search(QUESTION, 5), dense.search(QUESTION, 5)
    assert [hit.chunk for hit in ours] == [hit.chunk for hit in theirs]
    assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=1e-5)
    index.close()


def test_a_distance_without_a_meaning_is_an_error(server: VertexServer) -> None:
    """A number that is none of the known forms makes no score."""
    server.methods.cosine = lambda cosine: 7 * cosine - 3
    with pytest.raises(StackError, match="what they mean is unknown"):
        built(server)


def test_hits_without_a_distance_are_scored_by_rank(server: VertexServer) -> None:
    """Where a text search gives no number, the order is the service's; a number later on is an error."""
    server.faults["SearchDataObjects"] = _without_distances
    index = built(server, mode="text")
    assert index.describe()["score"] == "1 / rank"
    assert [hit.score for hit in index.search("fox river", 2)] == [1.0, 0.5]
    server.faults.clear()
    with pytest.raises(StackError, match="distances for one question and none for another"):
        index.search("fox river", 2)
    index.close()


def _without_distances(reply: Any) -> Any:
    for result in reply.results:
        result.distance = None
    return reply


def _cut_short(reply: Any) -> Any:
    del reply.results[1:]
    reply.next_page_token = ""
    return reply


def _repeated(reply: Any) -> Any:
    reply.results[1] = reply.results[0]
    return reply


def _turned_round(reply: Any) -> Any:
    reply.results = list(reply.results)[::-1]
    return reply


def _renamed(reply: Any) -> Any:
    reply.results[0].data_object.name = f"{PARENT}/collections/another/dataObjects/c1"
    return reply


def _unknown(reply: Any) -> Any:
    first = reply.results[0].data_object
    first.name = first.name.rpartition("/")[0] + "/c400"
    return reply


def _endless(reply: Any) -> Any:
    reply.next_page_token = "0"
    del reply.results[:]
    return reply


def _warned(reply: Any) -> Any:
    reply.search_response_metadata.warnings = [{"code": 4, "message": "two of three parts answered"}]
    return reply


def _by_index(reply: Any) -> Any:
    reply.search_response_metadata = {"used_index": {"name": "somebody-elses"}}
    return reply


def _no_number(reply: Any) -> Any:
    reply.results[0].distance = float("nan")
    return reply


@pytest.mark.parametrize("transport", ["grpc", "rest"])
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (_cut_short, "an exact search lacks none"),
        (_repeated, "one chunk twice"),
        (_turned_round, "hits come best first"),
        (_renamed, "no chunk of this corpus"),
        (_unknown, "position 400"),
        (_endless, "one page token twice"),
        (_warned, "two of three parts answered"),
        (_by_index, "'somebody-elses' was used"),
        (_no_number, "no finite number"),
    ],
)
def test_a_broken_answer_is_an_error(
    server: VertexServer, transport: str, broken: Callable[[Any], Any], message: str
) -> None:
    """Never fewer hits, never other ones."""
    index = built(server, transport=transport)
    server.faults["SearchDataObjects"] = broken
    with pytest.raises(StackError, match=message):
        index.search(QUESTION, 5)
    index.close()


def test_a_combined_answer_is_one_list(server: VertexServer) -> None:
    """Two lists, a list that goes on and one that lacks what a vector search must find are errors."""
    index = built(server, mode="combined")

    def two(reply: Any) -> Any:
        reply.results = [reply.results[0], reply.results[0]]
        return reply

    def goes_on(reply: Any) -> Any:
        reply.results[0].next_page_token = "more"
        return reply

    def fewer(reply: Any) -> Any:
        del reply.results[0].results[2:]
        return reply

    for broken, message in ((two, "2 lists"), (goes_on, "goes on"), (fewer, "an exact search lacks none")):
        server.faults["BatchSearchDataObjects"] = broken
        with pytest.raises(StackError, match=message):
            index.search(QUESTION, 5)
    index.close()


@pytest.mark.parametrize("transport", ["grpc", "rest"])
@pytest.mark.parametrize(
    ("code", "retryable", "advice"),
    [
        ("UNAVAILABLE", True, "could not search"),
        ("DEADLINE_EXCEEDED", True, "see timeout_s"),
        ("RESOURCE_EXHAUSTED", True, "quota"),
        ("PERMISSION_DENIED", False, "check the access token"),
        ("INVALID_ARGUMENT", False, "could not search"),
        ("NOT_FOUND", False, "could not search"),
    ],
)
def test_an_error_says_whether_asking_again_helps(
    server: VertexServer, transport: str, code: str, retryable: bool, advice: str
) -> None:
    """Each code of the service is an error, asked for once: the runner asks again, not the client."""
    index = built(server, transport=transport)
    server.faults["SearchDataObjects"] = code
    before = len(server.calls)
    with pytest.raises(StackError, match=advice) as raised:
        index.search(QUESTION, 5)
    assert (raised.value.retryable, len(server.calls) - before) == (retryable, 1)
    index.close()


def test_more_hits_than_the_window_are_refused(server: VertexServer) -> None:
    """A window that is smaller than what a row asks for is said, not silently fewer hits."""
    index = built(server, window=3)
    with pytest.raises(StackError, match="at most 3 hits"):
        index.search(QUESTION, 4)
    index.close()


def test_a_filter_keeps_what_it_says(server: VertexServer) -> None:
    """The filter goes to each search, and fewer hits are right then."""
    kept = {"page": {"$in": ["page-1.md", "page-10.md"]}}
    for mode in ("vector", "combined", "text"):
        index = built(server, filter=kept, mode=mode)
        assert {hit.chunk for hit in index.search(QUESTION, 5)} == {"page-1.md#0", "page-10.md#0"}
        assert index.describe()["filter"] == kept
        index.close()


def test_a_text_search_asks_for_the_question_as_the_board_says(server: VertexServer) -> None:
    """Any word, every word, or the service's own reading of it."""
    for match in ("any", "all", "enhanced"):
        index = built(server, mode="text", text_match=match)
        index.search("fox river", 1)
        search = server.calls[-1][1].text_search
        asked = (search.search_text, len(search.structured_query.combine.sub_queries))
        assert asked == {"any": ("", 2), "all": ("fox river", 0), "enhanced": ("", 0)}[match]
        assert search.structured_query.text.query_enhancement.enabled == (match == "enhanced")
        index.close()


def test_the_count_is_one_number(server: VertexServer) -> None:
    """Two numbers, or a word, are no count."""
    index = built(server)

    def doubled(reply: Any) -> Any:
        type(reply).pb(reply).aggregate_results.add().update({"count": 3})
        return reply

    assert index.count() == len(CHUNKS)
    server.faults["AggregateDataObjects"] = doubled
    with pytest.raises(StackError, match="one number is wanted"):
        index.count()
    index.close()


def test_an_index_that_is_not_used_is_an_error(server: VertexServer) -> None:
    """A row about an index does not measure an exact search."""
    index = built(server, index="by-scann", target_recall="0.9")

    def exact(reply: Any) -> Any:
        reply.search_response_metadata = api.SearchResponseMetadata(used_knn=True)
        return reply

    hint = server.calls[-2][1].vector_search.search_hint.index_hint
    assert hint.name.endswith("/indexes/by-scann")
    assert hint.dense_scann_params.target_recall == 0.9
    server.faults["SearchDataObjects"] = exact
    with pytest.raises(StackError, match="was not used"):
        index.search(QUESTION, 5)
    index.close()
