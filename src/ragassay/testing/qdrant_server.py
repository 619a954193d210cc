"""A local server that speaks Qdrant's REST and gRPC, built from the client's own types; faults can be switched on.

`with QdrantServer() as server:` serves `server.url` and `server.grpc_port`; requests are parsed into the client's
models, replies made of them. What it does with them is in `qdrant_service.py`. It is no Qdrant: it shows that the
client and this stack understand each other, and how the stack takes errors.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import grpc
import msgspec
from aiohttp import web
from pydantic import ValidationError
from qdrant_client import grpc as wire
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc
from qdrant_client.http import models

from ragassay.testing.qdrant_service import Refused, Service

_CODES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    404: grpc.StatusCode.NOT_FOUND,
    409: grpc.StatusCode.ALREADY_EXISTS,
    422: grpc.StatusCode.INVALID_ARGUMENT,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    500: grpc.StatusCode.INTERNAL,
    503: grpc.StatusCode.UNAVAILABLE,
}
_LARGEST = 32 * 1024 * 1024
"""Bytes of one REST request that a server takes as it comes."""

_COLLECTION = re.compile(r"/collections/(?P<name>[^/]+)(?P<rest>/points(/count|/query)?)?")


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong with one kind of request, from the call after `after` on."""

    after: int = 0
    status: int = 0
    """The HTTP status of the answer; over gRPC the code that stands for it. 0 for none."""
    said: str = "switched on"
    delay_s: float = 0.0
    cut: bool = False
    """Whether the connection ends after half of the answer; REST alone."""


class QdrantServer:
    """Serves until the block ends. `faults` are by kind: root, list, create, update, describe, upsert, read, count,
    query.
    """

    def __init__(self, *, api_key: str | None = None) -> None:
        self.service = Service()
        self.faults: dict[str, Fault] = {}
        self.calls: Counter[str] = Counter()
        """How often each kind was asked for, over either protocol."""
        self.url = ""
        self.grpc_port = 0
        self._api_key = api_key
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="qdrant-stand-in", daemon=True)
        self._pool = ThreadPoolExecutor(8)
        self._ending = threading.Event()
        self._runner: web.ServerRunner | None = None
        self._grpc: Any = None

    def __enter__(self) -> Self:
        self._thread.start()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self._pool.shutdown()
        self.service.close()

    def start(self) -> None:
        """Listen; again on the same ports after `stop`. The collections are those that were there."""
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        self._grpc = grpc.server(ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
        self._grpc.add_generic_rpc_handlers(tuple(self._handlers()))
        self.grpc_port = self._grpc.add_insecure_port(f"127.0.0.1:{self.grpc_port}")
        self._grpc.start()

    def stop(self) -> None:
        """Take no request any more."""
        if self._runner is not None:
            asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
            self._grpc.stop(0).wait(10)
            self._runner = None

    async def _listen(self) -> None:
        def request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
            return web.BaseRequest(message, payload, protocol, writer, task, self._loop, client_max_size=_LARGEST)

        serving = web.Server(self._answer, request_factory=request, access_log=None)
        self._runner = web.ServerRunner(serving, shutdown_timeout=0.1)
        await self._runner.setup()
        port = int(self.url.rpartition(":")[2]) if self.url else 0
        await web.TCPSite(self._runner, "127.0.0.1", port, reuse_address=True).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    def _asked(self, kind: str, key: str | None) -> Fault | None:
        """Count a request, and refuse it or hold it up where a fault says so."""
        self.calls[kind] += 1
        if self._api_key is not None and key != self._api_key:
            raise Refused(401, f"Must provide an API key or an Authorization bearer token, not {key}")
        fault = self.faults.get(kind)
        if fault is None or self.calls[kind] <= fault.after:
            return None
        self._ending.wait(fault.delay_s)
        if fault.status:
            raise Refused(fault.status, fault.said)
        return fault

    # REST

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        status, data, cut = await self._loop.run_in_executor(self._pool, self._rest, request, body)
        if not cut:
            return web.Response(status=status, body=data, content_type="application/json")
        response = web.StreamResponse(status=status, headers={"Content-Length": str(len(data))})
        await response.prepare(request)
        await response.write(data[: len(data) // 2])
        if request.transport is not None:
            request.transport.abort()
        return response

    def _rest(self, request: web.BaseRequest, body: bytes) -> tuple[int, bytes, bool]:
        try:
            kind, answer = self._route(request.method, request.path, body)
            fault = self._asked(kind, request.headers.get("api-key"))
            reply = answer()
        except Refused as error:
            said = models.ErrorResponse(time=0.0, status=models.ErrorResponseStatus(error=error.said))
            return error.status, _encoded(said), False
        except ValidationError as error:
            said = models.ErrorResponse(time=0.0, status=models.ErrorResponseStatus(error=f"Format error: {error}"))
            return 400, _encoded(said), False
        return 200, reply, fault is not None and fault.cut

    def _route(self, method: str, path: str, body: bytes) -> tuple[str, Callable[[], bytes]]:
        service = self.service
        if (method, path) == ("GET", "/"):
            return "root", lambda: _encoded(service.info())
        if (method, path) == ("GET", "/collections"):
            return "list", lambda: _enveloped(service.names())
        found = _COLLECTION.fullmatch(path)
        asked = (method, found["rest"] or "") if found else ("", "")
        if found is None or asked not in _REST:
            raise Refused(404, "Not found")
        kind, parse = _REST[asked]
        given = parse.model_validate_json(body) if parse else None
        return kind, lambda: _enveloped(_done(service, kind, found["name"], given))

    # gRPC

    def _handlers(self) -> list[Any]:
        by_service: dict[str, dict[str, Any]] = {}
        for (name, method), (kind, request, convert, answer) in _GRPC.items():
            by_service.setdefault(name, {})[method] = grpc.unary_unary_rpc_method_handler(
                self._called(kind, convert, answer),
                request_deserializer=request.FromString,
                response_serializer=lambda message: message.SerializeToString(),
            )
        return [grpc.method_handlers_generic_handler(name, methods) for name, methods in by_service.items()]

    def _called(self, kind: str, convert: Callable[[Any], Any], answer: Callable[[Any], Any]) -> Any:
        def call(request: Any, context: Any) -> Any:
            try:
                self._asked(kind, dict(context.invocation_metadata()).get("api-key"))
                name = getattr(request, "collection_name", "")
                return answer(_done(self.service, kind, name, convert(request)))
            except Refused as error:
                context.abort(_CODES[error.status], error.said)

        return call


def _encoded(model: Any) -> bytes:
    return msgspec.json.encode(model.model_dump(mode="json", exclude_none=True))


def _enveloped(result: Any) -> bytes:
    """Return a result as every reply but the root's holds it."""
    if isinstance(result, list):
        plain: Any = [one.model_dump(mode="json", exclude_none=True) for one in result]
    else:
        plain = result if isinstance(result, bool) else result.model_dump(mode="json", exclude_none=True)
    return msgspec.json.encode({"result": plain, "status": "ok", "time": 0.0})


def _done(service: Service, kind: str, name: str, given: Any) -> Any:
    """Return what the service makes of one request."""
    if kind in ("root", "list"):
        return service.info() if kind == "root" else service.names()
    if kind in ("describe", "count"):
        return service.describe(name) if kind == "describe" else service.count(name)
    if kind == "read":
        return service.read(name, given)
    if kind == "upsert":
        return service.upsert(name, given.points)
    done: Callable[[str, Any], Any] = {"create": service.create, "update": service.update, "query": service.query}[kind]
    return done(name, given)


_REST: dict[tuple[str, str], tuple[str, Any]] = {
    ("GET", ""): ("describe", None),
    ("PUT", ""): ("create", models.CreateCollection),
    ("PATCH", ""): ("update", models.UpdateCollection),
    ("PUT", "/points"): ("upsert", models.PointsList),
    ("POST", "/points"): ("read", models.PointRequest),
    ("POST", "/points/count"): ("count", models.CountRequest),
    ("POST", "/points/query"): ("query", models.QueryRequest),
}
"""Method and path behind a collection's name: what is asked, and the model of the request."""


def _to_create(request: Any) -> models.CreateCollection:
    codes = request.quantization_config if request.HasField("quantization_config") else None
    return models.CreateCollection(
        vectors=GrpcToRest.convert_vectors_config(request.vectors_config),
        sparse_vectors=GrpcToRest.convert_sparse_vector_config(request.sparse_vectors_config),
        hnsw_config=GrpcToRest.convert_hnsw_config_diff(request.hnsw_config),
        optimizers_config=GrpcToRest.convert_optimizers_config_diff(request.optimizers_config),
        quantization_config=GrpcToRest.convert_quantization_config(codes) if codes is not None else None,
        metadata=GrpcToRest.convert_payload(request.metadata),
    )


def _to_update(request: Any) -> models.UpdateCollection:
    return models.UpdateCollection(
        optimizers_config=GrpcToRest.convert_optimizers_config_diff(request.optimizers_config)
    )


def _to_points(request: Any) -> models.PointsList:
    return models.PointsList(points=[GrpcToRest.convert_point_struct(point) for point in request.points])


def _to_read(request: Any) -> models.PointRequest:
    return models.PointRequest(
        ids=[GrpcToRest.convert_point_id(one) for one in request.ids],
        with_vector=GrpcToRest.convert_with_vectors_selector(request.with_vectors),
    )


def _to_query(request: Any) -> models.QueryRequest:
    return models.QueryRequest(
        query=GrpcToRest.convert_query(request.query),
        using=request.using if request.HasField("using") else None,
        prefetch=[GrpcToRest.convert_prefetch_query(one) for one in request.prefetch] or None,
        params=GrpcToRest.convert_search_params(request.params) if request.HasField("params") else None,
        limit=request.limit,
    )


_COLLECTIONS, _POINTS = "qdrant.Collections", "qdrant.Points"
_GRPC: dict[tuple[str, str], tuple[str, Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    ("qdrant.Qdrant", "HealthCheck"): (
        "root",
        wire.HealthCheckRequest,
        lambda _: None,
        RestToGrpc.convert_health_check_reply,
    ),
    (_COLLECTIONS, "List"): (
        "list",
        wire.ListCollectionsRequest,
        lambda _: None,
        lambda names: wire.ListCollectionsResponse(
            collections=[wire.CollectionDescription(name=one.name) for one in names.collections]
        ),
    ),
    (_COLLECTIONS, "Get"): (
        "describe",
        wire.GetCollectionInfoRequest,
        lambda _: None,
        lambda info: wire.GetCollectionInfoResponse(result=RestToGrpc.convert_collection_info(info)),
    ),
    (_COLLECTIONS, "Create"): (
        "create",
        wire.CreateCollection,
        _to_create,
        lambda done: wire.CollectionOperationResponse(result=done),
    ),
    (_COLLECTIONS, "Update"): (
        "update",
        wire.UpdateCollection,
        _to_update,
        lambda done: wire.CollectionOperationResponse(result=done),
    ),
    (_POINTS, "Upsert"): (
        "upsert",
        wire.UpsertPoints,
        _to_points,
        lambda done: wire.PointsOperationResponse(result=RestToGrpc.convert_update_result(done)),
    ),
    (_POINTS, "Get"): (
        "read",
        wire.GetPoints,
        _to_read,
        lambda records: wire.GetResponse(result=[RestToGrpc.convert_record(one) for one in records]),
    ),
    (_POINTS, "Count"): (
        "count",
        wire.CountPoints,
        lambda _: None,
        lambda counted: wire.CountResponse(result=wire.CountResult(count=counted.count)),
    ),
    (_POINTS, "Query"): (
        "query",
        wire.QueryPoints,
        _to_query,
        lambda found: wire.QueryResponse(result=[RestToGrpc.convert_scored_point(one) for one in found.points]),
    ),
}
"""Service and method: what is asked, the message of the request, what it is as a model, the model as a message."""
