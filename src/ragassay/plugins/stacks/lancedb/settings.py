"""What a LanceDB row is configured with: what is searched, by which index, and what of it is recorded."""

from __future__ import annotations

import re
from typing import Any

from lancedb.index import FTS, HnswFlat, HnswPq, HnswSq, IvfFlat, IvfPq

from ragassay.errors import InputError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.searches import SEARCHES, Searches
from ragassay.records import JSON

METRICS = ("cosine", "l2", "dot")
INDEXES = ("flat", "ivf_flat", "ivf_pq", "ivf_hnsw_flat", "ivf_hnsw_sq", "ivf_hnsw_pq")
TOKENIZERS = ("simple", "whitespace", "icu")
LANGUAGES = (
    *("Arabic", "Danish", "Dutch", "English", "Finnish", "French", "German", "Greek", "Hungarian", "Italian"),
    *("Norwegian", "Portuguese", "Romanian", "Russian", "Spanish", "Swedish", "Tamil", "Turkish"),
)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")


class Settings(Searches, frozen=True, kw_only=True):
    """What shapes the table, its indexes, and the search in them; 0 leaves a number to LanceDB."""

    metric: str
    index: str
    partitions: int
    sub_vectors: int
    bits: int
    m: int
    ef_construction: int
    nprobes: int
    ef: int
    refine_factor: int
    depth: int
    tokenizer: str
    language: str
    stem: bool
    stop_words: bool
    ascii_folding: bool
    rrf_k: int

    @property
    def doubled(self) -> bool:
        """True where LanceDB returns 2 - 2 cos for a cosine: the codes of a quantised index, compared by L2."""
        quantised = self.index in ("ivf_pq", "ivf_hnsw_sq", "ivf_hnsw_pq")
        return self.metric == "cosine" and quantised and self.refine_factor == 0

    def built(self) -> JSON:
        """Return what the vector index is built with."""
        found: JSON = {}
        if self.index != "flat":
            found["partitions"] = self.partitions
        if self.index.endswith("_pq"):
            found |= {"sub_vectors": self.sub_vectors, "bits": self.bits}
        if "hnsw" in self.index:
            found |= {"m": self.m, "ef_construction": self.ef_construction}
        return found

    def words(self) -> JSON:
        """Return what the full-text index is built with."""
        names = ("tokenizer", "language", "stem", "stop_words", "ascii_folding")
        return {name: getattr(self, name) for name in names}

    def shape(self) -> JSON:
        """Return what two tables over the same chunks may differ in."""
        shape: JSON = {"stack": "lancedb"}
        if self.vectors:
            shape["vector"] = {"metric": self.metric, "index": self.index, **self.built()}
        if self.texts:
            shape["text"] = self.words()
        return shape

    def described(self) -> JSON:
        """Return what is recorded: only what has an effect."""
        found: JSON = {"search": self.search}
        if self.vectors:
            asked: JSON = {} if self.index == "flat" else {"nprobes": self.nprobes, "refine_factor": self.refine_factor}
            if "hnsw" in self.index:
                asked["ef"] = self.ef
            found |= {"metric": self.metric, "index": {"kind": self.index, **self.built(), **asked}}
        if self.texts:
            found["text"] = self.words()
        if self.search == "hybrid":
            found["fusion"] = {"method": "rrf", "k": self.rrf_k}
        if self.search == "hybrid" or (self.vectors and self.index != "flat"):
            found["depth"] = self.depth
        return found

    def check(self, *, stored: bool, table: str | None) -> None:
        """Raise `InputError` for settings that do not go together."""
        problems = []
        if table is not None and not stored:
            problems.append("table must be left out without path")
        if table is not None and not _NAME.fullmatch(table):
            problems.append("table must be of letters, digits, _ . and -, at most 200, and not begin with . or -")
        if self.bits not in (4, 8):
            problems.append(f"bits = {self.bits} must be 4 or 8")
        if "hnsw" in self.index and self.ef < self.depth:
            problems.append(f"ef = {self.ef} must be at least depth = {self.depth}, of which it is the candidates")
        if problems:
            raise InputError("the parameters of 'lancedb' cannot be used", problems)

    def vector_config(self) -> Any:
        """Return how LanceDB is asked to build the vector index."""
        names = {"partitions": "num_partitions", "sub_vectors": "num_sub_vectors", "bits": "num_bits"}
        given = {names.get(name, name): value for name, value in self.built().items() if value != 0}
        kind = dict(zip(INDEXES[1:], (IvfFlat, IvfPq, HnswFlat, HnswSq, HnswPq), strict=True))[self.index]
        return kind(distance_type=self.metric, **given)

    def text_config(self) -> FTS:
        """Return how LanceDB is asked to build the full-text index; one worker, so that it is built alike each time."""
        return FTS(
            base_tokenizer=self.tokenizer,
            language=self.language,
            stem=self.stem,
            remove_stop_words=self.stop_words,
            ascii_folding=self.ascii_folding,
            num_workers=1,
        )


def read_settings(read: Parameters) -> Settings:
    """Return the settings; what is wrong is noted in `read`."""
    return Settings(
        search=read.choice("search", "vector", SEARCHES),
        metric=read.choice("metric", "cosine", METRICS),
        index=read.choice("index", "flat", INDEXES),
        partitions=read.integer("partitions", 0, low=0, high=65_536),
        sub_vectors=read.integer("sub_vectors", 0, low=0, high=4_096),
        bits=read.integer("bits", 8, low=4, high=8),
        m=read.integer("m", 20, low=2, high=512),
        ef_construction=read.integer("ef_construction", 300, low=4, high=10_000),
        nprobes=read.integer("nprobes", 20, low=1, high=65_536),
        ef=read.integer("ef", 150, low=1, high=100_000),
        refine_factor=read.integer("refine_factor", 1, low=0, high=1_000),
        depth=read.integer("depth", 100, low=1, high=10_000),
        tokenizer=read.choice("tokenizer", "simple", TOKENIZERS),
        language=read.choice("language", "English", LANGUAGES),
        stem=read.flag("stem", True),
        stop_words=read.flag("stop_words", True),
        ascii_folding=read.flag("ascii_folding", True),
        rrf_k=read.integer("rrf_k", 60, low=1, high=10_000),
    )
