"""Cloudflare Vectorize over its REST API, version 2: one vector per chunk in an index that stays on the account."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ragassay.errors import InputError
from ragassay.plugins.stacks.connection import key_env_check, url_check
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.stored_index import PREFIX, bring_up, digest_of
from ragassay.plugins.stacks.vector_index import Stored, VectorIndex
from ragassay.plugins.stacks.vectorize.api import VectorizeApi
from ragassay.plugins.stacks.vectorize.engine import VectorizeEngine
from ragassay.plugins.stacks.vectorize.filter import checked_filter, let_through, metadata_of
from ragassay.plugins.stacks.vectorize.store import VectorizeStore
from ragassay.plugins.stacks.vectors import described, embed_chunks, embedder_of, truncated
from ragassay.records import JSON, Chunk, Secret
from ragassay.seams import Progress

METRICS = ("cosine", "euclidean", "dot-product")
PRECISIONS = ("approximate", "high")
URL = "https://api.cloudflare.com/client/v4"
MAX_DIMENSIONS = 1536
MAX_NUMBERS = 4_000_000
"""The most numbers in one upload: at 25 bytes each they stay below the 100 MB that the service takes."""
_ACCOUNT = re.compile(r"[0-9A-Za-z]{1,32}")
_INDEX = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_URL = f"url must be an http or https address such as {URL}"


class Vectorize:
    """Takes `account_id`, `key_env`, `index`, `metric`, `precision`, `namespace`, `filter`, `url`, and limits.

    `key` comes from the runner: the secret in the variable that `key_env` names. The part is `embedder`.
    """

    owns_corpus: ClassVar[bool] = False
    wire_form_only: ClassVar[bool] = True
    """Tested against a local server with the documented shapes, not yet against the service."""
    default_parts: ClassVar[Mapping[str, JSON]] = {"embedder": {"kind": "minilm-l6-v2-int8"}}
    removal: ClassVar[str] = "npx wrangler vectorize delete {name}"
    """What a person types to remove an index of that name."""

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        read = Parameters("vectorize", params)
        self._account = read.text("account_id") or ""
        self._url = read.hidden("url", url_check(_URL, needed=False)) or URL
        self._index = read.text("index")
        self._metric = read.choice("metric", "cosine", METRICS)
        self._precision = read.choice("precision", "approximate", PRECISIONS)
        self._namespace = read.text("namespace")
        self._filter = read.table("filter")
        self._block = read.integer("block", 1000, low=1, high=5000)
        self._timeout_s = read.integer("timeout_s", 30, low=1, high=55)
        self._wait_s = read.integer("wait_s", 600, low=1, high=86_400)
        read.hidden("key_env", key_env_check())
        read.note(*_unusable(self._account, self._index, self._namespace), *checked_filter(self._filter))
        read.finish()
        self._key = key

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> VectorIndex:
        """Embed all chunks and bring the index up on the account, or find it there whole; raises `StackError`."""
        embedder = embedder_of("vectorize", parts)
        if self._key is None:
            raise InputError("'vectorize' needs an API token: name the environment variable that holds it in key_env")
        metadata = metadata_of(self._filter, chunks)
        matrix = embed_chunks(embedder, chunks, progress)
        if matrix.shape[1] > MAX_DIMENSIONS:
            raise InputError(
                f"Vectorize holds vectors of at most {MAX_DIMENSIONS} numbers, and the embedder gives {matrix.shape[1]}"
            )
        digest = digest_of(chunks, embedder, self._shape())
        engine = stored = None
        if chunks:
            name, block = self._index or PREFIX + digest, min(self._block, MAX_NUMBERS // matrix.shape[1])
            api = VectorizeApi(self._url, self._account, self._key, timeout_s=self._timeout_s, wait_s=self._wait_s)
            store = VectorizeStore(api, name, self._metric, self._namespace, metadata)
            try:
                reused = bring_up("vectorize", name, store, matrix, digest, progress, block=block)
                stored = Stored(name=name, reused=reused, others=store.others())
            except BaseException:
                api.close()
                raise
            engine = VectorizeEngine(
                api,
                name,
                self._expected(metadata, len(chunks)),
                self._metric,
                self._precision == "high",
                self._namespace,
                self._filter,
            )
        return VectorIndex(
            "vectorize",
            [chunk.id for chunk in chunks],
            embedder,
            engine,
            dimension=matrix.shape[1],
            zero_is_far=self._metric != "euclidean",
            about=described("vectorize", embedder, truncated(embedder, chunks), **self._about()),
            stored=stored,
            left_out=_kept_out(self._filter, chunks),
        )

    @classmethod
    def unsearched(cls, entry: JSON, chunks: Sequence[Chunk]) -> frozenset[str]:
        """Return the ids of the chunks that the filter of a board entry keeps out of every search."""
        given = entry.get("filter")
        return _kept_out(given, chunks) if isinstance(given, Mapping) and not checked_filter(given) else frozenset()

    def _expected(self, metadata: Sequence[JSON], total: int) -> frozenset[int]:
        """Return the positions of the chunks that a search can return."""
        if self._filter is None:
            return frozenset(range(total))
        return frozenset(at for at, one in enumerate(metadata) if let_through(self._filter, one))

    def _shape(self) -> JSON:
        """Return what the index itself depends on, besides chunks and embedder."""
        shape: JSON = {"metric": self._metric}
        if self._namespace is not None:
            shape["namespace"] = self._namespace
        if self._filter is not None:
            shape["metadata"] = sorted(self._filter)
        return shape

    def _about(self) -> JSON:
        about: JSON = {"api": "v2", "url": self._url, "metric": self._metric, "precision": self._precision}
        if self._namespace is not None:
            about["namespace"] = self._namespace
        if self._filter is not None:
            about["filter"] = dict(self._filter)
        return {**about, "approximate": True}


def _kept_out(given: Mapping[str, Any] | None, chunks: Sequence[Chunk]) -> frozenset[str]:
    """Return the ids of the chunks that a filter, if there is one, does not let through."""
    if given is None:
        return frozenset()
    metadata = metadata_of(given, chunks)
    return frozenset(chunk.id for chunk, one in zip(chunks, metadata, strict=True) if not let_through(given, one))


def _unusable(account: str, index: str | None, namespace: str | None) -> list[str]:
    """Return what is wrong with the words that say where; an account that might be the token is not repeated."""
    problems = []
    if not _ACCOUNT.fullmatch(account):
        problems.append("account_id must be the account's identifier: 32 letters and digits, never the token")
    if index is not None and not _INDEX.fullmatch(index):
        problems.append(f"index = {index!r} must be 1 to 64 lower-case letters, digits, - and _, a letter first")
    if namespace is not None and len(namespace.encode("utf-8", "surrogatepass")) > 64:
        problems.append("namespace must be at most 64 bytes")
    return problems
