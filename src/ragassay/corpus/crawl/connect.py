"""The connections of a crawl: each address is judged where its socket is made, so nothing comes between.

`aiohttp` asks its resolver for a name and makes a socket for one of the addresses that came back; an address written
as a number never reaches the resolver. Both doors are guarded: an answer with one address that is not public is
refused whole, and no socket is made for such an address, however it was come by.
"""

from __future__ import annotations

import socket
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from ragassay.corpus.crawl.guard import private

MAX_HEADER_BYTES = 16 * 1024
CONNECT_S = 10.0


class PrivateAddress(OSError):
    """A name or a number led to an address that is not connected to."""


class GuardedResolver(AbstractResolver):
    """Asks another resolver and refuses an answer that holds any address that is not connected to."""

    def __init__(self, inner: AbstractResolver, *, allow_private: bool) -> None:
        self._inner = inner
        self._allow_private = allow_private

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of a host; raises `PrivateAddress`."""
        found = await self._inner.resolve(host, port, family)
        for one in found:
            _check(one["host"], host, allow_private=self._allow_private)
        return found

    async def close(self) -> None:
        """Close the other resolver."""
        await self._inner.close()


def session(
    agent: str, *, connections: int, allow_private: bool, resolver: AbstractResolver | None = None
) -> aiohttp.ClientSession:
    """Return a session without cookies, proxies or redirects whose connections are all guarded."""

    def make_socket(info: tuple[Any, ...]) -> socket.socket:
        family, kind, proto, _, where = info
        _check(str(where[0]), None, allow_private=allow_private)
        return socket.socket(family=family, type=kind, proto=proto)

    guarded = GuardedResolver(resolver or aiohttp.ThreadedResolver(), allow_private=allow_private)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=connections, resolver=guarded, socket_factory=make_socket, use_dns_cache=True, ttl_dns_cache=60
        ),
        headers={"User-Agent": agent, "Accept": "text/html, application/xhtml+xml, text/*;q=0.9, */*;q=0.5"},
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
    )


def _check(address: str, host: str | None, *, allow_private: bool) -> None:
    what = private(address, allow_private=allow_private)
    if what is not None:
        raise PrivateAddress(f"{host} is at {address}, which is {what}" if host else f"{address} is {what}")
