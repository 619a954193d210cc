"""One check against a real Elasticsearch and a real OpenSearch, run only where their variables are set; else skipped.

Set ELASTICSEARCH_URL, and ELASTICSEARCH_API_KEY where the server wants one; or OPENSEARCH_URL, with OPENSEARCH_USER and
OPENSEARCH_PASSWORD where it wants them. Each mode makes one index of twelve small documents and removes it again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

pytest.importorskip("elasticsearch", reason="pip install 'ragassay[elasticsearch]'")
pytest.importorskip("opensearchpy", reason="pip install 'ragassay[opensearch]'")

from elasticsearch import Elasticsearch
from opensearchpy import OpenSearch

from ragassay import plugins
from ragassay.records import Secret
from ragassay.testing.fake_embedder import WordEmbedder
from ragassay.testing.stack_contract import corpus, ignore_progress

QUESTION = "Where does the quick fox jump over the lazy dog?"
MODES: Mapping[str, Mapping[str, Any]] = {
    **{metric: {"metric": metric} for metric in ("cosine", "dot", "l2")},
    **{f"{metric}-graph": {"metric": metric, "exact": False} for metric in ("cosine", "dot", "l2")},
    "text": {"search": "text"},
    "hybrid": {"search": "hybrid"},
}


def connection(kind: str) -> dict[str, Any]:
    """Return the connection of a row; skips where the address is not set."""
    name = kind.upper()
    if not os.environ.get(f"{name}_URL"):
        pytest.skip(f"not asked: the variable {name}_URL is not set")
    found: dict[str, Any] = {"url": os.environ[f"{name}_URL"]}
    for variable in ("ELASTICSEARCH_API_KEY",) if kind == "elasticsearch" else ("OPENSEARCH_PASSWORD",):
        if os.environ.get(variable):
            found |= {"key_env": variable, "key": Secret(os.environ[variable])}
    if kind == "opensearch" and os.environ.get("OPENSEARCH_USER"):
        found["user"] = os.environ["OPENSEARCH_USER"]
    return found


def remove(kind: str, found: Mapping[str, Any], index: str) -> None:
    """Remove an index."""
    key = found["key"].reveal() if "key" in found else None
    if kind == "elasticsearch":
        Elasticsearch(found["url"], api_key=key).indices.delete(index=index)
    else:
        auth = (found["user"], key) if "user" in found else None
        OpenSearch(found["url"], http_auth=auth).indices.delete(index=index)


@pytest.mark.enable_socket
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["elasticsearch", "opensearch"])
def test_a_server_finds_what_it_was_given(kind: str, mode: str) -> None:
    """An index is made, filled, merged, searched with the metric itself as score, found again whole, and removed."""
    found, index, embedder = connection(kind), f"ragassay-live-{mode}", WordEmbedder()
    texts = [text for text in corpus() if text.text.strip()]

    def build() -> Any:
        stack = plugins.load("stacks", kind)(**found, index=index, **MODES[mode])
        return stack.build(texts, {"embedder": embedder}, ignore_progress)

    try:
        first, again = build(), build()
        hits = first.search(QUESTION, 3)
        assert hits == again.search(QUESTION, 3)
        assert again.stored.reused
        at = next(at for at, text in enumerate(texts) if text.id == hits[0].chunk)
        query, row = embedder.embed([QUESTION, texts[at].text], "query").astype(np.float64)
        metric = MODES[mode].get("metric")
        product = float(query @ row)
        expected = {
            "cosine": product / float(np.linalg.norm(query) * np.linalg.norm(row)),
            "dot": product,
            "l2": -float(np.linalg.norm(query - row)),
        }
        assert metric is None or hits[0].score == pytest.approx(expected[metric], rel=1e-3)
        first.close()
        again.close()
    finally:
        remove(kind, found, index)
