"""What a Pinecone row can set: where the index is, how vectors are compared, whether token weights count besides."""

from __future__ import annotations

import re

import msgspec

from ragassay.plugins.stacks.connection import key_env_check, url_check
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.qdrant.tokens import TOKENIZER
from ragassay.records import JSON

METRICS = ("cosine", "euclidean", "dotproduct")
CLOUDS = ("aws", "gcp", "azure")
URL = "https://api.pinecone.io"
_INDEX = re.compile(r"[a-z0-9]([a-z0-9-]{0,43}[a-z0-9])?")
_NAMESPACE = re.compile(r"[!-~]{1,512}")
_REGION = re.compile(r"[a-z0-9-]{1,64}")
_URL = f"url must be an http or https address such as {URL}"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of one row; decimal strings where a number may be fractional."""

    url: str
    index: str | None
    namespace: str | None
    cloud: str
    region: str
    metric: str
    sparse: bool
    alpha: str
    k1: str
    b: str
    block: int
    timeout_s: int
    wait_s: int

    def shape(self) -> JSON:
        """Return what the vectors in the namespace depend on, besides chunks and embedder."""
        tokens = {"weights": "bm25", "k1": self.k1, "b": self.b, "tokenizer": TOKENIZER}
        return {"metric": self.metric, **({"tokens": tokens} if self.sparse else {})}

    def described(self) -> JSON:
        """Return everything that can change a result; what has no effect is left out."""
        return {
            "url": self.url,
            **self.shape(),
            **({"alpha": self.alpha} if self.sparse else {}),
        }


def read_settings(read: Parameters) -> Settings:
    """Read all of them; what is wrong is noted in `read`."""
    read.hidden("key_env", key_env_check())
    settings = Settings(
        url=read.hidden("url", url_check(_URL, needed=False)) or URL,
        index=read.text("index"),
        namespace=read.text("namespace"),
        cloud=read.choice("cloud", "aws", CLOUDS),
        region=read.text("region") or "us-east-1",
        metric=read.choice("metric", "cosine", METRICS),
        sparse=read.flag("sparse", False),
        alpha=read.decimal("alpha", "0.75", low="0", high="1"),
        k1=read.decimal("k1", "1.5", low="0", high="100"),
        b=read.decimal("b", "0.75", low="0", high="1"),
        block=read.integer("block", 200, low=1, high=1000),
        timeout_s=read.integer("timeout_s", 30, low=1, high=50),
        wait_s=read.integer("wait_s", 600, low=1, high=86_400),
    )
    read.note(*_problems(settings))
    return settings


def _problems(settings: Settings) -> list[str]:
    problems = []
    if settings.index is not None and not _INDEX.fullmatch(settings.index):
        problems.append(f"index = {settings.index!r} must be 1 to 45 of a-z, 0-9 and -, no - at either end")
    if settings.namespace is not None and not _NAMESPACE.fullmatch(settings.namespace):
        problems.append(f"namespace = {settings.namespace!r} must be 1 to 512 visible ASCII characters")
    if not _REGION.fullmatch(settings.region):
        problems.append(f"region = {settings.region!r} must be a region's name, such as us-east-1")
    if settings.sparse and settings.metric != "dotproduct":
        problems.append('sparse = true needs metric = "dotproduct": the service adds the two products up')
    return problems
