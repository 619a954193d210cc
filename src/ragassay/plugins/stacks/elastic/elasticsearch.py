"""Elasticsearch: vectors compared by a script or by an HNSW graph, BM25 over the text, or both fused by their ranks."""

from __future__ import annotations

from typing import ClassVar

from ragassay.plugins.stacks.elastic.dialect import Dialect
from ragassay.plugins.stacks.elastic.elasticsearch_client import ElasticsearchClient
from ragassay.plugins.stacks.elastic.elasticsearch_dialect import WORDS, ElasticsearchDialect
from ragassay.plugins.stacks.elastic.stack import ElasticStack


class ElasticsearchStack(ElasticStack):
    """Takes where and how: see `settings`; `key` comes from the runner, the part is `embedder`."""

    words = WORDS
    dialect: ClassVar[Dialect] = ElasticsearchDialect()
    client = ElasticsearchClient
