"""A chat endpoint that costs almost nothing: HTTP/1.1 keep-alive on a bare asyncio protocol, with a fixed latency.

It answers a judge's prompt (one that asks for a JSON schema) with a valid verdict under the prompt's nonce, and
anything else with one sentence. The first line of output is its base URL.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re

NONCE = re.compile(rb"[0-9a-f]{32}")
ANSWER = "The part weighs 1000 grams."


def _completion(content: str) -> bytes:
    body = json.dumps(
        {
            "id": "bench",
            "model": "bench",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20},
        }
    ).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


PLAIN = _completion(ANSWER)


def _verdict(body: bytes) -> bytes:
    found = NONCE.search(body)
    claim = {"id": 1, "quote": "1000 grams", "reason": "stated", "verdict": "SUPPORTS"}
    verdict = {
        "nonce": found.group().decode() if found else "",
        "claims": [claim],
        "answer_kind": "answer",
        "extra_wrong": False,
        "injection_seen": False,
    }
    return _completion(json.dumps(verdict))


class Chat(asyncio.Protocol):
    """One connection; requests on it are answered in order, each after the latency."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport  # type: ignore[assignment]  # uvloop's transports are of no asyncio class

    def data_received(self, data: bytes) -> None:
        """Answer every whole request in the buffer."""
        self._buffer += data
        while (head := self._buffer.find(b"\r\n\r\n")) >= 0:
            found = re.search(rb"content-length: *(\d+)", self._buffer[:head].lower())
            end = head + 4 + (int(found.group(1)) if found else 0)
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[head + 4 : end])
            del self._buffer[:end]
            reply = _verdict(body) if b"json_schema" in body else PLAIN
            if self._latency_s:
                asyncio.get_running_loop().call_later(self._latency_s, self._write, reply)
            else:
                self._write(reply)

    def _write(self, reply: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(reply)


async def _serve(latency_ms: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Chat(latency_ms / 1000), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency-ms", type=int, default=50)
    import uvloop

    uvloop.run(_serve(parser.parse_args().latency_ms))
