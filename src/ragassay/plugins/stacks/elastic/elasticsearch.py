"""Elasticsearch: vectors compared by a script or by an HNSW graph, BM25 over the text, or both fused by their ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.plugins.stacks.elastic import stack as elastic_stack
from ragassay.plugins.stacks.elastic.elasticsearch_client import ElasticsearchClient
from ragassay.plugins.stacks.elastic.elasticsearch_dialect import WORDS, ElasticsearchDialect
from ragassay.plugins.stacks.elastic.settings import read_row
from ragassay.plugins.stacks.vector_index import VectorIndex
from ragassay.records import JSON, Chunk, Secret
from ragassay.seams import Progress


class ElasticsearchStack:
    """Takes where and how: see `settings`; `key` comes from the runner, the part is `embedder`."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}
    needs_folder: ClassVar[bool] = True
    """`ca_certs` is relative to the board."""
    wire_form_only: ClassVar[bool] = True
    """Tested with its client against a local server with the documented shapes, not yet against the service."""

    removal: ClassVar[str] = "curl -X DELETE {url}/{name}"
    """What a person types to remove an index of that name; with a key or a password, its header besides."""

    @classmethod
    def parts_for(cls, entry: JSON) -> Mapping[str, JSON]:
        """Return no embedder for BM25 alone, which needs none."""
        return {} if entry.get("search") == "text" else cls.default_parts

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        self._settings, self._address = read_row(WORDS, params, key)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and fill an index with them, or find it there whole; raises `StackError`."""
        return elastic_stack.build(
            ElasticsearchDialect(), ElasticsearchClient, self._settings, self._address, chunks, parts, progress
        )
