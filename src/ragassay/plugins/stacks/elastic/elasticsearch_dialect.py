"""Elasticsearch's words: `dense_vector`, `knn` and `script_score`, and the documented meaning of its scores."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.plugins.stacks.elastic import dialect as scores
from ragassay.plugins.stacks.elastic.dialect import VECTOR, scripted, undone
from ragassay.plugins.stacks.elastic.settings import Settings, Words
from ragassay.records import JSON

WORDS = Words(kind="elasticsearch", candidates="num_candidates", engines=())
SIMILARITIES = {"cosine": "cosine", "dot": "max_inner_product", "l2": "l2_norm"}
SCRIPTS = {
    "cosine": "cosineSimilarity(params.query_vector, 'vector') + 1.0",
    "dot": "double d = dotProduct(params.query_vector, 'vector'); return d < 0 ? 1 / (1 - d) : d + 1;",
    "l2": "1 / (1 + l2norm(params.query_vector, 'vector'))",
}
_GRAPH = {"cosine": scores.cosine_of_half, "dot": scores.product_of, "l2": scores.far_of_squared}
_SCRIPTED = {"cosine": scores.cosine_of_shifted, "dot": scores.product_of, "l2": scores.far_of}


class ElasticsearchDialect:
    """See `dialect.Dialect`."""

    kind = WORDS.kind
    max_dimension = 4_096

    def field(self, settings: Settings, dimension: int) -> JSON:
        """Return a `dense_vector` of whole numbers: without a graph, or with one that is not quantised."""
        field: JSON = {"type": "dense_vector", "dims": dimension}
        if settings.exact:
            return {**field, "index": False}
        graph = {"type": "hnsw", "m": settings.m, "ef_construction": settings.ef_construction}
        return {**field, "index": True, "similarity": SIMILARITIES[settings.metric], "index_options": graph}

    def index_settings(self, settings: Settings) -> JSON:
        """Return nothing: the field says all."""
        return {}

    def reading(self, fields: Sequence[str]) -> JSON:
        """Ask for fields: from version 9.2 on `_source` is without the vectors."""
        return {"_source": False, "fields": list(fields)}

    def near(self, settings: Settings, vector: Sequence[float]) -> JSON:
        """Ask by script, or the graph; of a graph always as many candidates are asked for, whatever k is."""
        if settings.exact:
            return scripted({"source": SCRIPTS[settings.metric], "params": {"query_vector": list(vector)}})
        many = settings.candidates
        return {"knn": {"field": VECTOR, "query_vector": list(vector), "k": many, "num_candidates": many}}

    def metric(self, settings: Settings, score: float) -> float:
        """Undo the documented formula of the field's similarity, or that of our own script."""
        return undone(self.kind, settings.metric, _SCRIPTED if settings.exact else _GRAPH, score)
