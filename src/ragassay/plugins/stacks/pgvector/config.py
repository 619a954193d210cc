"""What a board says of a PostgreSQL row: read once, checked as a whole, turned into settings and a description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ragassay.errors import StackError
from ragassay.plugins.stacks.connection import key_env_check
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.pgvector import url as checks
from ragassay.plugins.stacks.pgvector.search import OPERATORS, QUERIES, Fusion
from ragassay.plugins.stacks.pgvector.session import Server
from ragassay.plugins.stacks.pgvector.table import Layout
from ragassay.records import JSON

UNBOUNDED = 1_000_000_000


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of one row."""

    url: str
    schema: str
    table: str | None
    metric: str
    method: str
    """`exact`, `hnsw` or `ivfflat`."""
    built_with: dict[str, int]
    """What stands behind WITH in the statement that builds the index."""
    searched_with: dict[str, int]
    """Settings of the extension while it searches, by their names behind `hnsw.` or `ivfflat.`."""
    iterative: bool
    memory_mb: int
    fusion: Fusion | None
    """None where text is not searched."""
    timeout_s: int
    build_timeout_s: int

    @property
    def exact(self) -> bool:
        """Whether every vector is compared."""
        return self.method == "exact"

    @property
    def most(self) -> int:
        """How many hits the vector search can return at most."""
        return UNBOUNDED if self.iterative else self.searched_with.get("ef_search", UNBOUNDED)

    def shape(self) -> JSON:
        """Return what, besides chunks and embedder, makes one table another than the next."""
        shape: JSON = {"stack": "pgvector"}
        if not self.exact:
            shape["index"] = {"method": self.method, "operators": OPERATORS[self.metric], **self.built_with}
        if self.fusion:
            shape["text_config"] = self.fusion.config
        return shape

    def layout(self, table: str) -> Layout:
        """Return where the vectors are and what is built over them."""
        return Layout(
            schema=self.schema,
            table=table,
            method=None if self.exact else self.method,
            operators=OPERATORS[self.metric],
            options=tuple(self.built_with.items()),
            text_config=self.fusion.config if self.fusion else None,
        )

    def settings(self, server: Server) -> dict[str, str]:
        """Return what is set in every session, so that no default of the server, database or user enters a result."""
        by_index = ("enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan")
        found = {
            "search_path": f'"{server.home}", "{self.schema}"',  # nobody's operator of the same name comes first
            "maintenance_work_mem": f"{self.memory_mb}MB",
            "jit": "off",  # what is switched off below counts as dear, and a dear plan would be compiled first
            **dict.fromkeys(by_index, "off" if self.exact else "on"),
            **dict.fromkeys(("enable_seqscan", "enable_sort"), "on" if self.exact else "off"),
            **{f"{self.method}.{name}": str(value) for name, value in self.searched_with.items()},
        }
        if not self.exact and server.at_least(0, 8):
            found[f"{self.method}.iterative_scan"] = "strict_order" if self.iterative else "off"
        return found

    def check(self, server: Server) -> None:
        """Raise `StackError` for a server that cannot do what is asked."""
        if self.iterative and not server.at_least(0, 8):
            raise StackError(
                f"pgvector: iterative_scan needs the extension 'vector' 0.8 or later, and the server has "
                f"{server.extension}; leave it out, or upgrade pgvector there and type: ALTER EXTENSION vector UPDATE;"
            )
        if self.fusion and server.encoding != "UTF8":
            raise StackError(f"pgvector: text = true needs a database in UTF8, and this one is in {server.encoding}")

    def about(self, server: Server) -> JSON:
        """Return what can change a result, for the record."""
        index: JSON = {"method": self.method, **self.built_with, **self.searched_with}
        if self.method == "hnsw":
            index["iterative_scan"] = self.iterative
        about: JSON = {"metric": self.metric, "index": index}
        if self.fusion:
            text = msgspec.to_builtins(self.fusion)
            about["fusion"] = {
                "method": "reciprocal rank fusion",
                "depth": text.pop("depth"),
                "rrf_k": text.pop("rrf_k"),
            }
            about["text"] = {**text, "ctype": server.ctype}
        return {**about, "postgresql": server.postgresql, "vector_extension": server.extension}


def read_config(params: Mapping[str, Any]) -> Config:
    """Return the checked parameters; raises `InputError` with all problems."""
    read = Parameters("pgvector", params)
    found = _read(read)
    read.note(*_disagreements(found))
    read.finish()
    return found


def _read(read: Parameters) -> Config:
    url, _ = read.hidden("url", checks.url_fault), read.hidden("key_env", key_env_check("password"))
    schema, table = read.text("schema"), read.text("table")
    metric = read.choice("metric", "cosine", tuple(OPERATORS))
    method = read.choice("index", "exact", ("exact", "hnsw", "ivfflat"))
    graph = {
        "m": read.integer("m", 16, low=2, high=100),
        "ef_construction": read.integer("ef_construction", 64, low=4, high=1000),
    }
    width = {"ef_search": read.integer("ef_search", 40, low=1, high=1000)}
    iterative = read.flag("iterative_scan", False)
    lists = {"lists": read.integer("lists", 100, low=1, high=32_768)}
    probes = {"probes": read.integer("probes", 1, low=1, high=32_768)}
    text = read.flag("text", False)
    fusion = _read_fusion(read)
    return Config(
        url=url or "",
        schema=schema or "public",
        table=table,
        metric=metric,
        method=method,
        built_with={"hnsw": graph, "ivfflat": lists}.get(method, {}),
        searched_with={"hnsw": width, "ivfflat": probes}.get(method, {}),
        iterative=iterative,
        memory_mb=read.integer("maintenance_work_mem_mb", 64, low=1, high=1_000_000),
        fusion=fusion if text else None,
        timeout_s=read.integer("timeout_s", 30, low=1, high=50),
        build_timeout_s=read.integer("build_timeout_s", 3600, low=1, high=86_400),
    )


def _read_fusion(read: Parameters) -> Fusion:
    return Fusion(
        config=read.text("text_config") or "english",
        query=read.choice("text_query", "any", tuple(QUERIES)),
        rank=read.choice("text_rank", "ts_rank", ("ts_rank", "ts_rank_cd")),
        normalization=read.integer("text_normalization", 0, low=0, high=63),
        depth=read.integer("depth", 20, low=1, high=100_000),
        rrf_k=read.integer("rrf_k", 60, low=0, high=1_000_000),
    )


def _disagreements(found: Config) -> list[str]:
    """Return what is wrong with names, and with parameters that are right each by itself."""
    problems = [*checks.plain_name("schema", found.schema, most=63), *checks.plain_name("table", found.table, most=50)]
    if found.fusion:
        problems += checks.config_name(found.fusion.config)
        if found.fusion.depth > found.most:
            problems.append(f"depth = {found.fusion.depth} must be at most ef_search = {found.most}")
    if found.iterative and found.method != "hnsw":
        problems.append('iterative_scan = true must stand beside index = "hnsw"')
    if found.method == "hnsw" and found.built_with["ef_construction"] < 2 * found.built_with["m"]:
        given = "ef_construction = {ef_construction} must be at least twice m = {m}"
        problems.append(given.format(**found.built_with))
    if found.method == "ivfflat" and found.searched_with["probes"] > found.built_with["lists"]:
        problems.append(
            "probes = {probes} must be at most lists = {lists}".format(**found.searched_with, **found.built_with)
        )
    return problems
