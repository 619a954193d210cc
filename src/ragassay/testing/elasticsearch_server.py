"""A stand-in for Elasticsearch; see `elastic_server` for what it shares with the one for OpenSearch.

What is said of vectors is that of Elastic's reference of `dense_vector`, of the kNN search and of `script_score`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from ragassay.records import JSON
from ragassay.testing.elastic_index import Refused, StandInIndex, Vectors
from ragassay.testing.elastic_server import (
    ElasticServer,
    SearchBody,
    authorization,
    by_graph,
    convert,
    scored_by_script,
)
from ragassay.testing.rest_server import Asked

_CALL = re.compile(r"(\w+)\(params\.query_vector, 'vector'\)")
_FUNCTIONS = {"cosineSimilarity": "cosine", "dotProduct": "product", "l2norm": "l2"}
_SIMILARITIES = {"cosine": "cosine", "max_inner_product": "product", "l2_norm": "l2"}


class DenseVector(msgspec.Struct, forbid_unknown_fields=True):
    """A field of type `dense_vector`."""

    type: str
    dims: int
    index: bool = True
    similarity: str | None = None
    index_options: JSON | None = None


class HnswOptions(msgspec.Struct, forbid_unknown_fields=True):
    """`index_options` of a graph."""

    type: str
    m: int = 16
    ef_construction: int = 100


class Knn(msgspec.Struct, forbid_unknown_fields=True):
    """The option `knn` of a search."""

    field: str
    query_vector: list[float]
    k: int
    num_candidates: int


class ElasticsearchServer(ElasticServer):
    """Elasticsearch 9: it answers only who speaks its media type of version 9, and names itself in a header."""

    version: ClassVar[JSON] = {"number": "9.1.2", "build_flavor": "default", "lucene_version": "10.2.2"}  # type: ignore[misc]

    def __init__(self, *, key: str | None = None, user: tuple[str, str] | None = None) -> None:
        super().__init__()
        self.authorization = authorization(user) if user else f"ApiKey {key}" if key else None
        self.product = "Elasticsearch"
        self.speaks = 9

    def headers(self) -> Mapping[str, str]:
        """Return the product's header and its media type."""
        media = f"application/vnd.elasticsearch+json;compatible-with={self.speaks}"
        return {"Content-Type": media, **({"X-Elastic-Product": self.product} if self.product else {})}

    def let_in(self, asked: Asked) -> None:
        """Ask for the media type besides."""
        if f"compatible-with={self.speaks}" not in asked.headers.get("accept", ""):
            raise Refused(
                400, "media_type_header_exception", f"Invalid media-type value on headers [Accept]: {self.speaks}"
            )
        super().let_in(asked)

    def vectors(self, field: JSON, settings: JSON) -> Vectors:
        """Read a `dense_vector`."""
        given = convert(field, DenseVector)
        if given.type != "dense_vector" or not 1 <= given.dims <= 4096:
            raise Refused(400, "mapper_parsing_exception", "The number of dimensions should be in the range [1, 4096]")
        if not given.index:
            if given.similarity is not None or given.index_options is not None:
                raise Refused(400, "mapper_parsing_exception", "can only be specified for indexed vectors")
            return Vectors(given.dims, None)
        if given.similarity not in _SIMILARITIES:
            raise Refused(400, "mapper_parsing_exception", f"Unknown value [{given.similarity}] for field [similarity]")
        options = convert(given.index_options, HnswOptions)
        if options.type != "hnsw" or not 2 <= options.m <= 512 or not 2 <= options.ef_construction <= 3200:
            raise Refused(400, "mapper_parsing_exception", "index_options out of range")
        return Vectors(given.dims, _SIMILARITIES[given.similarity])

    def values(self, document: JSON, body: SearchBody) -> JSON:
        """Return fields, each value in a list; `_source` as from version 9.2 on, without the vectors."""
        found: JSON = {}
        if body.fields is not None:
            values = {name: document[name] for name in body.fields if name in document}
            found["fields"] = {name: one if isinstance(one, list) else [one] for name, one in values.items()}
        if body.source is not False:
            found["_source"] = {name: one for name, one in document.items() if name != "vector"}
        return found

    def near(self, index: StandInIndex, body: SearchBody) -> list[tuple[str, float]]:
        """Search a graph by `knn`, or score by script."""
        if body.knn is None:
            return scored_by_script(index, body.query, "query_vector", _FUNCTIONS, _CALL)
        asked = convert(body.knn, Knn)
        if index.vectors is None or index.vectors.similarity is None or asked.field != "vector":
            raise Refused(400, "illegal_argument_exception", "to perform knn search its mapping must have [index] true")
        if not 1 <= asked.k <= asked.num_candidates <= 10_000:
            raise Refused(400, "illegal_argument_exception", "[num_candidates] cannot be less than [k]")
        return by_graph(index, asked.query_vector, asked.k)
