"""Where a Qdrant server is and how it is reached; a wrong value that may be a key is not repeated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import Secret

HIDDEN = ("url", "key_env")
SERVER_ONLY = ("key_env", "transport", "grpc_port", "collection", "timeout_s", "index_timeout_s")
SMALLEST_FULL_SCAN_KB = 10
"""What a server takes at least; the embedded engine takes less."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
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


def read_address(read: Parameters, given: Mapping[str, Any], key: Secret | None) -> tuple[Address | None, list[str]]:
    """Return the server's address, None without `url`, and what is wrong beside what is noted in `read`."""
    for name in HIDDEN:  # named as known; their values are checked here and never shown
        read.text(name)
    address = Address(
        url=given["url"] if isinstance(given.get("url"), str) else "",
        transport=read.choice("transport", "rest", ("rest", "grpc")),
        grpc_port=read.integer("grpc_port", 6334, low=1, high=65_535),
        collection=read.text("collection"),
        timeout_s=read.integer("timeout_s", 30, low=1, high=55),
        index_timeout_s=read.integer("index_timeout_s", 600, low=1, high=86_400),
        key=key,
    )
    problems = []
    if "url" in given and (fault := _url_fault(given["url"])):
        problems.append(fault)
    env = given.get("key_env")
    if env is not None and not (isinstance(env, str) and _VARIABLE.fullmatch(env)):
        problems.append("key_env must be the name of an environment variable: letters, digits and _, never the key")
    if address.collection is not None and not _NAME.fullmatch(address.collection):
        problems.append("collection must be of letters, digits, _ and -, at most 200")
    if "url" not in given:
        problems += [f"{name} must be left out without url" for name in SERVER_ONLY if name in given]
    return (address if "url" in given else None), problems


def _url_fault(url: object) -> str | None:
    if not isinstance(url, str) or not url.isprintable() or " " in url:
        return _URL
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return _URL
    if "@" in url or "?" in url or "#" in url:
        return "url must hold no user name, password, query or fragment; name the key's variable in `key_env`"
    return None if usable else _URL
