"""A stand-in for Cloudflare Vectorize's REST API, version 2, that stores vectors and searches them with numpy.

Shapes and names are those of Cloudflare's OpenAPI document (schemas `vectorize_*`), limits those of its page of limits.
The numbers of errors are not in those documents: they are those that users of the service report, and `UNNUMBERED`
where none is known. What is not documented is not imitated: scores are exact under both precisions, and equal scores
stand by age.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from email.message import Message
from typing import Any, Literal

import msgspec
import numpy as np

from ragassay.records import JSON
from ragassay.testing.rest_server import Answer, Asked, RestServer
from ragassay.testing.vectorize_search import UNNUMBERED, Config, Query, Refused, Stored, Vector, found

ACCOUNT = "0123456789abcdef0123456789abcdef"
TOKEN = "a-token-of-the-tests"
PREFIX = "/client/v4"
MAX_UPLOAD_BYTES = 100_000_000
MAX_BATCH = 5000
_PATH = re.compile(rf"{PREFIX}/accounts/([^/]+)/vectorize/v2/indexes(?:/([^/]+)(/[a-z_/]+)?)?")
_OPERATIONS = {
    ("GET", ""): "get",
    ("DELETE", ""): "delete",
    ("GET", "/info"): "info",
    ("POST", "/upsert"): "upsert",
    ("POST", "/insert"): "insert",
    ("POST", "/query"): "query",
    ("POST", "/metadata_index/create"): "create_metadata_index",
    ("GET", "/metadata_index/list"): "list_metadata_indexes",
}


class CreateIndex(msgspec.Struct, forbid_unknown_fields=True):
    """`vectorize_create-index-request`, without presets."""

    config: Config
    name: str
    description: str | None = None


class CreateMetadataIndex(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """`vectorize_create-metadata-index-request`."""

    property_name: str
    index_type: Literal["string", "number", "boolean"]


class Held:
    """One index: its vectors, and the changes that are accepted and not yet made."""

    def __init__(self, given: CreateIndex) -> None:
        self.given = given
        self.vectors: dict[str, Stored] = {}
        self.metadata_indexes: dict[str, str] = {}
        self.pending: list[tuple[float, str, Callable[[], None]]] = []
        self.processed: str | None = None

    def settle(self, now: float) -> None:
        """Make the changes whose time has come, in their order."""
        while self.pending and self.pending[0][0] <= now:
            _, self.processed, change = self.pending.pop(0)
            change()

    def write(self, vectors: list[Vector], *, over: bool) -> None:
        """Store vectors; of those that are there already, write over them or leave them."""
        for one in vectors:
            if over or one.id not in self.vectors:
                known = {name: (one.metadata or {}).get(name) for name in self.metadata_indexes}
                self.vectors[one.id] = (one, np.asarray(one.values, dtype=np.float32), known)


class VectorizeServer(RestServer):
    """Serves one account at `base_url`, for `token`; a change is made `lag_s` after it was accepted."""

    def __init__(self, *, lag_s: float = 0.0, token: str = TOKEN) -> None:
        super().__init__()
        self._token = token
        self.lag_s = lag_s
        self.indexes: dict[str, Held] = {}
        self._mutations = 0

    @property
    def base_url(self) -> str:
        """What stands for https://api.cloudflare.com/client/v4."""
        return self.url + PREFIX

    def operation(self, asked: Asked) -> str:
        """Return the operation of a path, "unknown" for any other."""
        path = _PATH.fullmatch(asked.path)
        if path is None:
            return "unknown"
        if path[2] is None:
            return {"GET": "list", "POST": "create"}.get(asked.method, "unknown")
        return _OPERATIONS.get((asked.method, path[3] or ""), "unknown")

    def answered(self, operation: str, asked: Asked) -> Answer:
        """Return the result in Cloudflare's envelope, or a refusal in it."""
        try:
            result = self._result(operation, asked)
        except Refused as refused:
            return refused.answer
        body = {"result": result, "success": True, "errors": [], "messages": []}
        return Answer(status=201 if operation == "create" else 200, body=body)

    def _result(self, operation: str, asked: Asked) -> Any:
        if asked.headers.get("authorization") != f"Bearer {self._token}":
            raise Refused(401, 10000, "Authentication error")
        path = _PATH.fullmatch(asked.path)
        if path is None or operation == "unknown":
            raise Refused(404, 7000, "No route for that URI")
        if path[1] != ACCOUNT:
            raise Refused(404, 7003, "Could not route to that account, perhaps your object identifier is invalid?")
        for index in self.indexes.values():
            index.settle(time.monotonic())
        if operation == "list":
            return [_shown(index) for index in self.indexes.values()]
        if operation == "create":
            return self._create(_read(asked, CreateIndex, UNNUMBERED))
        if path[2] not in self.indexes:
            raise Refused(404, 3000, "index not found")
        return self._of_index(operation, asked, self.indexes[path[2]])

    def _of_index(self, operation: str, asked: Asked, index: Held) -> Any:
        if operation == "get":
            return _shown(index)
        if operation == "delete":
            del self.indexes[index.given.name]
            return None
        if operation == "info":
            shown = {"dimensions": index.given.config.dimensions, "vectorCount": len(index.vectors)}
            return shown if index.processed is None else {**shown, "processedUpToMutation": index.processed}
        if operation == "list_metadata_indexes":
            kinds = [{"propertyName": name, "indexType": kind} for name, kind in index.metadata_indexes.items()]
            return {"metadataIndexes": kinds}
        if operation == "create_metadata_index":
            wanted = _read(asked, CreateMetadataIndex, UNNUMBERED)
            return self._accepted(
                index, lambda: index.metadata_indexes.update({wanted.property_name: wanted.index_type})
            )
        if operation in ("upsert", "insert"):
            vectors = _vectors(asked, index.given.config.dimensions)
            return self._accepted(index, lambda: index.write(vectors, over=operation == "upsert"))
        return found(index.vectors.values(), index.given.config, _read(asked, Query, 40026))

    def _create(self, given: CreateIndex) -> JSON:
        if not 1 <= given.config.dimensions <= 1536 or not 1 <= len(given.name.encode()) <= 64:
            raise Refused(400, UNNUMBERED, "dimensions or name out of range")
        if given.name in self.indexes:
            raise Refused(400, 3002, "an index of that name exists")
        self.indexes[given.name] = Held(given)
        return _shown(self.indexes[given.name])

    def _accepted(self, index: Held, change: Callable[[], None]) -> JSON:
        self._mutations += 1
        mutation = f"00000000-0000-4000-8000-{self._mutations:012x}"
        index.pending.append((time.monotonic() + self.lag_s, mutation, change))
        return {"mutationId": mutation}


def _shown(index: Held) -> JSON:
    given = index.given
    shown: JSON = {"name": given.name, "config": msgspec.to_builtins(given.config)}
    times = {"created_on": "2026-01-01T00:00:00.000000Z", "modified_on": "2026-01-01T00:00:00.000000Z"}
    return {**shown, **times, **({} if given.description is None else {"description": given.description})}


def _read(asked: Asked, form: Any, code: int) -> Any:
    if asked.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise Refused(400, 1005, "vectorize.unknown_content_type")
    try:
        return msgspec.json.decode(asked.raw, type=form)
    except msgspec.DecodeError as error:
        raise Refused(400, code, f"Failed to parse the request body as JSON: {error}") from error


def _vectors(asked: Asked, dimensions: int) -> list[Vector]:
    if asked.query.get("unparsable-behavior", "error") not in ("error", "discard"):
        raise Refused(400, UNNUMBERED, "unparsable-behavior")
    lines = [line for line in _uploaded(asked).split(b"\n") if line.strip()]
    if len(lines) > MAX_BATCH or len(asked.raw) > MAX_UPLOAD_BYTES:
        raise Refused(413, UNNUMBERED, f"too many vectors; max is {MAX_BATCH} in {MAX_UPLOAD_BYTES} bytes")
    try:
        vectors = [msgspec.json.decode(line, type=Vector) for line in lines]
    except msgspec.DecodeError as error:
        raise Refused(400, 40023, f"failed to parse upsert vectors request: {error}") from error
    for one in vectors:
        if len(one.id.encode()) > 64:
            raise Refused(400, 40008, f"id too long; max is 64 bytes, got {len(one.id.encode())} bytes")
        if len(one.values) != dimensions:
            raise Refused(
                400, UNNUMBERED, f"invalid vector, expected {dimensions} dimensions, and got {len(one.values)}"
            )
        if len((one.namespace or "").encode()) > 64 or len(msgspec.json.encode(one.metadata)) > 10_240:
            raise Refused(400, UNNUMBERED, "namespace or metadata too long")
    return vectors


def _uploaded(asked: Asked) -> bytes:
    """Return the lines of an upload: a form's file `vectors`, or the body itself."""
    header = Message()
    header["content-type"] = asked.headers.get("content-type", "")
    if header.get_content_type() == "application/x-ndjson":
        return asked.raw
    boundary = header.get_boundary()
    if header.get_content_type() != "multipart/form-data" or not boundary:
        raise Refused(400, 1005, "vectorize.unknown_content_type")
    for part in asked.raw.split(b"--" + boundary.encode())[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        if b'name="vectors"' in head:
            return content.removesuffix(b"\r\n")
    raise Refused(400, UNNUMBERED, "the form has no file `vectors`")
