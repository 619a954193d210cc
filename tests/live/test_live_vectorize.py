"""One check against Cloudflare Vectorize itself, run only where its two variables are set; otherwise skipped.

For each metric it makes one index of some small vectors, asks it twice and deletes it: the token needs Vectorize Write.
"""

from __future__ import annotations

import os
import urllib.request

import pytest

from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.plugins.stacks.vectorize import METRICS, URL, Vectorize
from ragassay.records import Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress


@pytest.mark.enable_socket
@pytest.mark.parametrize("metric", METRICS)
def test_vectorize_finds_what_it_was_given(metric: str) -> None:
    """An index is made, filled, waited for, searched best first, found again whole, and removed."""
    for name in ("VECTORIZE_ACCOUNT_ID", "VECTORIZE_API_TOKEN"):
        if not os.environ.get(name):
            pytest.skip(f"not asked: the variable {name} is not set")
    account, token = os.environ["VECTORIZE_ACCOUNT_ID"], os.environ["VECTORIZE_API_TOKEN"]
    texts = [text for text in corpus() if text.text.strip()]
    index = f"ragassay-live-{metric}"

    def build() -> VectorIndex:
        stack = Vectorize(account_id=account, key=Secret(token), index=index, metric=metric, precision="high")
        return stack.build(texts, {"embedder": WordEmbedder()}, ignore_progress)

    try:
        first, again = build(), build()
        for retriever in (first, again):
            hits = retriever.search("Where does the quick fox jump?", 3)
            assert len(hits) == 3
            assert "fox" in next(chunk.text for chunk in texts if chunk.id == hits[0].chunk)
            retriever.close()
        assert again.stored is not None
        assert again.stored.reused
    finally:
        request = urllib.request.Request(f"{URL}/accounts/{account}/vectorize/v2/indexes/{index}", method="DELETE")
        request.add_header("Authorization", f"Bearer {token}")
        urllib.request.urlopen(request, timeout=30).close()
