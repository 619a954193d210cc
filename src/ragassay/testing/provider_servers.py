"""A local server that imitates one provider's wire form, in a thread of its own, for code with and without a loop.

`with ProviderServer(imitation) as server:` serves `<server.base_url>/chat/completions` and `/embeddings`; what reached
it is in `server.asked`. The imitations are in `provider_imitations.py`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import msgspec
from aiohttp import web

from ragassay.records import JSON


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request: its number from 1, the path behind the base URL, the bytes and what they hold, the headers."""

    call: int
    path: str
    raw: bytes
    body: JSON
    headers: Mapping[str, str]


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One response: JSON, or bytes as they are; `cut` ends the connection after half of them."""

    status: int = 200
    body: Any = None
    raw: bytes | None = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}
    delay_s: float = 0.0
    cut: bool = False

    def data(self) -> bytes:
        """Return the bytes of the body."""
        return self.raw if self.raw is not None else msgspec.json.encode(self.body)


Imitation = Callable[[Asked], Said]
"""Makes the response to a request."""


def streamed(objects: list[Any], *, done: bool = True, whole: bool = True) -> Said:
    """Return an event stream of `objects`; without `done` no `[DONE]` ends it, not `whole` cuts its last event."""
    data = b"".join(b"data: " + msgspec.json.encode(one) + b"\n\n" for one in objects)
    if not whole:
        data = data[:-20]
    return Said(raw=data + (b"data: [DONE]\n\n" if done else b""), content_type="text/event-stream")


class ProviderServer:
    """Serves one imitation on 127.0.0.1 until the block ends."""

    def __init__(self, imitation: Imitation, *, prefix: str = "/v1") -> None:
        self._imitation = imitation
        self._prefix = prefix
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._runner: web.ServerRunner | None = None
        self.asked: list[Asked] = []
        self.base_url = ""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="provider-server", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._loop is not None
        assert self._thread is not None
        assert self._runner is not None
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, backlog=512).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}{self._prefix}"

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.read()
        if not request.path.startswith(self._prefix + "/"):
            return web.Response(status=404, text="404 page not found")
        asked = Asked(
            call=len(self.asked) + 1,
            path=request.path.removeprefix(self._prefix),
            raw=raw,
            body=msgspec.json.decode(raw),
            headers=dict(request.headers),
        )
        self.asked.append(asked)
        said = self._imitation(asked)
        if said.delay_s:
            await asyncio.sleep(said.delay_s)
        data = said.data()
        headers = {"Content-Type": said.content_type, **said.headers}
        if not said.cut:
            return web.Response(status=said.status, headers=headers, body=data)
        response = web.StreamResponse(status=said.status, headers={**headers, "Content-Length": str(len(data))})
        await response.prepare(request)
        await response.write(data[: len(data) // 2])
        if request.transport is not None:
            request.transport.abort()
        return response
