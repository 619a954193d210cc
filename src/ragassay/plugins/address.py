"""What may stand as the address of a server, no user name, key, query or fragment, and for its key: a variable."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ragassay.errors import InputError

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
"""What `key_env` may be: anything else might be the key itself, and is never repeated."""
NO_VARIABLE = "must be the name of an environment variable: letters, digits and _, never the key"
_NO_ADDRESS = "base_url must be an http or https address such as https://models.example/v1"

_ENDPOINTS = ("/chat/completions", "/completions", "/embeddings")


def checked_base_url(base_url: str) -> str:
    """Return the base URL without a final slash.

    Raises `InputError` unless it is an http(s) address with a host, without user name, password, query or fragment,
    and without the path of one endpoint at its end; the message never repeats it.
    """
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise InputError(_NO_ADDRESS) from None
    if "@" in base_url:  # also in a path: a key with a slash ends the host early
        raise InputError("base_url holds a user name or password; remove it and name the key's variable in `key_env`")
    if not usable or not base_url.isprintable() or " " in base_url:
        raise InputError(_NO_ADDRESS)
    if "?" in base_url or "#" in base_url:
        raise InputError("base_url must not hold a query or fragment; name the key's variable in `key_env`")
    base_url = base_url.rstrip("/")
    for path in _ENDPOINTS:
        if parts.path.rstrip("/").endswith(path):
            raise InputError(f"base_url must end before {path}, which is added to it")
    return base_url
