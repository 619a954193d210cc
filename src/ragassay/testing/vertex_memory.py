"""What the stand-in for Vertex AI Vector Search holds, and how it ranks: plainly; how the service does is unknown.

- A vector search compares with every vector; the distance of a dot product is the product, of a cosine `1 - cosine`.
- A semantic search does the same with the word counts of `WordEmbedder`.
- A text search finds what holds every word of the query, or of one of its parts, and counts those words.
- Reciprocal rank fusion is `sum(weight / (60 + rank))`; the service's ranker counts shared words.

Equal hits come in an order of their own, by the digest of their ids.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from google.longrunning import operations_pb2

from ragassay.plugins.stacks.vertex.client import api
from ragassay.testing.fake_embedder import WordEmbedder


class RefusedError(Exception):
    """A method answers with an error of this code."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class Memory:
    """What a project holds; outlives the servers over it."""

    def __init__(self) -> None:
        self.collections: dict[str, Any] = {}
        self.objects: dict[str, dict[str, Any]] = {}
        self.indexes: dict[str, Any] = {}
        self.operations: dict[str, tuple[int, Callable[[], None]]] = {}


class Methods:
    """The methods themselves: a request in, a reply out."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.page = 1000
        """Hits, data objects or collections per page, at most."""
        self.polls = 1
        """How often a long-running operation is not done yet."""
        self.cosine: Callable[[float], float] = lambda similarity: 1 - similarity
        """What the distance of a cosine similarity is."""

    def create_collection(self, request: Any) -> Any:
        """Begin an operation after which the collection is there."""
        name = f"{request.parent}/collections/{request.collection_id}"
        if not re.fullmatch(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?", request.collection_id):
            raise RefusedError("INVALID_ARGUMENT", f"{request.collection_id!r} is no valid id")
        if name in self._memory.collections:
            raise RefusedError("ALREADY_EXISTS", f"{name} exists")
        made = request.collection
        made.name = name

        def make() -> None:
            self._memory.collections[name] = made
            self._memory.objects[name] = {}

        return self._begun(request.parent, make)

    def get_collection(self, request: Any) -> Any:
        """Return one collection."""
        return self._there(self._memory.collections, request.name)

    def list_collections(self, request: Any) -> Any:
        """Return one page of the collections."""
        names = [name for name in sorted(self._memory.collections) if name.startswith(f"{request.parent}/")]
        shown, token = self._paged(names, request.page_token)
        found = [self._memory.collections[name] for name in shown]
        return api.ListCollectionsResponse(collections=found, next_page_token=token)

    def create_index(self, request: Any) -> Any:
        """Begin an operation after which the index is there."""
        name, made = f"{request.parent}/indexes/{request.index_id}", request.index
        if name in self._memory.indexes:
            raise RefusedError("ALREADY_EXISTS", f"{name} exists")
        made.name = name
        return self._begun(
            request.parent.partition("/collections/")[0], lambda: self._memory.indexes.update({name: made})
        )

    def get_index(self, request: Any) -> Any:
        """Return one index."""
        return self._there(self._memory.indexes, request.name)

    def get_operation(self, request: Any) -> Any:
        """Return an operation, done after `polls` questions."""
        left, then = self._there(self._memory.operations, request.name)
        self._memory.operations[request.name] = (left - 1, then)
        if left <= 0:
            then()
        return operations_pb2.Operation(name=request.name, done=left <= 0)

    def batch_create_data_objects(self, request: Any) -> Any:
        """Take all objects, or none where one is there already."""
        there = self._there(self._memory.objects, request.parent)
        if len(request.requests) > 1000:
            raise RefusedError("INVALID_ARGUMENT", "at most 1000 data objects at once")
        taken = [one.data_object_id for one in request.requests if one.data_object_id in there]
        if taken:
            raise RefusedError("ALREADY_EXISTS", f"{taken[0]} exists")
        self._put(request.parent, {one.data_object_id: one.data_object for one in request.requests})
        return api.BatchCreateDataObjectsResponse()

    def batch_update_data_objects(self, request: Any) -> Any:
        """Replace objects that are there."""
        there = self._there(self._memory.objects, request.parent)
        changed = {one.data_object.name.rpartition("/")[2]: one.data_object for one in request.requests}
        for id in changed:
            self._there(there, id)
        self._put(request.parent, changed)
        return api.BatchUpdateDataObjectsResponse()

    def aggregate_data_objects(self, request: Any) -> Any:
        """Count."""
        reply = api.AggregateDataObjectsResponse()
        count = len(self._there(self._memory.objects, request.parent))
        type(reply).pb(reply).aggregate_results.add().update({"count": count})
        return reply

    def query_data_objects(self, request: Any) -> Any:
        """Return one page of the data objects."""
        there = self._there(self._memory.objects, request.parent)
        shown, token = self._paged(sorted(there), request.page_token)
        return api.QueryDataObjectsResponse(data_objects=[there[id] for id in shown], next_page_token=token)

    def search_data_objects(self, request: Any) -> Any:
        """Return one page of one search."""
        ranked = self._ranked(request.parent, request)
        shown, token = self._paged(ranked, request.page_token)
        return self._response(request.parent, shown, token, self._index_of(request))

    def batch_search_data_objects(self, request: Any) -> Any:
        """Return several searches as one list, by reciprocal rank fusion and then by the service's ranker."""
        ranker = request.combine.ranker
        fused: dict[str, float] = {}
        for weight, search in zip(ranker.rrf.weights, request.searches, strict=True):
            for rank, (id, _) in enumerate(self._ranked(request.parent, search), 1):
                fused[id] = fused.get(id, 0.0) + weight / (60 + rank)
        ranked = _best_first(fused)
        if ranker.vertex_ranker.model:
            query = ranker.vertex_ranker.text_record_spec.query
            there = self._memory.objects[request.parent]
            first = [id for id, _ in ranked[: ranker.vertex_ranker.top_n]]
            ranked = _best_first({id: float(_shared(query, there[id].data["text"])) for id in first})
        shown = ranked[: request.combine.top_k]
        return api.BatchSearchDataObjectsResponse(results=[self._response(request.parent, shown, "", None)])

    def _begun(self, parent: str, then: Callable[[], None]) -> Any:
        name = f"{parent}/operations/{len(self._memory.operations)}"
        self._memory.operations[name] = (self.polls, then)
        return operations_pb2.Operation(name=name)

    def _there(self, folder: Mapping[str, Any], name: str) -> Any:
        if name not in folder:
            raise RefusedError("NOT_FOUND", f"{name} is not there")
        return folder[name]

    def _put(self, parent: str, objects: Mapping[str, Any]) -> None:
        for field, schema in self._there(self._memory.collections, parent).vector_schema.items():
            for id, one in objects.items():
                if schema.dense_vector.vertex_embedding_config.model_id and field not in one.vectors:
                    values = WordEmbedder().embed([one.data["text"]], "document")[0].tolist()
                    one.vectors[field] = api.Vector(dense=api.DenseVector(values=values))
                elif len(one.vectors[field].dense.values) != schema.dense_vector.dimensions:
                    raise RefusedError("INVALID_ARGUMENT", f"{id}: {field} has another dimension than the schema")
        for id, one in objects.items():
            one.name = f"{parent}/dataObjects/{id}"
        self._memory.objects[parent].update(objects)

    def _paged(self, found: list[Any], token: str) -> tuple[list[Any], str]:
        start = int(token or 0)
        end = start + self.page
        return found[start:end], str(end) if end < len(found) else ""

    def _ranked(self, parent: str, request: Any) -> list[tuple[str, float | None]]:
        there = self._there(self._memory.objects, parent)
        kind = type(request).pb(request).WhichOneof("search_type")
        search = getattr(request, kind)
        kept = {id: one for id, one in there.items() if _passes(dict(search.filter or {}), one.data)}
        if kind == "text_search":
            return list(_best_first(_matches(search, kept))[: search.top_k])
        asked = (
            np.array(search.vector.values)
            if kind == "vector_search"
            else WordEmbedder().embed([search.search_text], "query")[0]
        )
        schema = self._memory.collections[parent].vector_schema[search.search_field].dense_vector
        if kind == "vector_search" and len(asked) != schema.dimensions:
            raise RefusedError("INVALID_ARGUMENT", f"{len(asked)} numbers, and {schema.dimensions} are wanted")
        cosine = kind == "vector_search" and search.distance_metric == api.DistanceMetric.COSINE_DISTANCE
        near = {
            id: _near(asked, np.array(one.vectors[search.search_field].dense.values), cosine)
            for id, one in kept.items()
        }
        ranked = _best_first(near)[: search.top_k]
        return [(id, self.cosine(one) if cosine else one) for id, one in ranked]

    def _index_of(self, request: Any) -> str | None:
        search = request.vector_search if "vector_search" in request else request.semantic_search
        name = search.search_hint.index_hint.name
        return self._there(self._memory.indexes, name).name if name else None

    def _response(self, parent: str, shown: list[Any], token: str, index: str | None) -> Any:
        there = self._memory.objects[parent]
        about = {"used_knn": True} if index is None else {"used_index": {"name": index}}
        return api.SearchDataObjectsResponse(
            results=[api.SearchResult(data_object=there[id], distance=distance) for id, distance in shown],
            next_page_token=token,
            search_response_metadata=about,
        )


def _best_first(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda one: (-one[1], hashlib.sha256(one[0].encode()).digest()))


def _near(one: Any, other: Any, cosine: bool) -> float:
    norm = float(np.linalg.norm(one) * np.linalg.norm(other)) if cosine else 1.0
    return float(one @ other) / norm if norm else 0.0


def _shared(query: str, text: str) -> int:
    held = set(re.findall(r"\w+", text.lower()))
    return sum(word in held for word in set(re.findall(r"\w+", query.lower())))


def _matches(search: Any, objects: Mapping[str, Any]) -> dict[str, float]:
    """Return how many words of the query each object shares, for those that match it."""
    query, leaves = search.structured_query, [search.search_text]
    if query:
        leaves = [one.text.text for one in query.combine.sub_queries] or [query.text.text]
    found = {}
    for id, one in objects.items():
        shared = [(_shared(leaf, one.data["text"]), len(set(re.findall(r"\w+", leaf.lower())))) for leaf in leaves]
        if any(hits == words > 0 for hits, words in shared):
            found[id] = float(sum(hits for hits, words in shared if hits == words))
    return found


def _passes(filter: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
    for field, condition in filter.items():
        if field == "$and":
            if not all(_passes(one, data) for one in condition):
                return False
        elif ("$eq" in condition and data.get(field) != condition["$eq"]) or (
            "$in" in condition and data.get(field) not in condition["$in"]
        ):
            return False
    return True
