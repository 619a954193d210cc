"""What a Chroma row is configured with, and where its server is."""

from __future__ import annotations

import re

import msgspec

from ragassay.plugins.stacks.connection import key_env_check, url_check
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON, Secret

METRICS = ("cosine", "l2", "ip")
KEY_HEADERS = ("authorization", "x-chroma-token")
SERVER_ONLY = ("key_env", "key_header", "tenant", "database", "collection", "timeout_s")
LARGEST_BATCH = 5_000
"""Of what Chroma takes in one request, 5,461 where it was asked, the round number below."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]")
_URL = "url must be the http or https address of a Chroma server, such as http://127.0.0.1:8000"


def _key_header_fault(value: object) -> str | None:
    return None if value is None or value in KEY_HEADERS else f"key_header must be one of {', '.join(KEY_HEADERS)}"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What shapes the index and the search in it."""

    metric: str
    exact: bool
    ef_construction: int
    max_neighbors: int
    ef_search: int
    batch: int

    def graph(self) -> JSON:
        """Return what Chroma is asked to build."""
        graph = {"space": self.metric, "ef_construction": self.ef_construction, "max_neighbors": self.max_neighbors}
        return graph if self.exact else {**graph, "ef_search": self.ef_search}

    def shape(self) -> JSON:
        """Return what two indexes over the same vectors may differ in."""
        return {"stack": "chroma", "exact": self.exact, "hnsw": self.graph(), "batch": self.batch}

    def described(self) -> JSON:
        """Return what is recorded; `ef_search` only where it has an effect."""
        graph = {name: value for name, value in self.graph().items() if name != "space"}
        return {"metric": self.metric, "exact": self.exact, "hnsw": {**graph, "batch": self.batch}}


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """A server, and the collection by name where the board names one; without `url`, the engine in this process."""

    url: str
    key: Secret | None
    key_header: str
    tenant: str
    database: str
    collection: str | None
    timeout_s: int


def read_settings(read: Parameters) -> Settings:
    """Return the settings; what is wrong is noted in `read`."""
    exact = read.flag("exact", True)
    return Settings(
        metric=read.choice("metric", "cosine", METRICS),
        exact=exact,
        ef_construction=read.integer("ef_construction", 100, low=4, high=10_000),
        max_neighbors=read.integer("max_neighbors", 64 if exact else 16, low=2, high=1_000),
        ef_search=read.integer("ef_search", 100, low=1, high=100_000),
        batch=read.integer("batch", 256, low=1, high=LARGEST_BATCH),
    )


def read_address(read: Parameters, key: Secret | None) -> Address:
    """Return where the index is kept; what is wrong is noted in `read`."""
    read.hidden("key_env", key_env_check())
    address = Address(
        url=(read.hidden("url", url_check(_URL, needed=False)) or "").rstrip("/"),
        key=key,
        key_header=read.hidden("key_header", _key_header_fault) or KEY_HEADERS[0],
        tenant=read.text("tenant") or "default_tenant",
        database=read.text("database") or "default_database",
        collection=read.text("collection"),
        timeout_s=read.integer("timeout_s", 30, low=1, high=55),
    )
    if address.collection is not None and not _NAME.fullmatch(address.collection):
        read.note("collection must be 3 to 512 of a-z, A-Z, 0-9, . _ and -, and begin and end with none of . _ -")
    for name, value in (("tenant", address.tenant), ("database", address.database)):
        if not _NAME.fullmatch(value):
            read.note(f"{name} must be of letters, digits, . _ and -")
    if not read.gives("url"):
        read.note(*(f"{name} must be left out without url" for name in SERVER_ONLY if read.gives(name)))
    return address
