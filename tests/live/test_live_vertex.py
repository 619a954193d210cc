"""One check against the real Vertex AI Vector Search, run only where its variables are set; otherwise skipped.

Set VERTEX_PROJECT and VERTEX_ACCESS_TOKEN (`gcloud auth print-access-token`) to opt in, VERTEX_LOCATION for another
region than us-central1. Each mode makes one collection of twelve data objects and removes it again.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

pytest.importorskip("google.cloud.vectorsearch_v1beta", reason="pip install 'ragassay[vertex]'")

from ragassay.plugins.stacks.vertex import Vertex
from ragassay.plugins.stacks.vertex.client import Place, Service
from ragassay.plugins.stacks.vertex.settings import SERVICE
from ragassay.records import Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress


def variable(name: str) -> str:
    """Return a variable's value; skips where it is not set."""
    if not os.environ.get(name):
        pytest.skip(f"not asked: the variable {name} is not set")
    return os.environ[name]


def remove(place: Place, key: Secret, collection: str) -> None:
    """Remove a collection with all that it holds."""
    service = Service(place, key)
    request = {"name": f"{place.parent}/collections/{collection}", "force": True}
    doing = f"remove {collection}"
    service.finished(doing, service.call(doing, service.collections.delete_collection, request))
    service.close()


@pytest.mark.enable_socket
@pytest.mark.parametrize("transport", ["grpc", "rest"])
@pytest.mark.parametrize("mode", ["vector", "semantic", "text", "combined"])
def test_vertex_finds_what_it_was_given(mode: str, transport: str) -> None:
    """The chunk with the question's words comes first, the index is whole, and what a distance means is found out."""
    project, key = variable("VERTEX_PROJECT"), Secret(variable("VERTEX_ACCESS_TOKEN"))
    location = os.environ.get("VERTEX_LOCATION") or "us-central1"
    place = Place(project=project, location=location, endpoint=SERVICE, transport=transport, timeout_s=50, wait_s=600)
    name = f"ragassay-live-{mode}-{transport}"
    params: dict[str, Any] = {"project": project, "location": location, "transport": transport, "mode": mode}
    parts = {"embedder": WordEmbedder()} if mode in ("vector", "combined") else {}
    chunks = corpus()
    try:
        stack = Vertex(key=key, collection=name, timeout_s=50, wait_s=600, **params)
        index = stack.build(chunks, parts, ignore_progress)
        found = index.search("Where does the quick brown fox jump near the river bank?", 3)
        count, about = index.count(), index.describe()
        index.close()
    finally:
        remove(place, key, name)
    assert found[0].chunk == chunks[0].id
    assert (count, about["mode"]) == (len(chunks), mode)
    assert about["score"] in ("distance", "1 - distance", "-distance", "1 / rank")
