"""A local server that speaks Weaviate's REST and gRPC, for its own client; faults can be switched on.

gRPC requests and replies are the messages that the client brings, generated from Weaviate's `.proto` files; the REST
paths, and what a collection's definition holds, are those of Weaviate's OpenAPI document (`openapi-specs/schema.json`)
as far as the client reads them. What it does with them is in `weaviate_search.py`. It is no Weaviate: it compares with
every vector whatever the index is, and answers what is not documented with an error.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import grpc
import msgspec
import numpy as np

from ragassay.records import JSON
from ragassay.testing.rest_server import Answer, Asked, RestServer
from ragassay.testing.weaviate_search import Collection, Ranked

with warnings.catch_warnings():  # imported, the client sets the whole process's filter to show every warning
    from weaviate.proto.v1 import aggregate_pb2, base_pb2, base_search_pb2, batch_pb2, search_get_pb2, weaviate_pb2_grpc

VERSION = "1.38.2"
MAX_RESULTS = 10_000
_SCHEMA = re.compile(r"/v1/schema(?:/([^/]+)(/shards)?)?")
_NAME = re.compile(r"[A-Z][_0-9A-Za-z]*")
_REFUSED_KEY = "unauthorized: invalid api key: invalid api key, please provide a valid api key"
_INDEX_DEFAULTS: dict[str, JSON] = {
    "flat": {"vectorCacheMaxObjects": 1_000_000_000_000},
    "hnsw": {"cleanupIntervalSeconds": 300, "filterStrategy": "acorn", "flatSearchCutoff": 40_000, "skip": False},
}
_QUANTIZERS: JSON = {kind: {"enabled": False} for kind in ("rq", "pq", "bq", "sq")}


class GrpcFault(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong with a gRPC method: an error, a changed reply, a late one; `times` is how often, 0 for always."""

    code: str = ""
    said: str = "switched on"
    changed: Callable[[Any], Any] | None = None
    delay_s: float = 0.0
    times: int = 0


class Refused(Exception):
    """A request that the server does not take."""


class WeaviateServer(RestServer):
    """Serves at `url` and `grpc_port`, for `key` where there is one."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__()
        self.key = key
        self.version = VERSION
        self.collections: dict[str, Collection] = {}
        self.queue = 0
        """How many vectors wait to be indexed; one less each time somebody looks."""
        self.status = "READY"
        """What is said of each shard."""
        self.default_quantizer = ""
        """What a collection is quantised by that does not say otherwise, as after `DEFAULT_QUANTIZATION=rq-8`."""
        self.grpc_port = 0
        self.grpc_faults: dict[str, GrpcFault] = {}
        self.calls: Counter[str] = Counter()
        """How often each gRPC method was asked for."""
        self.metadata: list[dict[str, str]] = []
        """What came beside each gRPC request."""
        self._ending = threading.Event()
        self._grpc: Any = None

    def start(self) -> None:
        """Listen, at the ports of last time where there were any."""
        super().start()
        self._ending.clear()
        self._grpc = grpc.server(ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
        weaviate_pb2_grpc.add_WeaviateServicer_to_server(_Methods(self), self._grpc)
        self.grpc_port = self._grpc.add_insecure_port(f"127.0.0.1:{self.grpc_port}")
        self._grpc.start()

    def stop(self) -> None:
        """Close all connections and listen no more; may be called twice."""
        self._ending.set()
        super().stop()
        if self._grpc is not None:
            self._grpc.stop(0).wait(10)
            self._grpc = None

    # REST

    def operation(self, asked: Asked) -> str:
        """Return the operation of a path, "unknown" for any other."""
        if asked.path == "/v1/meta":
            return "meta"
        if (found := _SCHEMA.fullmatch(asked.path)) is None:
            return "unknown"
        if found[2]:
            return "shards"
        kinds = {("GET", False): "list", ("POST", False): "create", ("GET", True): "class", ("DELETE", True): "delete"}
        return kinds.get((asked.method, bool(found[1])), "unknown")

    def answered(self, operation: str, asked: Asked) -> Answer:
        """Return the answer, or a refusal in the form that Weaviate's errors have."""
        if self.key is not None and asked.headers.get("authorization") != f"Bearer {self.key}":
            return Answer(status=401, body={"code": 401, "message": _REFUSED_KEY})
        if operation == "meta":
            body = {
                "hostname": "http://[::]:8080",
                "version": self.version,
                "modules": {},
                "grpcMaxMessageSize": 104_858_000,
            }
            return Answer(body=body)
        if operation == "list":
            return Answer(body={"classes": [one.definition for one in self.collections.values()]})
        if operation == "create":
            return self._created(msgspec.json.decode(asked.raw))
        found = _SCHEMA.fullmatch(asked.path)
        name = found[1] if found else None
        if operation == "unknown" or name not in self.collections:
            return Answer(status=404, raw=b"")
        if operation == "delete":
            del self.collections[name]
            return Answer(raw=b"")
        if operation == "shards":
            waiting, self.queue = self.queue, max(0, self.queue - 1)
            state = "INDEXING" if waiting else self.status
            return Answer(body=[{"name": "shard0", "status": state, "vectorQueueSize": waiting}])
        return Answer(body=self.collections[name].definition)

    def _created(self, given: JSON) -> Answer:
        name = str(given.get("class"))
        if name in self.collections or not _NAME.fullmatch(name):
            said = (
                f"class name {name} already exists"
                if name in self.collections
                else f"'{name}' is not a valid class name"
            )
            return Answer(status=422, body={"error": [{"message": said}]})
        for vector in given["vectorConfig"].values():
            index = vector["vectorIndexConfig"]
            quantizers = msgspec.json.decode(msgspec.json.encode(_QUANTIZERS))
            if self.default_quantizer and not index.get("skipDefaultQuantization"):
                quantizers[self.default_quantizer] = {"enabled": True}
            vector["vectorIndexConfig"] = {**_INDEX_DEFAULTS[vector["vectorIndexType"]], **quantizers, **index}
        given["invertedIndexConfig"] = {"cleanupIntervalSeconds": 60, **given["invertedIndexConfig"]}
        self.collections[name] = Collection(given)
        return Answer(body=given)

    # gRPC

    def grpc_answer(self, method: str, request: Any, metadata: dict[str, str]) -> Any:
        """Return the reply of a gRPC method; raises `Refused`, and `_Failed` for a fault."""
        self.calls[method] += 1
        self.metadata.append(metadata)
        fault = self._grpc_fault(method)
        self._ending.wait(fault.delay_s)
        if fault.code:
            raise _Failed(fault)
        if self.key is not None and metadata.get("authorization") != f"Bearer {self.key}":
            raise Refused(f"extract auth: {_REFUSED_KEY}")
        reply = {"Search": self._search, "BatchObjects": self._batch, "Aggregate": self._aggregate}[method](request)
        return reply if fault.changed is None else fault.changed(reply)

    def _grpc_fault(self, method: str) -> GrpcFault:
        fault = self.grpc_faults.get(method, GrpcFault())
        return GrpcFault() if fault.times and self.calls[method] > fault.times else fault

    def _named(self, name: str) -> Collection:
        if name not in self.collections:
            raise Refused(f"could not find class {name} in schema")
        return self.collections[name]

    def _aggregate(self, request: Any) -> Any:
        count = len(self._named(request.collection).objects) if request.objects_count else None
        return aggregate_pb2.AggregateReply(single_result=aggregate_pb2.AggregateReply.Single(objects_count=count))

    def _batch(self, request: Any) -> Any:
        errors = []
        for at, one in enumerate(request.objects):
            try:
                self._store(one)
            except Refused as refused:
                errors.append(batch_pb2.BatchObjectsReply.BatchError(index=at, error=str(refused)))
        return batch_pb2.BatchObjectsReply(took=0.001, errors=errors)

    def _store(self, one: Any) -> None:
        collection = self._named(one.collection)
        id = str(UUID(one.uuid))
        for vector in one.vectors:
            if vector.name not in collection.vector_names():
                raise Refused(f"vector {vector.name} is not configured")
            row = np.frombuffer(vector.vector_bytes, dtype="<f4")
            self._check_length(collection, row)
            collection.vectors[id] = row
        text = one.properties.non_ref_properties
        collection.objects[id] = text["text"] if "text" in text.fields else ""

    def _search(self, request: Any) -> Any:
        collection = self._named(request.collection)
        if not 0 < request.limit <= MAX_RESULTS:
            raise Refused(f"explorer: list class: query maximum results exceeded: {request.limit}")
        if request.HasField("filters"):
            return self._read_back(collection, request)
        kind, found = self._found(collection, request)
        results = []
        for id, value in found:
            metadata = search_get_pb2.MetadataResult(id=id, id_as_bytes=UUID(id).bytes)
            if getattr(request.metadata, kind):
                setattr(metadata, kind, value)
                setattr(metadata, f"{kind}_present", True)
            results.append(search_get_pb2.SearchResult(metadata=metadata))
        return search_get_pb2.SearchReply(took=0.001, results=results)

    def _read_back(self, collection: Collection, request: Any) -> Any:
        """Return objects by their ids, with the vectors and the properties that are asked for."""
        any_of = request.filters.filters or [request.filters]
        if any(one.operator != base_pb2.Filters.OPERATOR_EQUAL or one.target.property != "_id" for one in any_of):
            raise Refused("this filter is none that the stand-in knows")
        results = []
        for id in (one.value_text for one in any_of if one.value_text in collection.objects):
            metadata = search_get_pb2.MetadataResult(id=id, id_as_bytes=UUID(id).bytes)
            if id in collection.vectors:
                for name in request.metadata.vectors:
                    row = collection.vectors[id].astype("<f4").tobytes()
                    metadata.vectors.append(base_pb2.Vectors(name=name, vector_bytes=row))
            held = search_get_pb2.PropertiesResult(target_collection=collection.name)
            for name in request.properties.non_ref_properties:
                held.non_ref_props.fields[name].text_value = collection.objects[id]
            results.append(search_get_pb2.SearchResult(metadata=metadata, properties=held))
        return search_get_pb2.SearchReply(took=0.001, results=results[: request.limit])

    def _found(self, collection: Collection, request: Any) -> tuple[str, Ranked]:
        if request.HasField("near_vector"):
            return "distance", collection.nearest(self._vector(collection, request.near_vector), request.limit)
        if request.HasField("bm25_search"):
            self._check_properties(collection, request.bm25_search.properties)
            return "score", collection.matching(request.bm25_search.query, request.limit)
        hybrid = request.hybrid_search
        if (
            not request.HasField("hybrid_search")
            or hybrid.fusion_type == base_search_pb2.Hybrid.FUSION_TYPE_UNSPECIFIED
        ):
            raise Refused("this search is none that the stand-in knows")
        self._check_properties(collection, hybrid.properties)
        alpha = hybrid.alpha_param if hybrid.use_alpha_param else hybrid.alpha
        ranked = hybrid.fusion_type == base_search_pb2.Hybrid.FUSION_TYPE_RANKED
        return "score", collection.fused(hybrid.query, self._vector(collection, hybrid), alpha, ranked, request.limit)

    def _vector(self, collection: Collection, asked: Any) -> Any:
        if list(asked.targets.target_vectors) != collection.vector_names():
            raise Refused(
                f"class {collection.name} does not have the target vector {list(asked.targets.target_vectors)}"
            )
        row = np.frombuffer(asked.vector_bytes or asked.vectors[0].vector_bytes, dtype="<f4")
        self._check_length(collection, row)
        return row

    def _check_length(self, collection: Collection, row: Any) -> None:
        if (there := collection.dimension()) is not None and there != len(row):
            raise Refused(f"vector lengths don't match: {there} vs {len(row)}")

    def _check_properties(self, collection: Collection, asked: Any) -> None:
        if list(asked) != [prop["name"] for prop in collection.definition.get("properties") or []]:
            raise Refused(f"no such property with name {list(asked)} found in class {collection.name}")


class _Failed(Exception):
    """A fault that was switched on."""

    def __init__(self, fault: GrpcFault) -> None:
        self.fault = fault
        super().__init__(fault.said)


class _Methods(weaviate_pb2_grpc.WeaviateServicer):  # type: ignore[misc]
    """The generated service, answered by the server."""

    def __init__(self, server: WeaviateServer) -> None:
        self._server = server

    def Search(self, request: Any, context: Any) -> Any:
        """Return what was found."""
        return self._answered("Search", request, context)

    def BatchObjects(self, request: Any, context: Any) -> Any:
        """Return what was refused of a batch."""
        return self._answered("BatchObjects", request, context)

    def Aggregate(self, request: Any, context: Any) -> Any:
        """Return a count."""
        return self._answered("Aggregate", request, context)

    def _answered(self, method: str, request: Any, context: Any) -> Any:
        try:
            return self._server.grpc_answer(method, request, dict(context.invocation_metadata()))
        except _Failed as failed:
            context.abort(getattr(grpc.StatusCode, failed.fault.code), failed.fault.said)
        except Refused as refused:  # Weaviate gives most of its own errors no other code
            context.abort(grpc.StatusCode.UNKNOWN, str(refused))
