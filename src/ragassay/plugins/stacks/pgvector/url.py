"""The address of a PostgreSQL database as a board names it: complete, and without any secret in it."""

from __future__ import annotations

import re
from typing import Any

import psycopg.conninfo

QUERY = frozenset(
    (
        *("application_name", "channel_binding", "gssencmode", "host", "hostaddr", "keepalives", "keepalives_count"),
        *("keepalives_idle", "keepalives_interval", "krbsrvname", "load_balance_hosts", "port", "require_auth"),
        *("sslcert", "sslcertmode", "sslcrl", "sslcrldir", "sslkey", "sslmode", "sslnegotiation", "sslrootcert"),
        *("sslsni", "ssl_max_protocol_version", "ssl_min_protocol_version", "target_session_attrs"),
        "tcp_user_timeout",
    )
)
"""What may follow the `?`: how the server is reached, nothing that changes what it answers."""

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_CONFIG = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?")
_WANTED = "url must be the address of a database, such as postgresql://reader@db.example:5432/docs"


def url_fault(url: object) -> str | None:
    """Return what is wrong with the address, never the address itself: it may hold a password."""
    if not isinstance(url, str) or not url.isprintable() or not url.startswith(("postgresql://", "postgres://")):
        return _WANTED
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except (psycopg.Error, ValueError):
        return _WANTED
    if parts.get("password") or parts.get("sslpassword"):
        return "url holds a password; take it out and name the environment variable that it is in: key_env"
    missing = [name for name in ("user", "dbname") if not parts.get(name)]
    if not parts.get("host") and not parts.get("hostaddr"):
        missing.append("host")
    if missing:
        return f"{_WANTED}; it names no {', '.join(missing)}"
    unknown = sorted(set(parts) - QUERY - {"user", "password", "dbname"})
    if unknown:
        return f"url sets {', '.join(unknown)}, which cannot be set there; known after ? are {', '.join(sorted(QUERY))}"
    return None


def plain_name(name: str, value: str | None, *, most: int) -> list[str]:
    """Return the problem of a schema or table that would need quotes, or that is longer than `most` bytes."""
    if value is None or (_PLAIN_NAME.fullmatch(value) and len(value) <= most):
        return []
    return [f"{name} = {value!r} must be lower-case letters, digits and _, at most {most}"]


def config_name(value: str) -> list[str]:
    """Return the problem of a text search configuration that is no name, with or without its schema."""
    return [] if _CONFIG.fullmatch(value) else [f"text_config = {value!r} must be a name such as english or simple"]


def connection_of(url: str) -> dict[str, Any]:
    """Return the address as keywords; what it leaves out is not taken from PGPORT, PGPASSWORD or PGOPTIONS instead."""
    parts = psycopg.conninfo.conninfo_to_dict(url)
    fixed = {"password": "", "options": "", "client_encoding": "utf8"}
    return {"application_name": "ragassay", "port": "5432", **parts, **fixed}
