"""A small server that keeps vectors, a stack over it that keeps every promise, and stacks that break one each."""
# ruff: noqa: D102 - what a class says in one sentence is what its only method does

from __future__ import annotations

import http.client
import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.stored_index import Held, bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk, Hit, Secret
from ragassay.seams import Progress


class ShelfServer(ThreadingHTTPServer):
    """Keeps named shelves, each a digest and rows of numbers; one JSON request and one reply at a time."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.shelves: dict[str, dict[str, Any]] = {}
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away."""

    def close(self) -> None:
        """End it."""
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: ShelfServer

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""

    def do_POST(self) -> None:
        """Answer `held`, `make`, `put` or `near` for the shelf that is named."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        shelf = self.server.shelves.get(asked["shelf"])
        if asked["do"] == "make":
            self.server.shelves[asked["shelf"]] = {"digest": asked["digest"], "rows": {}}
        elif asked["do"] == "put" and shelf is not None:
            shelf["rows"].update({asked["first"] + at: row for at, row in enumerate(asked["rows"])})
        reply: dict[str, Any] = {}
        if asked["do"] == "held":
            reply = {"held": None if shelf is None else {"digest": shelf["digest"], "count": len(shelf["rows"])}}
        elif asked["do"] == "near":
            reply = {"near": None if shelf is None else _near(shelf["rows"], asked["vector"], asked["limit"])}
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _near(rows: Mapping[int, Sequence[float]], vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
    scored = [(at, sum(a * b for a, b in zip(row, vector, strict=True))) for at, row in rows.items()]
    return sorted(scored, key=lambda one: (-one[1], one[0]))[:limit]


class Shelf:
    """Takes `port`, `shelf`, `key_env`, `timeout_s` and part `embedder`; keeps every promise."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        read = Parameters("shelf", params)
        self.port = read.integer("port", 1, low=1, high=65535)
        self.name = read.text("shelf") or ""
        read.text("key_env")
        self.timeout_s: float | None = read.integer("timeout_s", 1, low=1, high=50)
        read.finish()
        self.key = key.reveal() if key else ""

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Fill the shelf, or use the one that is whole."""
        embedder = embedder_of("shelf", parts)
        matrix = embed_chunks(embedder, chunks, progress)
        digest = digest_of(chunks, embedder, {})
        reused = bring_up("shelf", self.name, self, matrix, digest, progress)
        return self.index(
            "shelf",
            [chunk.id for chunk in chunks],
            embedder,
            self,
            dimension=matrix.shape[1],
            zero_is_far=True,
            about=described("shelf", embedder, truncated(embedder, chunks), **self.told()),
            stored=Stored(name=self.name, reused=reused),
        )

    index: ClassVar[type[VectorIndex]] = VectorIndex
    most = 1000

    def told(self) -> JSON:
        """Return what is recorded besides."""
        return {"shelf": self.name}

    def asked(self, **what: Any) -> Any:
        """Return the reply to one request, or raise for what the server did."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout_s)
        try:
            link.request("POST", "/", json.dumps({"shelf": self.name, **what}), {"Authorization": self.key})
            reply = link.getresponse()
            data = reply.read()
        except http.client.HTTPException as error:
            raise ConnectionError(f"the reply broke off: {error!r}") from error
        finally:
            link.close()
        if reply.status == 401:
            raise self.refusal()
        return json.loads(data)

    def refusal(self) -> Exception:
        """Return the error for a refused key."""
        return StackError("shelf: the server refused the key; check the variable that key_env names")

    def held(self) -> Held | None:
        """Return what stands on the shelf."""
        held = self.asked(do="held")["held"]
        return None if held is None else Held(count=held["count"], digest=held["digest"])

    def create(self, dimension: int, digest: str) -> None:
        """Make the shelf."""
        self.asked(do="make", digest=digest)

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write rows."""
        self.asked(do="put", first=first, rows=rows.tolist())

    def finish(self) -> None:
        """Build nothing."""

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> Sequence[tuple[int, float]]:
        """Return the nearest positions."""
        found: Sequence[tuple[int, float]] | None = self.asked(do="near", vector=list(vector), limit=limit)["near"]
        if found is None:
            raise StackError(f"shelf: {self.name!r} is no longer there; build it again")
        return found

    def count(self) -> int:
        """Return how many rows there are."""
        held = self.held()
        return held.count if held else 0

    def close(self) -> None:
        """Hold nothing."""


class _Lenient(VectorIndex):
    def search(self, text: str, k: int) -> list[Hit]:
        try:
            return super().search(text, k)
        except StackError:
            return []


class ErrorsAreEmpty(Shelf):
    """A search that fails has found nothing."""

    index = _Lenient


class FinalErrors(Shelf):
    """A connection that fails is an error like any other."""

    def asked(self, **what: Any) -> Any:
        try:
            return super().asked(**what)
        except OSError as error:
            raise StackError(f"shelf: {error}") from error


class WaitsForever(Shelf):
    """There is no time limit."""

    def asked(self, **what: Any) -> Any:
        self.timeout_s = None
        return super().asked(**what)


class HalfIsWhole(Shelf):
    """A reply that breaks off holds what there was."""

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> Sequence[tuple[int, float]]:
        try:
            return super().nearest(text, vector, limit)
        except ConnectionError as error:
            if "broke off" in str(error):
                return []
            raise


class AsksAgainWithTheKey(Shelf):
    """A refused key passes for a server that is busy."""

    def refusal(self) -> Exception:
        return ConnectionError("HTTP 401")


class SaysTheKey(Shelf):
    """The error quotes the request."""

    def refusal(self) -> Exception:
        return StackError(f"shelf: refused with Authorization: {self.key}")


class RecordsTheKey(Shelf):
    """The description holds all parameters."""

    def told(self) -> JSON:
        return {"shelf": self.name, "key": self.key}


class RecordsTheConnection(Shelf):
    """The description holds the number of the connection."""

    def told(self) -> JSON:
        return {"shelf": self.name, "connection": secrets.token_hex(4)}


class TakesAnyShelf(Shelf):
    """What stands on the shelf is not looked at."""

    digest = ""

    def held(self) -> Held | None:
        held = super().held()
        return None if held is None else Held(count=held.count, digest=self.digest)

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        self.digest = digest_of(chunks, parts["embedder"], {})
        return super().build(chunks, parts, progress)


class FillsEachTime(Shelf):
    """A shelf that is whole is filled again."""

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        built = super().build(chunks, parts, progress)
        built.stored = Stored(name=self.name, reused=False)
        return built


class GoneIsEmpty(Shelf):
    """A shelf that is not there has nothing near."""

    def nearest(self, text: str, vector: Sequence[float], limit: int) -> Sequence[tuple[int, float]]:
        return self.asked(do="near", vector=list(vector), limit=limit)["near"] or []
