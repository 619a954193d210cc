"""A site for tests on a free port of 127.0.0.1: pages as they should be, and every way in which a server goes wrong.

Run as a program it serves an archive of pages with a sitemap from a process of its own, and prints its address.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import sys
import tarfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from types import TracebackType
from typing import NamedTuple, Self

Raw = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Request(NamedTuple):
    """What a client asked for; header names in lower case."""

    target: str
    headers: dict[str, str]
    times: int
    """How often this target has been asked for, this time included."""


class Answer(NamedTuple):
    """What it is answered; `raw` writes everything itself, and the connection is closed behind it."""

    body: bytes = b""
    status: int = 200
    media: str | None = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    wait_s: float = 0.0
    raw: Raw | None = None


Handler = Callable[[Request], Answer]


class Site:
    """Serves from a thread of its own while the block lasts; what it has no answer for is a 404."""

    def __init__(self, *, wait_s: float = 0.0) -> None:
        self.handlers: dict[str, Answer | Handler] = {}
        self.fallback: Handler = lambda _request: Answer(b"not here", status=404)
        self.wait_s = wait_s
        self.held_after = math.inf
        """How many requests are answered until this is raised."""
        self.asked: Counter[str] = Counter()
        self.requests: list[Request] = []
        self.times: list[float] = []
        self.most_at_once = 0
        self.port = 0
        self._at_once = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """Where it is reached, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def page(self, path: str, text: str = "", *, links: Iterable[str] = (), head: str = "", **more: object) -> None:
        """Serve an HTML page whose text names its path, so that no two pages have the same bytes."""
        anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
        body = f"<!doctype html><html><head><title>{path}</title>{head}</head><body><main><h1>{path}</h1>"
        self.handlers[path] = Answer(f"{body}<p>{text}</p>{anchors}</main></body></html>".encode(), **more)  # type: ignore[arg-type]

    def sitemap(self, path: str, pages: Iterable[str] = (), sitemaps: Iterable[str] = ()) -> None:
        """Serve a sitemap of paths of this site, or an index of sitemaps."""
        self.handlers[path] = Answer(sitemap_of(self.url, pages, sitemaps), media="application/xml")

    def robots(self, text: str) -> None:
        """Serve a robots.txt."""
        self.handlers["/robots.txt"] = Answer(text.encode(), media="text/plain")

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        """Serve a redirect."""
        self.handlers[path] = Answer(status=status, headers=(("Location", to),))

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="site", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, limit=1024 * 1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        assert self._server is not None
        self._server.close()
        await asyncio.sleep(0)  # what was accepted a moment ago becomes a connection
        for writer in self._writers:
            writer.transport.abort()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        for _ in range(3):  # each transport closes its socket in a turn of its own
            await asyncio.sleep(0)
        self._writers.clear()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._one(reader, writer):
                pass
        writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        target = lines[0].split(" ")[1]
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        self.asked[target] += 1
        request = Request(target, headers, self.asked[target])
        self.requests.append(request)
        number = len(self.requests)
        self.times.append(time.monotonic())
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            handler = self.handlers.get(target, self.fallback)
            answer = handler if isinstance(handler, Answer) else handler(request)
            await asyncio.sleep(answer.wait_s or self.wait_s)
            while number > self.held_after:
                await asyncio.sleep(0.005)
            if answer.raw is not None:
                await answer.raw(writer)
                return False
            await _write(writer, answer)
        finally:
            self._at_once -= 1
        return True


async def _write(writer: asyncio.StreamWriter, answer: Answer) -> None:
    headers = [*answer.headers]
    if answer.media is not None:
        headers.append(("Content-Type", answer.media))
    if not any(name.lower() == "content-length" for name, _ in headers) and answer.status != 304:
        headers.append(("Content-Length", str(len(answer.body))))
    head = f"HTTP/1.1 {answer.status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers)
    writer.write(head.encode("latin-1") + b"\r\n" + answer.body)
    await writer.drain()


def sitemap_of(url: str, pages: Iterable[str] = (), sitemaps: Iterable[str] = ()) -> bytes:
    """Return a sitemap of paths below an address, or an index of sitemaps."""
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    if indexed := "".join(f"<sitemap><loc>{url}{path}</loc></sitemap>" for path in sitemaps):
        return f"<sitemapindex {space}>{indexed}</sitemapindex>".encode()
    return f"<urlset {space}>{''.join(f'<url><loc>{url}{path}</loc></url>' for path in pages)}</urlset>".encode()


def drip(head: bytes, piece: bytes, every_s: float) -> Answer:
    """Return an answer that begins with `head` and then sends one piece after the other, for ever."""

    async def raw(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            await writer.drain()
            await asyncio.sleep(every_s)
            writer.write(piece)

    return Answer(raw=raw)


def sent(data: bytes) -> Answer:
    """Return an answer of exactly these bytes, behind which the connection is closed."""

    async def raw(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return Answer(raw=raw)


def conditional(body: bytes, etag: str, *, media: str = "text/html") -> Handler:
    """Return what answers 304 to whoever names the entity tag."""

    def handler(request: Request) -> Answer:
        headers = (("ETag", etag),)
        if request.headers.get("if-none-match") == etag:
            return Answer(status=304, media=None, headers=headers)
        return Answer(body, media=media, headers=headers)

    return handler


def serve_archive(site: Site, archive: str) -> list[str]:
    """Serve the HTML pages of a .tar archive with a sitemap, and return their paths."""
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isfile() else None
            if file is not None:
                media = "text/html" if member.name.endswith(".html") else "image/svg+xml"
                site.handlers[f"/{member.name}"] = Answer(file.read(), media=media)
    pages = sorted(path for path in site.handlers if path.endswith(".html"))
    site.sitemap("/sitemap.xml", pages)
    return pages


def main() -> None:
    """Serve an archive until standard input ends."""
    with Site() as site:
        serve_archive(site, sys.argv[1])
        print(site.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
