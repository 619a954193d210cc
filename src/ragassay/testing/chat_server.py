"""A local OpenAI-compatible chat server for tests: it counts its calls and fails where its script says so.

In process: `async with ChatServer(reply) as server`. As a process of its own:
`python -m ragassay.testing.chat_server --port 0 --latency-ms 50 --log calls.jsonl`; its first line of output is
its base URL.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import io
import json
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

import msgspec
from aiohttp import web

from ragassay.records import JSON
from ragassay.testing.chat_faults import FAULTS, Fault, completion, fault_named, faulty
from ragassay.testing.chat_replies import MODES, ReplyOf

Script: TypeAlias = Mapping[int, Fault | str] | Callable[[int], Fault | str | None]
"""Which call (counted from 1, in order of arrival) gets which fault."""


class ChatServer:
    """Serves `<base_url>/chat/completions` on 127.0.0.1; `calls`, `peak` and `requests` say what reached it."""

    def __init__(
        self,
        reply: ReplyOf,
        *,
        faults: Script | None = None,
        latency_ms: int = 0,
        log: Path | None = None,
        port: int = 0,
        model: str = "test-model",
        keep_requests: bool = True,
    ) -> None:
        self._reply = reply
        self._script = faults or {}
        self._latency_s = latency_ms / 1000
        self._log_path = log
        self._log: io.FileIO | None = None
        self._port = port
        self._model = model
        self._keep = keep_requests
        self._runner: web.ServerRunner | None = None
        self._under_way = 0
        self.calls = 0
        self.peak = 0
        self.requests: list[JSON] = []
        self.headers: list[dict[str, str]] = []
        self.base_url = ""

    async def __aenter__(self) -> Self:
        if self._log_path is not None:
            self._log = self._log_path.open("ab", buffering=0)
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=1024)
        await site.start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        if self._log is not None:
            self._log.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = msgspec.json.decode(await request.read())
        self.calls += 1
        call = self.calls
        self._under_way += 1
        self.peak = max(self.peak, self._under_way)
        try:
            self._record(call, body, request)
            if self._latency_s:
                await asyncio.sleep(self._latency_s)
            if (fault := self._fault(call)) is not None:
                return await faulty(fault, request, self._model)
            return _sent(completion(await self._text(body), self._model, call), call)
        finally:
            self._under_way -= 1

    def _fault(self, call: int) -> Fault | None:
        found = self._script(call) if callable(self._script) else self._script.get(call)
        return fault_named(found) if isinstance(found, str) else found

    async def _text(self, body: JSON) -> str:
        text = self._reply(body)
        return text if isinstance(text, str) else await text

    def _record(self, call: int, body: JSON, request: web.BaseRequest) -> None:
        if self._keep:
            self.requests.append(body)
            self.headers.append(dict(request.headers))
        if self._log is not None:
            line = {"call": call, "messages": messages_digest(body), "model": body.get("model")}
            self._log.write(msgspec.json.encode(line) + b"\n")


def _sent(body: JSON, call: int) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(body), content_type="application/json", headers={"x-request-id": f"call-{call}"}
    )


def messages_digest(body: JSON) -> str:
    """Return the SHA-256 of a request's messages, by which the call log tells questions apart."""
    return hashlib.sha256(msgspec.json.encode(body.get("messages"))).hexdigest()


async def serve(server: ChatServer, announce: Callable[[str], object]) -> None:
    """Run `server` until SIGTERM or SIGINT; calls `announce` with its base URL once it listens."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with server:
        announce(server.base_url)
        await stop.wait()


def main() -> None:
    """Serve as a process of its own; the first line on standard output is the base URL."""
    options = argparse.ArgumentParser(prog="python -m ragassay.testing.chat_server", description=__doc__)
    options.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options.add_argument("--latency-ms", type=int, default=0)
    options.add_argument("--mode", choices=sorted(MODES), default="echo", help="what replies say")
    options.add_argument("--log", type=Path, default=None, help="append one JSON line per request, written at once")
    options.add_argument("--faults", default="{}", help='a fault by call number, such as {"3": "429"}')
    options.add_argument("--fault-every", type=int, default=0, help="every n-th call gets --fault")
    options.add_argument("--fault", choices=sorted(FAULTS), default="500")
    given = options.parse_args()
    scripted = {int(call): str(name) for call, name in json.loads(given.faults).items()}
    server = ChatServer(
        MODES[given.mode](),
        faults=lambda call: given.fault if given.fault_every and not call % given.fault_every else scripted.get(call),
        latency_ms=given.latency_ms,
        log=given.log,
        port=given.port,
        keep_requests=False,
    )
    asyncio.run(serve(server, _announce))


def _announce(base_url: str) -> None:
    sys.stdout.write(base_url + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()


__all__ = ["FAULTS", "MODES", "ChatServer", "Fault", "ReplyOf", "Script", "messages_digest", "serve"]
