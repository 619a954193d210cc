"""How a board says where a server is and which variable holds its key: checked here, a wrong value never repeated.

Each check returns what is wrong, and never the value itself, which may be the key: read such a parameter with
`Parameters.hidden`.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ragassay.plugins.address import VARIABLE
from ragassay.plugins.stacks.parameters import Check

_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,99}")
_RESERVED = ("accept", "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding")


def url_check(wanted: str, *, needed: bool = True, path: bool = True) -> Check:
    """Return the check of an http(s) address; `wanted` says what stands there, `path` whether it may have one."""

    def check(url: object) -> str | None:
        if url is None and not needed:
            return None
        if not isinstance(url, str) or not url.isprintable() or " " in url:
            return wanted
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            return wanted
        if "@" in url or "?" in url or "#" in url:  # also in a path: a key with a slash ends the host early
            secret = "a user name, password, query or fragment"
            return f"url holds {secret}; remove it and name the key's variable in `key_env`"
        return None if usable and (path or not parts.path.strip("/")) else wanted

    return check


def key_env_check(secret: str = "key") -> Check:
    """Return the check of `key_env`; `secret` is what the variable holds."""

    def check(name: object) -> str | None:
        if name is None or (isinstance(name, str) and VARIABLE.fullmatch(name)):
            return None
        return f"key_env must be the name of an environment variable: letters, digits and _, never the {secret}"

    return check


def key_header_fault(name: object) -> str | None:
    """Return what is wrong with the name of the header that carries the key."""
    if name is None or (isinstance(name, str) and _HEADER.fullmatch(name) and name.lower() not in _RESERVED):
        return None
    return "key_header must be the name of a header, such as X-API-Key, and none of those that HTTP itself needs"
