"""What a Milvus row is configured with, and where its index is."""

from __future__ import annotations

import re

import msgspec

from ragassay.plugins.stacks.connection import key_env_check, url_check
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON, Secret

METRICS = ("cosine", "l2", "ip")
INDEXES = ("flat", "autoindex", "hnsw", "ivf_flat", "ivf_sq8", "scann")
EMBEDDED_INDEXES = ("flat", "autoindex", "hnsw", "ivf_flat", "ivf_sq8")
"""Those of them that Milvus Lite builds."""
CONSISTENCIES = ("strong", "bounded", "session", "eventually")
SERVER_ONLY = ("key_env", "db", "consistency")
MOST = 16_384
"""Milvus returns no more hits at once."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_URL = "url must be the http or https address of a Milvus server without a path, such as http://127.0.0.1:19530"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What shapes the index and the search in it."""

    metric: str
    index: str
    m: int
    ef_construction: int
    ef: int
    nlist: int
    nprobe: int
    depth: int

    @property
    def exact(self) -> bool:
        """True where every vector is compared."""
        return self.index == "flat"

    @property
    def partitioned(self) -> bool:
        """True for an index that searches the nearest `nprobe` of `nlist` groups."""
        return self.index in ("ivf_flat", "ivf_sq8", "scann")

    def build(self) -> JSON:
        """Return the parameters that Milvus builds the index with, as Milvus calls them."""
        if self.index == "hnsw":
            return {"M": self.m, "efConstruction": self.ef_construction}
        return {"nlist": self.nlist} if self.partitioned else {}

    def ask(self) -> JSON:
        """Return the parameters that Milvus searches the index with, as Milvus calls them."""
        if self.index == "hnsw":
            return {"ef": self.ef}
        return {"nprobe": self.nprobe} if self.partitioned else {}

    def shape(self) -> JSON:
        """Return what two indexes over the same vectors may differ in."""
        return {"stack": "milvus", "metric": self.metric, "index": self.index, **self.build()}

    def described(self) -> JSON:
        """Return what is recorded: only what has an effect."""
        index: JSON = {"kind": self.index}
        if self.index == "hnsw":
            index |= {"m": self.m, "ef_construction": self.ef_construction, "ef": self.ef}
        if self.partitioned:
            index |= {"nlist": self.nlist, "nprobe": self.nprobe}
        found: JSON = {"metric": self.metric, "index": index}
        return found if self.exact else {**found, "depth": self.depth}

    def problems(self, *, embedded: bool) -> list[str]:
        """Return what does not go together, or is not built by the engine in this process."""
        found = []
        if embedded and self.index not in EMBEDDED_INDEXES:
            found.append(unsupported(self.index) + "; with url a Milvus server builds it")
        if self.index == "hnsw" and self.ef < self.depth:
            found.append(f"ef = {self.ef} must be at least depth = {self.depth}, of which it is the candidates")
        if self.partitioned and self.nprobe > self.nlist:
            found.append(f"nprobe = {self.nprobe} must be at most nlist = {self.nlist}")
        return found


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """A server, or a folder, or with neither a temporary folder; and the collection where the board names one."""

    url: str
    path: str | None
    key: Secret | None
    db: str
    collection: str | None
    consistency: str
    timeout_s: int
    index_timeout_s: int

    @property
    def stays(self) -> bool:
        """True where the index is still there when the row is done."""
        return bool(self.url) or self.path is not None


def unsupported(index: str) -> str:
    """Say that Milvus Lite does not build an index, and which it builds."""
    return f"index = {index!r} is not built by Milvus Lite, which builds {', '.join(EMBEDDED_INDEXES)}"


def read_settings(read: Parameters) -> Settings:
    """Return the settings; what is wrong is noted in `read`."""
    return Settings(
        metric=read.choice("metric", "cosine", METRICS),
        index=read.choice("index", "flat", INDEXES),
        m=read.integer("m", 16, low=2, high=2_048),
        ef_construction=read.integer("ef_construction", 200, low=4, high=100_000),
        ef=read.integer("ef", 128, low=1, high=32_768),
        nlist=read.integer("nlist", 128, low=1, high=65_536),
        nprobe=read.integer("nprobe", 16, low=1, high=65_536),
        depth=read.integer("depth", 100, low=1, high=MOST),
    )


def read_address(read: Parameters, key: Secret | None) -> Address:
    """Return where the index is kept; what is wrong is noted in `read`."""
    read.hidden("key_env", key_env_check())
    address = Address(
        url=read.hidden("url", url_check(_URL, needed=False, path=False)) or "",
        path=read.text("path"),
        key=key,
        db=read.text("db") or "default",
        collection=read.text("collection"),
        consistency=read.choice("consistency", CONSISTENCIES[0], CONSISTENCIES),
        timeout_s=read.integer("timeout_s", 30, low=1, high=55),
        index_timeout_s=read.integer("index_timeout_s", 600, low=1, high=86_400),
    )
    for name, value in (("collection", address.collection), ("db", address.db)):
        if value is not None and not _NAME.fullmatch(value):
            read.note(f"{name} must be of letters, digits and _, at most 200, and not begin with a digit")
    if read.gives("url"):
        read.note(*(["path must be left out with url"] if read.gives("path") else []))
        return address
    read.note(*(f"{name} must be left out without url" for name in SERVER_ONLY if read.gives(name)))
    if address.path is None and read.gives("collection"):
        read.note("collection must be left out without path or url")
    return address
