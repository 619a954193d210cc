"""What a row of Elasticsearch or OpenSearch is configured with: read once, the same for both but for their words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from ragassay.plugins.stacks.connection import key_env_check, url_check
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.searches import SEARCHES, Searches
from ragassay.records import JSON, Secret

METRICS = ("cosine", "dot", "l2")
WINDOW = 10_000
"""`index.max_result_window` of both services, by default: the most hits of one search, and the most candidates."""

_URL = "url must be an http or https address such as https://search.example:9200"
_INDEX = re.compile(r"[a-z0-9][a-z0-9._-]{0,199}")
_ANALYZER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_USER = re.compile(r"[!-9;-~]([ -9;-~]{0,254}[!-9;-~])?")


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What the two services call differently, or only one of them has."""

    kind: str
    candidates: str
    """The parameter that says how many candidates a search of a graph considers."""
    engines: tuple[str, ...]
    """Libraries that build the graph, the first by default; empty where there is no choice."""


class Settings(Searches, frozen=True, kw_only=True):
    """The parameters of one row; decimal strings where a number may be fractional."""

    words: Words
    metric: str
    exact: bool
    engine: str
    m: int
    ef_construction: int
    candidates: int
    analyzer: str
    k1: str
    b: str
    depth: int
    rrf_k: int

    @property
    def zero_is_far(self) -> bool:
        """Whether a question whose vector is zero finds nothing."""
        return self.search == "vector" and self.metric != "l2"

    def shape(self) -> JSON:
        """Return what shapes the index: equal for two searches that can share one."""
        shape: JSON = {"stack": self.words.kind}
        if self.vectors:
            shape["vector"] = {"metric": self.metric, **self._index()}
        if self.texts:
            shape["text"] = self._text()
        return shape

    def described(self) -> JSON:
        """Return everything that can change a result; what has no effect is left out."""
        about: JSON = {"search": self.search}
        if self.vectors:
            about |= {"metric": self.metric, **self._index()}
        if self.vectors and not self.exact:
            about["hnsw"] |= {self.words.candidates: self.candidates}
        if self.texts:
            about["text"] = self._text()
        if self.search == "hybrid":
            about["fusion"] = {"method": "rrf", "computed_by": "ragassay", "rrf_k": self.rrf_k, "depth": self.depth}
        return {**about, "shards": 1, "segments": 1}

    def _index(self) -> JSON:
        if self.exact:
            return {"exact": True}
        engine = {"engine": self.engine} if self.engine else {}
        return {"exact": False, "hnsw": {**engine, "m": self.m, "ef_construction": self.ef_construction}}

    def _text(self) -> JSON:
        return {"similarity": "BM25", "k1": self.k1, "b": self.b, "analyzer": self.analyzer}


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """A server, how to be let in, and the index by name where the board names one."""

    url: str
    user: str | None
    key: Secret | None
    ca_certs: str | None
    index: str | None
    timeout_s: int
    index_timeout_s: int


def read_row(words: Words, params: Mapping[str, Any], key: Secret | None) -> tuple[Settings, Address]:
    """Return settings and address; raises `InputError` with all problems."""
    read = Parameters(words.kind, params)
    settings, address = _settings(words, read), _address(read, key)
    read.note(*_contradictions(settings, address))
    read.finish()
    return settings, address


def _settings(words: Words, read: Parameters) -> Settings:
    return Settings(
        words=words,
        search=read.choice("search", "vector", SEARCHES),
        metric=read.choice("metric", "cosine", METRICS),
        exact=read.flag("exact", True),
        engine=read.choice("engine", words.engines[0], words.engines) if words.engines else "",
        m=read.integer("m", 16, low=2, high=512),
        ef_construction=read.integer("ef_construction", 100, low=2, high=3_200),
        candidates=read.integer(words.candidates, 100, low=1, high=WINDOW),
        analyzer=read.text("analyzer") or "standard",
        k1=read.decimal("k1", "1.2", low="0", high="100"),
        b=read.decimal("b", "0.75", low="0", high="1"),
        depth=read.integer("depth", 50, low=1, high=WINDOW),
        rrf_k=read.integer("rrf_k", 60, low=1, high=1_000_000),
    )


def _address(read: Parameters, key: Secret | None) -> Address:
    read.hidden("key_env", key_env_check())
    if read.gives("user") and not read.gives("key_env"):
        read.note("user needs key_env: the environment variable that holds the user's password")
    return Address(
        url=(read.hidden("url", url_check(_URL)) or "").rstrip("/"),
        user=read.hidden("user", _user_fault),
        key=key,
        ca_certs=read.text("ca_certs"),
        index=read.text("index"),
        timeout_s=read.integer("timeout_s", 30, low=1, high=55),
        index_timeout_s=read.integer("index_timeout_s", 600, low=1, high=86_400),
    )


def _user_fault(user: object) -> str | None:
    if user is None or (isinstance(user, str) and _USER.fullmatch(user)):
        return None
    return "user must be a user's name: visible ASCII characters, no colon, at most 256"


def _contradictions(settings: Settings, address: Address) -> list[str]:
    problems, words = [], settings.words
    if address.index is not None and not _INDEX.fullmatch(address.index):
        problems.append("index must be of a-z, 0-9, . _ and -, at most 200, and begin with a letter or digit")
    if address.ca_certs is not None and not address.url.startswith("https:"):
        problems.append("ca_certs needs a url that begins with https")
    if not _ANALYZER.fullmatch(settings.analyzer):
        problems.append("analyzer must be the name of an analyzer, such as standard or english")
    if settings.search == "hybrid" and not settings.exact and settings.candidates < settings.depth:
        problems.append(
            f"{words.candidates} = {settings.candidates} must be at least depth = {settings.depth}, "
            "of which it is the candidates"
        )
    return problems
