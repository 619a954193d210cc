"""A stand-in for Vertex AI Vector Search, over gRPC and over REST, built from the client's own generated code.

The paths of the methods, their messages and their HTTP forms are read from the client's transports, so what goes over
the wire is what that client says. What it holds, and how it ranks, is in `vertex_memory`. `VertexServer.faults` breaks
methods by name.
"""

from __future__ import annotations

import importlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

import grpc
from google.longrunning import operations_pb2
from google.protobuf import json_format

from ragassay.plugins.stacks.vertex.client import api
from ragassay.testing.vertex_memory import Memory, Methods, RefusedError

CODES = {
    "INVALID_ARGUMENT": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""HTTP status by gRPC code, as Google's services map them."""

SERVICES = {
    "VectorSearchService": (
        "CreateCollection",
        "GetCollection",
        "ListCollections",
        "CreateIndex",
        "GetIndex",
    ),
    "DataObjectService": ("BatchCreateDataObjects", "BatchUpdateDataObjects"),
    "DataObjectSearchService": (
        "AggregateDataObjects",
        "QueryDataObjects",
        "SearchDataObjects",
        "BatchSearchDataObjects",
    ),
}
"""The methods that are answered; `GetOperation` besides."""


class VertexServer:
    """Both servers over one memory; `grpc` and `rest` are their addresses."""

    def __init__(self, memory: Memory | None = None, *, token: str | None = None) -> None:
        self.memory = memory or Memory()
        self.token = token
        self.faults: dict[str, str | Callable[[Any], Any]] = {}
        """By method: a code to fail with, or what its answer is passed through."""
        self.delay_s = 0.0
        self.calls: list[tuple[str, Any]] = []
        """Every call, with its request."""
        self.methods = Methods(self.memory)
        self._ending = threading.Event()
        self._grpc = grpc.server(ThreadPoolExecutor(8))
        self._grpc.add_generic_rpc_handlers((GrpcDoor(self),))
        self.grpc = f"127.0.0.1:{self._grpc.add_insecure_port('127.0.0.1:0')}"
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Door", (RestDoor,), {"server_of": self}))
        self._http.daemon_threads = True
        self.rest = f"127.0.0.1:{self._http.server_address[1]}"

    def start(self) -> VertexServer:
        """Begin to answer."""
        self._grpc.start()
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self) -> None:
        """Break every connection off, as a killed server does."""
        self._ending.set()
        self._grpc.stop(None)
        self._http.shutdown()
        self._http.server_close()

    def answer(self, method: str, request: Any, authorization: str | None) -> Any:
        """Return the reply of a method, or raise `RefusedError`."""
        self.calls.append((method, request))
        if self.token is not None and authorization != f"Bearer {self.token}":
            raise RefusedError("UNAUTHENTICATED", f"{authorization!r} is no valid credential")
        self._ending.wait(self.delay_s)
        fault = self.faults.get(method)
        if isinstance(fault, str):
            raise RefusedError(fault, f"{method} fails with {fault}")
        reply = getattr(self.methods, re.sub(r"(?<!^)(?=[A-Z])", "_", method).lower())(request)
        return reply if fault is None else fault(reply)


@contextmanager
def serving(memory: Memory | None = None, *, token: str | None = None) -> Iterator[VertexServer]:
    """Give a started server and stop it afterwards."""
    server = VertexServer(memory, token=token).start()
    try:
        yield server
    finally:
        server.stop()


class GrpcDoor:
    """Answers the paths, with the messages, that the client's gRPC transports ask."""

    def __init__(self, server: VertexServer) -> None:
        self._server = server
        self._known: dict[str, tuple[str, Any, Any]] = {}
        for service, methods in SERVICES.items():
            kind = getattr(api, f"{service}Client").get_transport_class("grpc")
            transport = kind(channel=grpc.insecure_channel("127.0.0.1:1"))
            transport._logged_channel, real = self, transport._logged_channel
            transport._stubs.clear()
            for method in (*methods, "GetOperation"):
                self._method = method
                getattr(transport, re.sub(r"(?<!^)(?=[A-Z])", "_", method).lower())
            transport._logged_channel = real
            transport.close()

    def unary_unary(self, path: str, *, request_serializer: Any, response_deserializer: Any) -> None:
        """Take down what a transport would send: a path, and the classes that it writes and reads."""
        made = getattr(request_serializer, "__self__", operations_pb2.GetOperationRequest)
        self._known[path] = (self._method, made, response_deserializer)

    def service(self, details: Any) -> Any:
        """Return the handler of a path."""
        if details.method not in self._known:
            return None
        method, made, _ = self._known[details.method]
        authorization = dict(details.invocation_metadata).get("authorization")

        def handle(request: Any, context: Any) -> Any:
            try:
                return self._server.answer(method, request, authorization)
            except RefusedError as error:
                context.abort(grpc.StatusCode[error.code], str(error))

        read = getattr(made, "deserialize", None) or made.FromString
        return grpc.unary_unary_rpc_method_handler(handle, request_deserializer=read, response_serializer=_bytes)


def _bytes(reply: Any) -> bytes:
    pb: bytes = _pb(reply).SerializeToString()
    return pb


def _pb(reply: Any) -> Any:
    return type(reply).pb(reply) if hasattr(type(reply), "pb") else reply


def _http_forms() -> list[tuple[str, Any, str, str, str]]:
    """Return method, request class, verb, path pattern and body field of every method, from the client's REST code."""
    found = []
    for service, methods in SERVICES.items():
        folder = re.sub(r"(?<!^)(?=[A-Z])", "_", service).lower()
        module = importlib.import_module(f"{api.__name__}.services.{folder}.transports.rest_base")
        base = getattr(module, f"_Base{service}RestTransport")
        for method in (*methods, "GetOperation"):
            form = getattr(base, f"_Base{method}")._get_http_options()[0]
            pattern = re.sub(
                r"\{(\w+)=([^}]*)\}", lambda at: f"(?P<{at[1]}>{at[2].replace('*', '[^/:]+')})", form["uri"]
            )
            made = getattr(api, f"{method}Request", operations_pb2.GetOperationRequest)
            found.append((method, made, form["method"].upper(), pattern, form.get("body", "")))
    return found


class RestDoor(BaseHTTPRequestHandler):
    """Answers the verbs and addresses that the client's REST transports ask."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65_536  # head and body in one packet: the second would wait for the first's acknowledgement
    server_of: ClassVar[VertexServer]
    forms: ClassVar[list[tuple[str, Any, str, str, str]]] = _http_forms()

    def do_GET(self) -> None:
        """Answer a read."""
        self._answer("GET")

    def do_POST(self) -> None:
        """Answer a write or a search."""
        self._answer("POST")

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""

    def _answer(self, verb: str) -> None:
        length = int(self.headers.get("content-length") or 0)
        body, address = self.rfile.read(length).decode() or "{}", urlsplit(self.path)
        try:
            for method, made, wanted, pattern, field in self.forms:
                found = re.fullmatch(pattern, address.path)
                if verb == wanted and found:
                    request = _request(made, body, field, found.groupdict(), address.query)
                    reply = self.server_of.answer(method, request, self.headers.get("authorization"))
                    return self._send(200, json_format.MessageToJson(_pb(reply), use_integers_for_enums=True))
            raise RefusedError("NOT_FOUND", f"{verb} {address.path} is no method")
        except RefusedError as error:
            status = CODES[error.code]
            fault = {"code": status, "message": str(error), "status": error.code}
            return self._send(status, json.dumps({"error": fault}))

    def _send(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _request(made: Any, body: str, field: str, path: Mapping[str, str], query: str) -> Any:
    request = made()
    pb = _pb(request)
    if field:
        json_format.Parse(body, pb if field == "*" else getattr(pb, field))
    json_format.ParseDict({name: value for name, value in parse_qsl(query) if not name.startswith("$")}, pb)
    for name, value in path.items():
        setattr(pb, name, value)
    return request
