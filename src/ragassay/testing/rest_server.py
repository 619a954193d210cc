"""A local REST server in a thread of its own, with faults that can be switched on: what stand-in servers share.

A subclass names the operation of a request and answers it. `with Server() as server:` serves it at `server.url`;
`stop` and `start` take it down and bring it up at the same address with what it held; `server.asked` is what came.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import msgspec
from aiohttp import web


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One response; JSON, or `raw` bytes as they are."""

    status: int = 200
    body: Any = None
    raw: bytes | None = None
    headers: Mapping[str, str] = {}

    def data(self) -> bytes:
        """Return the bytes of the body."""
        return self.raw if self.raw is not None else msgspec.json.encode(self.body)


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong with an operation: another answer, a changed one, a late one or half of one.

    `times` is how often, 0 for always.
    """

    answer: Answer | None = None
    changed: Callable[[Any], Any] | None = None
    delay_s: float = 0.0
    cut: bool = False
    times: int = 0


class RestServer(ABC):
    """Serves on 127.0.0.1; `answered` is called in the server's thread, one request at a time."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._runner: web.ServerRunner | None = None
        self._faults: dict[str, tuple[Fault, int]] = {}
        self._port = 0
        self.asked: list[tuple[str, Asked]] = []
        """The operation and the request, in the order of arrival."""

    @property
    def port(self) -> int:
        """The port that it listens at."""
        return self._port

    @property
    def url(self) -> str:
        """The address of the server, without a path."""
        return f"http://127.0.0.1:{self._port}"

    @abstractmethod
    def operation(self, asked: Asked) -> str:
        """Return the name by which a fault is switched on for this request."""

    @abstractmethod
    def answered(self, operation: str, asked: Asked) -> Answer:
        """Return the answer without faults."""

    def fail(self, operation: str, fault: Fault) -> None:
        """Let an operation fail from now on."""
        self._faults[operation] = (fault, 0)

    def heal(self) -> None:
        """Switch all faults off."""
        self._faults.clear()

    def count(self, operation: str) -> int:
        """Return how often an operation was asked for."""
        return sum(1 for name, _ in self.asked if name == operation)

    def start(self) -> None:
        """Listen, at the address of last time where there was one."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rest-server", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)

    def stop(self) -> None:
        """Close all connections and listen no more; may be called twice."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        assert self._runner is not None
        assert self._thread is not None
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join(10)
        loop.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def _listen(self) -> None:
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.05)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=512, reuse_address=True).start()
        self._port = self._runner.addresses[0][1]

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        asked = Asked(
            method=request.method,
            path=request.path,
            query=dict(request.query),
            headers={name.lower(): value for name, value in request.headers.items()},
            raw=await request.content.read(),  # without the limit of `request.read`
        )
        operation = self.operation(asked)
        self.asked.append((operation, asked))
        fault = self._fault(operation)
        if fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        answer = fault.answer or self.answered(operation, asked)
        if fault.changed is not None:
            answer = Answer(status=answer.status, body=fault.changed(answer.body), headers=answer.headers)
        return await _sent(request, answer, cut=fault.cut)

    def _fault(self, operation: str) -> Fault:
        fault, done = self._faults.get(operation, (Fault(), 0))
        if fault.times and done >= fault.times:
            return Fault()
        self._faults[operation] = (fault, done + 1)
        return fault


async def _sent(request: web.BaseRequest, answer: Answer, *, cut: bool) -> web.StreamResponse:
    data = answer.data()
    headers = {"Content-Type": "application/json", **answer.headers}
    if not cut:
        return web.Response(status=answer.status, headers=headers, body=data)
    response = web.StreamResponse(status=answer.status, headers={**headers, "Content-Length": str(len(data))})
    await response.prepare(request)
    await response.write(data[: len(data) // 2])
    if request.transport is not None:
        request.transport.abort()
    return response
