"""What a Weaviate row can set: where the server is, how vectors are compared and indexed, whether words count too."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ragassay.plugins.stacks.connection import key_env_check, url_check
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.searches import SEARCHES, Searches
from ragassay.records import JSON

METRICS = ("cosine", "dot", "l2-squared")
INDEXES = ("flat", "hnsw")
TOKENIZATIONS = ("word", "lowercase", "whitespace", "trigram", "gse", "gse_ch", "kagome_ja", "kagome_kr")
FUSIONS = ("relativeScore", "ranked")
CONSISTENCIES = ("ONE", "QUORUM", "ALL")
DYNAMIC_EF = {"min": 100, "max": 500, "factor": 8}
"""The server's own bounds of `ef = -1`, sent with the collection, so that another default of a server has no effect."""

_NAME = re.compile(r"[A-Z][A-Za-z0-9_]{0,199}")
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}")
_URL = "url must be the http or https address of a Weaviate server without a path, such as http://127.0.0.1:8080"


class Settings(Searches, frozen=True, kw_only=True):
    """The parameters of one row; decimal strings where a number may be fractional."""

    url: str
    grpc_host: str
    grpc_port: int
    grpc_secure: bool
    collection: str | None
    metric: str
    index: str
    ef: int
    ef_construction: int
    max_connections: int
    tokenization: str
    stopwords: str
    k1: str
    b: str
    alpha: str
    fusion: str
    depth: int
    replicas: int
    consistency: str
    block: int
    timeout_s: int
    wait_s: int

    @property
    def exact(self) -> bool:
        """True where each search compares with every vector, or with every chunk that holds a word of the question."""
        return self.search == "text" or (self.search == "vector" and self.index == "flat")

    def shape(self) -> JSON:
        """Return what two collections over the same chunks may differ in."""
        found: JSON = {"stack": "weaviate"}
        if self.vectors:
            found |= {"metric": self.metric, "index": {"kind": self.index}}
        if self.vectors and self.index == "hnsw":
            found["index"] |= {
                "ef_construction": self.ef_construction,
                "max_connections": self.max_connections,
                "ef": {"dynamic": DYNAMIC_EF} if self.ef == -1 else self.ef,
            }
        if self.texts:
            found["bm25"] = {
                "k1": self.k1,
                "b": self.b,
                "tokenization": self.tokenization,
                **({"stopwords": self.stopwords} if self.tokenization == "word" else {}),
            }
        if self.replicas > 1:
            found["replicas"] = self.replicas
        return found

    def described(self) -> JSON:
        """Return everything that can change a result; what has no effect is left out."""
        found = {"search": self.search, **self.shape()}
        del found["stack"]
        if self.search == "hybrid":
            found["fusion"] = {"method": self.fusion, "alpha": self.alpha}
        if not self.exact:
            found["depth"] = self.depth
        if self.replicas > 1:
            found["consistency"] = self.consistency
        return found


def read_settings(read: Parameters) -> Settings:
    """Read all of them; what is wrong is noted in `read`."""
    read.hidden("key_env", key_env_check())
    url = read.hidden("url", _url_fault) or ""
    settings = Settings(
        url=url,
        grpc_host=read.text("grpc_host") or http_place(url)[0],
        grpc_port=read.integer("grpc_port", 50051, low=1, high=65_535),
        grpc_secure=read.flag("grpc_secure", urlsplit(url).scheme == "https"),
        collection=read.text("collection"),
        search=read.choice("search", "vector", SEARCHES),
        metric=read.choice("metric", "cosine", METRICS),
        index=read.choice("index", "flat", INDEXES),
        ef=read.integer("ef", 128, low=-1, high=10_000),
        ef_construction=read.integer("ef_construction", 128, low=4, high=10_000),
        max_connections=read.integer("max_connections", 32, low=4, high=2047),
        tokenization=read.choice("tokenization", "word", TOKENIZATIONS),
        stopwords=read.choice("stopwords", "en", ("en", "none")),
        k1=read.decimal("k1", "1.2", low="0", high="100"),
        b=read.decimal("b", "0.75", low="0", high="1"),
        alpha=read.decimal("alpha", "0.5", low="0", high="1"),
        fusion=read.choice("fusion", "relativeScore", FUSIONS),
        depth=read.integer("depth", 100, low=1, high=10_000),
        replicas=read.integer("replicas", 1, low=1, high=100),
        consistency=read.choice("consistency", "QUORUM", CONSISTENCIES),
        block=read.integer("block", 100, low=1, high=1000),
        timeout_s=read.integer("timeout_s", 30, low=1, high=50),
        wait_s=read.integer("wait_s", 600, low=1, high=86_400),
    )
    read.note(*_problems(settings))
    return settings


def http_place(url: str) -> tuple[str, int]:
    """Return host and port of a URL that was checked."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _problems(settings: Settings) -> list[str]:
    problems = []
    if settings.grpc_host and not _HOST.fullmatch(settings.grpc_host):
        problems.append("grpc_host must be the name or address of a host, without scheme, port and path")
    if settings.url and (settings.grpc_host, settings.grpc_port) == http_place(settings.url):
        problems.append("grpc_port must be another than the port of url: gRPC has one of its own")
    if settings.collection is not None and not _NAME.fullmatch(settings.collection):
        problems.append("collection must be a capital letter, then letters, digits and _, at most 200 in all")
    if settings.vectors and settings.index == "hnsw" and settings.ef != -1 and settings.ef < settings.depth:
        problems.append(
            f"ef = {settings.ef} must be at least depth = {settings.depth}, of which it is the candidates, or -1"
        )
    return problems


def _url_fault(url: object) -> str | None:
    fault = url_check(_URL, path=False)(url)
    return fault or (None if _HOST.fullmatch(http_place(str(url))[0]) else _URL)
