"""A stand-in for Pinecone's REST API that stores records and searches them exactly with numpy.

Its replies are made from the models of Pinecone's own client, limits are those of Pinecone's pages of limits. Control
plane and data plane are one server here: an index's host is an address below it. What is not documented is not
imitated: results are exact, and equal scores stand by age.
"""

from __future__ import annotations

import re
import time
from typing import Any, Literal

import msgspec
from pinecone.models.indexes.index import IndexModel, IndexSpec, IndexStatus, ServerlessSpecInfo
from pinecone.models.vectors.responses import (
    DescribeIndexStatsResponse,
    FetchResponse,
    ListItem,
    ListResponse,
    NamespaceSummary,
    QueryResponse,
    UpsertResponse,
)
from pinecone.models.vectors.vector import ScoredVector, Vector

from ragassay.records import JSON
from ragassay.testing.pinecone_search import Query, Record, Refused, found, fresh
from ragassay.testing.rest_server import Answer, Asked, RestServer

KEY = "a-key-of-the-tests"
DEFAULT_NAMESPACE = "__default__"
MAX_REQUEST_BYTES = 2_000_000
MAX_RECORDS = 1000
_CONTROL = re.compile(r"/indexes(?:/([^/]+))?")
_DATA = re.compile(r"/host/([^/]+)(/.+)")
_OPERATIONS = {
    ("POST", "/vectors/upsert"): "upsert",
    ("POST", "/query"): "query",
    ("POST", "/describe_index_stats"): "stats",
    ("GET", "/vectors/list"): "list_ids",
    ("GET", "/vectors/fetch"): "fetch",
}


class Serverless(msgspec.Struct, forbid_unknown_fields=True):
    """Where a serverless index runs."""

    cloud: Literal["aws", "gcp", "azure"]
    region: str


class Spec(msgspec.Struct, forbid_unknown_fields=True):
    """What kind of index is wanted."""

    serverless: Serverless


class Create(msgspec.Struct, forbid_unknown_fields=True):
    """The body that the client builds to make an index."""

    name: str
    metric: Literal["cosine", "euclidean", "dotproduct"]
    spec: Spec
    dimension: int
    vector_type: Literal["dense"] = "dense"
    deletion_protection: Literal["enabled", "disabled"] = "disabled"
    tags: dict[str, str] | None = None


class Upsert(msgspec.Struct, forbid_unknown_fields=True):
    """The body of an upsert."""

    vectors: list[Record]
    namespace: str = DEFAULT_NAMESPACE


class Held:
    """One index: its namespaces, and what was written and is not yet seen."""

    def __init__(self, given: Create, ready_at: float = 0.0) -> None:
        self.given = given
        self.ready_at = ready_at
        self.spaces: dict[str, dict[str, Record]] = {}
        self.pending: list[tuple[float, str, list[Record]]] = []

    def settle(self, now: float) -> None:
        """Let what was written before be seen."""
        while self.pending and self.pending[0][0] <= now:
            _, namespace, records = self.pending.pop(0)
            self.spaces.setdefault(namespace, {}).update({record.id: record for record in records})


class PineconeServer(RestServer):
    """Serves one project at `url`, for `key`; what is made is ready, and what is written seen, `lag_s` later."""

    def __init__(self, *, lag_s: float = 0.0, key: str = KEY) -> None:
        super().__init__()
        self.lag_s = lag_s
        self.indexes: dict[str, Held] = {}
        self._key = key

    def operation(self, asked: Asked) -> str:
        """Return the operation of a path, "unknown" for any other."""
        if data := _DATA.fullmatch(asked.path):
            return _OPERATIONS.get((asked.method, data[2]), "unknown")
        if (control := _CONTROL.fullmatch(asked.path)) is None:
            return "unknown"
        if control[1] is None:
            return {"GET": "list", "POST": "create"}.get(asked.method, "unknown")
        return {"GET": "describe", "DELETE": "delete"}.get(asked.method, "unknown")

    def answered(self, operation: str, asked: Asked) -> Answer:
        """Return the client's model of the answer as JSON, or a refusal."""
        try:
            if asked.headers.get("api-key") != self._key:
                raise Refused(401, "UNAUTHENTICATED", "Invalid API Key")
            if not asked.headers.get("x-pinecone-api-version"):
                raise Refused(400, "INVALID_ARGUMENT", "no version of the API in the request")
            for index in self.indexes.values():
                index.settle(time.monotonic())
            if operation in ("list", "create", "describe", "delete"):
                return self._control(operation, asked)
            data = _DATA.fullmatch(asked.path)
            if data is None or operation == "unknown" or data[1] not in self.indexes:
                raise Refused(404, "NOT_FOUND", "no such path or index")
            return Answer(body=_plain(self._data(operation, asked, self.indexes[data[1]])))
        except Refused as refused:
            return refused.answer

    def _control(self, operation: str, asked: Asked) -> Answer:
        if operation == "list":
            return Answer(body={"indexes": [_plain(self._model(index, asked)) for index in self.indexes.values()]})
        if operation == "create":
            given = fresh(asked, Create)
            if given.name in self.indexes:
                raise Refused(409, "ALREADY_EXISTS", f"Resource {given.name} already exists")
            if not 1 <= given.dimension <= 20_000 or not re.fullmatch("[a-z0-9-]{1,45}", given.name):
                raise Refused(400, "INVALID_ARGUMENT", "dimension or name out of range")
            self.indexes[given.name] = Held(given, time.monotonic() + self.lag_s)
            return Answer(status=201, body=_plain(self._model(self.indexes[given.name], asked)))
        name = asked.path.rpartition("/")[2]
        if name not in self.indexes:
            raise Refused(404, "NOT_FOUND", f"Resource {name} not found")
        if operation == "delete":
            del self.indexes[name]
            return Answer(status=202, raw=b"")
        return Answer(body=_plain(self._model(self.indexes[name], asked)))

    def _model(self, index: Held, asked: Asked) -> IndexModel:
        given, ready = index.given, time.monotonic() >= index.ready_at
        return IndexModel(
            name=given.name,
            metric=given.metric,
            dimension=given.dimension,
            tags=given.tags,
            host=f"http://{asked.headers['host']}/host/{given.name}",
            status=IndexStatus(ready=ready, state="Ready" if ready else "Initializing"),
            spec=IndexSpec(
                serverless=ServerlessSpecInfo(cloud=given.spec.serverless.cloud, region=given.spec.serverless.region)
            ),
        )

    def _data(self, operation: str, asked: Asked, index: Held) -> Any:
        if operation == "stats":
            counts = {name: NamespaceSummary(vector_count=len(space)) for name, space in index.spaces.items() if space}
            total = sum(summary.vector_count for summary in counts.values())
            given = index.given
            return DescribeIndexStatsResponse(
                namespaces=counts, dimension=given.dimension, total_vector_count=total, metric=given.metric
            )
        if operation == "upsert":
            return self._upserted(asked, index)
        if operation == "query":
            query = fresh(asked, Query)
            records = index.spaces.get(query.namespace or DEFAULT_NAMESPACE, {})
            scored = found(list(records.values()), index.given.metric, index.given.dimension, query)
            return QueryResponse(
                matches=[ScoredVector(id=record.id, score=score) for record, score in scored], namespace=query.namespace
            )
        namespace = asked.query.get("namespace") or DEFAULT_NAMESPACE
        records = index.spaces.get(namespace, {})
        if operation == "list_ids":
            names = sorted(records)[: int(asked.query.get("limit", "100"))]
            return ListResponse(vectors=[ListItem(id=name) for name in names], namespace=namespace)
        wanted = [records[name] for name in (asked.query.get("ids"),) if name in records]
        vectors = {one.id: Vector(id=one.id, values=one.values, metadata=one.metadata) for one in wanted}
        return FetchResponse(vectors=vectors, namespace=namespace)

    def _upserted(self, asked: Asked, index: Held) -> UpsertResponse:
        if len(asked.raw) > MAX_REQUEST_BYTES:
            raise Refused(413, "INVALID_ARGUMENT", f"a request of {len(asked.raw)} bytes; {MAX_REQUEST_BYTES} is most")
        given = fresh(asked, Upsert)
        if not 1 <= len(given.vectors) <= MAX_RECORDS:
            raise Refused(400, "INVALID_ARGUMENT", f"{len(given.vectors)} records; {MAX_RECORDS} is most")
        for record in given.vectors:
            record.check(index.given.dimension)
        index.pending.append((time.monotonic() + self.lag_s, given.namespace, given.vectors))
        return UpsertResponse(upserted_count=len(given.vectors))


def _plain(model: Any) -> JSON:
    """Return a model of the client as the JSON that it reads, without what is not set."""
    plain: JSON = _without_none(msgspec.to_builtins(model))
    return plain


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(one) for key, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, list) else value
