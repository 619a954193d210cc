"""What a board may say of Vertex AI Vector Search: every problem at once, no secret repeated, what is unused unsaid."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("google.cloud.vectorsearch_v1beta", reason="pip install 'ragassay[vertex]'")

import google.auth
from google.auth.exceptions import DefaultCredentialsError

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.vertex import Vertex
from ragassay.plugins.stacks.vertex.client import Place, Service
from ragassay.records import Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress


def test_all_problems_come_in_one_error() -> None:
    """Wrong ones, missing ones and unknown ones together."""
    with pytest.raises(InputError) as raised:
        Vertex(mode="psychic", collection="Not_Valid", window=0, target_recall="0.5", filter="page", colour="red")
    text = "\n".join(raised.value.problems)
    for wanted in ("project must be", "mode =", "collection =", "window =", "target_recall", "filter =", "'colour'"):
        assert wanted in text


@pytest.mark.parametrize(
    "given",
    [
        {"project": "https://user:ya29.secret@host"},
        {"api_endpoint": "https://ya29.secret@host/path"},
        {"key_env": "ya29.secret-token"},
    ],
)
def test_what_may_be_a_secret_is_not_repeated(given: dict[str, Any]) -> None:
    """A token in the wrong place stands in no message."""
    with pytest.raises(InputError) as raised:
        Vertex(**{"project": "a-project", **given})
    assert "secret" not in str(raised.value)


def test_an_index_is_over_one_vector_field() -> None:
    """Two vector searches, or none, cannot use the one index that a row names."""
    for mode in ("text", "combined"):
        with pytest.raises(InputError, match="over one vector field"):
            Vertex(project="a-project", index="by-scann", mode=mode, combine="vector+semantic")


def test_an_embedder_is_asked_for_and_refused() -> None:
    """A mode that asks by our vectors needs one; one that does not has no use for it."""
    with pytest.raises(InputError, match="needs an embedder"):
        Vertex(project="a-project").build(corpus(), {}, ignore_progress)
    with pytest.raises(InputError, match="no use for an embedder"):
        Vertex(project="a-project", mode="text").build(corpus(), {"embedder": WordEmbedder()}, ignore_progress)


def test_it_says_that_it_is_neither_general_nor_tried() -> None:
    """The class and the record declare what a board marks."""
    about = Vertex(project="a-project", mode="text").build([], {}, ignore_progress).describe()
    assert (Vertex.wire_form_only, about["maturity"]) == (True, "preview")


def test_only_what_is_used_is_recorded() -> None:
    """A text search has no metric, a vector search no model of the service's."""
    text = Vertex(project="a-project", mode="text", text_match="all").build([], {}, ignore_progress).describe()
    assert not {"metric", "index", "semantic", "embedder", "ranker"} & set(text)
    vector = Vertex(project="a-project").build([], {"embedder": WordEmbedder()}, ignore_progress).describe()
    assert (vector["metric"], vector["index"]) == ("cosine", "exact")
    assert "semantic" not in vector
    assert "text_match" not in vector


@pytest.mark.parametrize("transport", ["grpc", "rest"])
def test_without_credentials_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, transport: str) -> None:
    """Default credentials are looked for by the client's own means, once, and only for a server elsewhere."""

    def missing(**given: Any) -> Any:
        raise DefaultCredentialsError("there are none")

    monkeypatch.setattr(google.auth, "default", missing)
    stack = Vertex(project="a-project", api_endpoint="vectorsearch.example:443", transport=transport)
    with pytest.raises(
        StackError, match="application default credentials, or name an access token's variable"
    ) as raised:
        stack.build(corpus(), {"embedder": WordEmbedder()}, ignore_progress)
    assert raised.value.retryable is False


@pytest.mark.parametrize("transport", ["grpc", "rest"])
def test_a_client_of_the_service_is_made_without_connecting(monkeypatch: pytest.MonkeyPatch, transport: str) -> None:
    """With an access token nothing is looked up, and the address is the one that was given."""
    monkeypatch.setattr(google.auth, "default", None)
    place = Place(
        project="a-project",
        location="us-central1",
        endpoint="vectorsearch.example",
        transport=transport,
        timeout_s=1,
        wait_s=1,
    )
    service = Service(place, Secret("ya29.token"))
    hosts = {client.transport.host for client in (service.collections, service.objects, service.searches)}
    service.close()
    assert hosts == {"vectorsearch.example:443" if transport == "grpc" else "https://vectorsearch.example"}
