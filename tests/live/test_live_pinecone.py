"""One check against Pinecone itself, run only where its variable is set; otherwise skipped.

It makes one serverless index of some small vectors in aws us-east-1, asks it twice and deletes it.
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("pinecone", reason="pip install 'ragassay[pinecone]'")

import pinecone

from ragassay.plugins.stacks.pinecone import Pinecone
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "params", [{"metric": "cosine"}, {"metric": "euclidean"}, {"metric": "dotproduct", "sparse": True}]
)
def test_pinecone_finds_what_it_was_given(params: dict[str, str | bool]) -> None:
    """An index is made, a namespace filled, waited for, searched best first, found again whole, and removed."""
    key = os.environ.get("PINECONE_LIVE_API_KEY")
    if not key:
        pytest.skip("not asked: the variable PINECONE_LIVE_API_KEY is not set")
    chunks, index = corpus(), f"ragassay-live-{params['metric']}"

    def build() -> VectorIndex:
        stack = Pinecone(key=Secret(key), index=index, **params)
        return stack.build(chunks, {"embedder": WordEmbedder()}, ignore_progress)

    try:
        first, again = build(), build()
        for retriever in (first, again):
            hits = retriever.search("Where does the quick fox jump?", 3)
            assert len(hits) == 3
            assert "fox" in next(chunk.text for chunk in chunks if chunk.id == hits[0].chunk)
            retriever.close()
        assert again.stored is not None
        assert again.stored.reused
    finally:
        pinecone.Pinecone(key).indexes.delete(index, timeout=-1)
