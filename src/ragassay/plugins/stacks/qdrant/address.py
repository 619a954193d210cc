"""Where a Qdrant server is and how it is reached."""

from __future__ import annotations

import re

import msgspec

from ragassay.plugins.stacks.connection import key_env_check, url_check
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import Secret

SERVER_ONLY = ("key_env", "transport", "grpc_port", "collection", "timeout_s", "index_timeout_s")
SMALLEST_FULL_SCAN_KB = 10
"""What a server takes at least; the embedded engine takes less."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,200}")
_URL = "url must be the http or https address of a Qdrant server, such as http://127.0.0.1:6333"


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """A server, and the collection by name where the board names one."""

    url: str
    transport: str
    grpc_port: int
    collection: str | None
    timeout_s: int
    index_timeout_s: int
    key: Secret | None


def read_address(read: Parameters, key: Secret | None) -> Address | None:
    """Return the server's address, None without `url`; what is wrong is noted in `read`."""
    read.hidden("key_env", key_env_check())
    address = Address(
        url=read.hidden("url", url_check(_URL, needed=False)) or "",
        transport=read.choice("transport", "rest", ("rest", "grpc")),
        grpc_port=read.integer("grpc_port", 6334, low=1, high=65_535),
        collection=read.text("collection"),
        timeout_s=read.integer("timeout_s", 30, low=1, high=55),
        index_timeout_s=read.integer("index_timeout_s", 600, low=1, high=86_400),
        key=key,
    )
    if address.collection is not None and not _NAME.fullmatch(address.collection):
        read.note("collection must be of letters, digits, _ and -, at most 200")
    if read.gives("url"):
        return address
    read.note(*(f"{name} must be left out without url" for name in SERVER_ONLY if read.gives(name)))
    return None
