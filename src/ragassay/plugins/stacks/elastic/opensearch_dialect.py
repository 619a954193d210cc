"""OpenSearch's words: `knn_vector`, `knn` and `script_score`, and the documented meaning of its scores."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.plugins.stacks.elastic import dialect as scores
from ragassay.plugins.stacks.elastic.dialect import VECTOR, scripted, undone
from ragassay.plugins.stacks.elastic.settings import Settings, Words
from ragassay.records import JSON

WORDS = Words(kind="opensearch", candidates="ef_search", engines=("faiss", "lucene"))
SPACES = {"cosine": "cosinesimil", "dot": "innerproduct", "l2": "l2"}
SCRIPTS = {
    "cosine": "1.0 + cosineSimilarity(params.query_value, doc[params.field])",
    "l2": "1.0 / (1.0 + l2Squared(params.query_value, doc[params.field]))",
}
"""The painless functions of the k-NN plugin; it has none for the inner product, which its own script scores."""
_GRAPH = {"cosine": scores.cosine_of_half, "dot": scores.product_of, "l2": scores.far_of_squared}
_SCRIPTED = {"cosine": scores.cosine_of_shifted, "dot": scores.product_of, "l2": scores.far_of_squared}


class OpenSearchDialect:
    """See `dialect.Dialect`."""

    kind = WORDS.kind
    max_dimension = 16_000

    def field(self, settings: Settings, dimension: int) -> JSON:
        """Return a `knn_vector`, with a graph of one of the libraries or without."""
        field: JSON = {"type": "knn_vector", "dimension": dimension}
        if settings.exact:
            return field
        parameters = {"m": settings.m, "ef_construction": settings.ef_construction}
        space = SPACES[settings.metric]
        method = {"name": "hnsw", "engine": settings.engine, "space_type": space, "parameters": parameters}
        return {**field, "method": method}

    def index_settings(self, settings: Settings) -> JSON:
        """Have a graph built however few vectors there are: below the threshold they are compared one by one."""
        if settings.exact:
            return {"knn": False}
        return {"knn": True, "knn.advanced.approximate_threshold": 0}

    def reading(self, fields: Sequence[str]) -> JSON:
        """Ask for a part of `_source`, which holds the vectors."""
        return {"_source": list(fields)}

    def near(self, settings: Settings, vector: Sequence[float]) -> JSON:
        """Ask by script, or the graph; of a graph always as many candidates are asked for, whatever k is."""
        if settings.exact:
            params = {"field": VECTOR, "query_value": list(vector)}
            if settings.metric in SCRIPTS:
                return scripted({"lang": "painless", "source": SCRIPTS[settings.metric], "params": params})
            return scripted(
                {"lang": "knn", "source": "knn_score", "params": {**params, "space_type": SPACES[settings.metric]}}
            )
        asked: JSON = {"vector": list(vector), "k": settings.candidates}
        if settings.engine != "lucene":  # which takes k for it
            asked["method_parameters"] = {"ef_search": settings.candidates}
        return {"query": {"knn": {VECTOR: asked}}}

    def metric(self, settings: Settings, score: float) -> float:
        """Undo the documented formula of the space, or that of the script."""
        return undone(self.kind, settings.metric, _SCRIPTED if settings.exact else _GRAPH, score)
