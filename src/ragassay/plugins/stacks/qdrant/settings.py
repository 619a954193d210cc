"""What a Qdrant index is and how it is searched: read once, the same for the embedded engine and the server."""

from __future__ import annotations

import msgspec

from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.qdrant.tokens import TOKENIZER
from ragassay.records import JSON

METRICS = {"cosine": "Cosine", "dot": "Dot", "euclid": "Euclid"}
QUANTIZATIONS = ("none", "int8", "binary", "product")
COMPRESSIONS = ("x4", "x8", "x16", "x32", "x64")
FUSIONS = ("none", "rrf", "engine-rrf")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of an index and its search; decimal strings where a number may be fractional."""

    metric: str
    exact: bool
    m: int
    ef_construct: int
    ef: int
    full_scan_threshold_kb: int
    quantization: str
    compression: str
    rescore: bool
    oversampling: str
    fusion: str
    rrf_k: int
    k1: str
    b: str
    depth: int

    @property
    def fused(self) -> bool:
        """Whether token weights are searched beside the vectors."""
        return self.fusion != "none"

    @property
    def quantized(self) -> bool:
        """Whether the engine compares quantised vectors first."""
        return self.quantization != "none"

    @property
    def zero_is_far(self) -> bool:
        """Whether a question whose vector is zero finds nothing."""
        return self.metric != "euclid" and not self.fused

    def problems(self, smallest_full_scan_kb: int) -> list[str]:
        """Return which parameters contradict each other, or what the engine takes."""
        found = []
        if self.exact and self.quantized:
            found.append('quantization must be "none" with exact = true, which compares whole vectors')
        if self.full_scan_threshold_kb < smallest_full_scan_kb:
            found.append(f"full_scan_threshold_kb must be at least {smallest_full_scan_kb} on a server")
        return found

    def shape(self) -> JSON:
        """Return what shapes the index: equal for two searches that can share one."""
        graph = {"m": self.m, "ef_construct": self.ef_construct, "full_scan_threshold_kb": self.full_scan_threshold_kb}
        return {
            "metric": self.metric,
            "exact": self.exact,
            **({} if self.exact else {"hnsw": graph}),
            **({"quantization": self._codes()} if self.quantized else {}),
            **({"tokens": self._tokens()} if self.fused else {}),
        }

    def described(self) -> JSON:
        """Return everything that can change a result; what has no effect is left out."""
        about = self.shape()
        if not self.exact:
            about["hnsw"]["ef"] = self.ef
        if self.quantized:
            about["quantization"] |= {"rescore": self.rescore}
            about["quantization"] |= {"oversampling": self.oversampling} if self.rescore else {}
        if self.fused:
            about["fusion"] = {"kind": self.fusion, "rrf_k": self.rrf_k}
        return about | ({"depth": self.depth} if self.fused or not self.exact else {})

    def _codes(self) -> JSON:
        return {"kind": self.quantization, **({"compression": self.compression} if self.by_product else {})}

    @property
    def by_product(self) -> bool:
        """Whether quantisation is by product, which has a rate of compression."""
        return self.quantization == "product"

    def _tokens(self) -> JSON:
        return {"weights": "bm25", "k1": self.k1, "b": self.b, "modifier": "idf", "tokenizer": TOKENIZER}


def read_settings(read: Parameters) -> Settings:
    """Read all of them; what is wrong is noted in `read`."""
    return Settings(
        metric=read.choice("metric", "cosine", tuple(METRICS)),
        exact=read.flag("exact", True),
        m=read.integer("m", 16, low=4, high=512),
        ef_construct=read.integer("ef_construct", 100, low=4, high=100_000),
        ef=read.integer("ef", 128, low=1, high=100_000),
        full_scan_threshold_kb=read.integer("full_scan_threshold_kb", 10_000, low=1, high=1_000_000_000),
        quantization=read.choice("quantization", "none", QUANTIZATIONS),
        compression=read.choice("compression", "x16", COMPRESSIONS),
        rescore=read.flag("rescore", True),
        oversampling=read.decimal("oversampling", "2", low="1", high="100"),
        fusion=read.choice("fusion", "none", FUSIONS),
        rrf_k=read.integer("rrf_k", 2, low=1, high=1_000_000),
        k1=read.decimal("k1", "1.5", low="0", high="100"),
        b=read.decimal("b", "0.75", low="0", high="1"),
        depth=read.integer("depth", 50, low=1, high=10_000),
    )
