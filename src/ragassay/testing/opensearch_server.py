"""A stand-in for OpenSearch with its k-NN plugin; see `elastic_server` for what it shares with Elasticsearch's.

What is said of vectors is that of OpenSearch's documentation: k-NN vector, methods and engines, spaces, the k-NN query,
exact search with a scoring script, painless extensions.
"""

from __future__ import annotations

import re
from typing import ClassVar

import msgspec

from ragassay.records import JSON
from ragassay.testing.elastic_index import GRAPH_SCORES, Refused, StandInIndex, Vectors
from ragassay.testing.elastic_server import (
    ElasticServer,
    SearchBody,
    authorization,
    by_graph,
    convert,
    scored_by_script,
)

_SPACES = {"cosinesimil": "cosine", "innerproduct": "product", "l2": "l2"}
_CALL = re.compile(r"(\w+)\(params\.query_value, doc\[params\.field\]\)")
_FUNCTIONS = {"cosineSimilarity": "cosine", "l2Squared": "l2_squared"}


class Method(msgspec.Struct, forbid_unknown_fields=True):
    """The definition of a method."""

    name: str
    engine: str
    space_type: str
    parameters: dict[str, int]


class KnnVector(msgspec.Struct, forbid_unknown_fields=True):
    """A field of type `knn_vector`."""

    type: str
    dimension: int
    method: Method | None = None


class KnnQuery(msgspec.Struct, forbid_unknown_fields=True):
    """The query `knn` of one field."""

    vector: list[float]
    k: int
    method_parameters: dict[str, int] | None = None


class OpenSearchServer(ElasticServer):
    """OpenSearch 3; lets in a bearer token or a user with a password."""

    version: ClassVar[JSON] = {  # type: ignore[misc]
        "distribution": "opensearch",
        "number": "3.1.0",
        "build_type": "tar",
        "lucene_version": "10.2.1",
        "minimum_wire_compatibility_version": "2.19.0",
    }

    def __init__(self, *, key: str | None = None, user: tuple[str, str] | None = None) -> None:
        super().__init__()
        self.authorization = authorization(user) if user else f"Bearer {key}" if key else None

    def vectors(self, field: JSON, settings: JSON) -> Vectors:
        """Read a `knn_vector`, and the settings of its index."""
        given = convert(field, KnnVector)
        graphs = settings.pop("knn", False)
        threshold = settings.pop("knn.advanced.approximate_threshold", 15_000)
        if given.type != "knn_vector" or not 1 <= given.dimension <= 16_000:
            raise Refused(400, "mapper_parsing_exception", "Dimension value must be between 1 and 16000")
        if given.method is None:
            return Vectors(given.dimension, None)
        method = given.method
        if method.name != "hnsw" or method.engine not in ("faiss", "lucene") or method.space_type not in _SPACES:
            raise Refused(400, "mapper_parsing_exception", f"Invalid method [{method.name}] of [{method.engine}]")
        if set(method.parameters) != {"m", "ef_construction"} or not graphs or threshold != 0:
            raise Refused(400, "mapper_parsing_exception", "this stand-in builds a graph of any number of vectors")
        return Vectors(given.dimension, _SPACES[method.space_type])

    def values(self, document: JSON, body: SearchBody) -> JSON:
        """Return what is asked for of `_source`."""
        if isinstance(body.source, bool):
            return {"_source": document} if body.source else {}
        return {"_source": {name: document[name] for name in body.source if name in document}}

    def near(self, index: StandInIndex, body: SearchBody) -> list[tuple[str, float]]:
        """Search a graph by `knn`, or score by a script of either language."""
        if body.knn is not None or body.query is None:
            raise Refused(400, "parsing_exception", "Unknown key for a START_OBJECT in [knn]")
        if "knn" in body.query:
            return _by_knn(index, body.query["knn"])
        script = body.query.get("script_score", {}).get("script", {})
        if script.get("lang") != "knn":
            return scored_by_script(index, body.query, "query_value", _FUNCTIONS, _CALL)
        params = script["params"]
        if script["source"] != "knn_score" or set(params) != {"field", "query_value", "space_type"}:
            raise Refused(400, "script_exception", "Unknown script name")
        if params["space_type"] != "innerproduct":
            raise Refused(400, "script_exception", "this stand-in scores inner products alone by this script")
        how, score = GRAPH_SCORES["product"]
        return [(id, score(value)) for id, value in index.compared(how, params["query_value"])]


def _by_knn(index: StandInIndex, query: JSON) -> list[tuple[str, float]]:
    if set(query) != {"vector"} or index.vectors is None or index.vectors.similarity is None:
        raise Refused(400, "query_shard_exception", "Field 'vector' is not knn_vector type with a graph")
    asked = convert(query["vector"], KnnQuery)
    engine = index.mappings["properties"]["vector"]["method"]["engine"]
    if not 1 <= asked.k <= 10_000:
        raise Refused(400, "parsing_exception", "[knn] requires k to be in the range (0, 10000]")
    if asked.method_parameters is not None and (engine != "faiss" or set(asked.method_parameters) != {"ef_search"}):
        raise Refused(400, "illegal_argument_exception", "Parameter not valid for this engine")
    return by_graph(index, asked.vector, asked.k)
