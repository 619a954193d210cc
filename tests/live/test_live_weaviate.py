"""One check against a real Weaviate server, run only where its address is set; otherwise skipped.

Set WEAVIATE_URL to opt in; WEAVIATE_GRPC_PORT, WEAVIATE_GRPC_HOST and WEAVIATE_API_KEY where they are needed. Each
case makes one collection of twelve small objects and removes it again.
"""

from __future__ import annotations

import os
import urllib.request
from typing import Any

import pytest

pytest.importorskip("weaviate", reason="pip install 'ragassay[weaviate]'")

from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.dense import Dense
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.plugins.stacks.weaviate import Weaviate
from ragassay.records import Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import QUESTIONS, corpus, ignore_progress

NAME = "Ragassay_live"
CASES: list[dict[str, Any]] = [
    {"metric": "cosine"},
    {"metric": "dot"},
    {"metric": "l2-squared"},
    {"index": "hnsw"},
    {"index": "hnsw", "ef": -1},
    {"search": "text"},
    {"search": "hybrid"},
    {"search": "hybrid", "fusion": "ranked", "tokenization": "trigram"},
]


@pytest.mark.enable_socket
@pytest.mark.parametrize("params", CASES, ids=lambda params: "-".join(map(str, params.values())))
def test_weaviate_finds_what_it_was_given(params: dict[str, Any]) -> None:
    """A collection is made, filled, waited for, asked every question of the suite, found again whole, and removed."""
    url, key = os.environ.get("WEAVIATE_URL"), os.environ.get("WEAVIATE_API_KEY")
    if not url:
        pytest.skip("not asked: the variable WEAVIATE_URL is not set")
    where: dict[str, Any] = {"url": url, "grpc_port": int(os.environ.get("WEAVIATE_GRPC_PORT") or 50051)}
    if host := os.environ.get("WEAVIATE_GRPC_HOST"):
        where["grpc_host"] = host
    secret = Secret(key) if key else None

    def build() -> VectorIndex:
        stack = Weaviate(key=secret, collection=NAME, **where, **params)
        return stack.build(corpus(), {"embedder": WordEmbedder()}, ignore_progress)

    try:
        first = build()
        found = {question: first.search(question, 5) for question in QUESTIONS}
        again = build()
        assert again.stored is not None
        assert again.stored.reused
        assert (first.count(), again.search(QUESTIONS[1], 5)) == (12, found[QUESTIONS[1]])
        other = BM25() if params.get("search") == "text" else Dense()
        expected = other.build(corpus(), {"embedder": WordEmbedder()}, ignore_progress).search(QUESTIONS[0], 1)
        assert found[QUESTIONS[0]][0].chunk == expected[0].chunk
        for retriever in (first, again):
            retriever.close()
    finally:
        request = urllib.request.Request(f"{url.rstrip('/')}/v1/schema/{NAME}", method="DELETE")
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        urllib.request.urlopen(request, timeout=30).close()
