"""Any OpenAI-compatible embeddings endpoint, `<base_url>/embeddings`, behind a call that blocks."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragassay import canon
from ragassay.errors import InputError, ModelError
from ragassay.plugins.embedders.openai_vectors import rows_of
from ragassay.plugins.http import HttpClient, HttpReply
from ragassay.plugins.http_body import Malformed
from ragassay.plugins.http_thread import HttpThread
from ragassay.records import JSON, Secret

PATH = "/embeddings"
TIMEOUT_S = 120.0
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
LONGEST_RETRY_AFTER_S = 900.0
_OURS = ("input", "model")


class OpenAIEmbedder:
    """Sends texts in batches and takes their vectors by `index`; of `dimension` numbers each, or it is an error.

    `key` and `attempts` come from the runner: the secret that `key_env` names, and how often a call is made in total
    before a retryable failure of a kind is final (without it each is made once).
    """

    def __init__(
        self,
        *,
        id: str = "",
        base_url: str = "",
        dimension: int | None = None,
        key_env: str | None = None,
        params: Mapping[str, Any] | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        normalise: bool = True,
        batch: int = 64,
        concurrency: int = 4,
        timeout_s: int = int(TIMEOUT_S),
        key: Secret | None = None,
        attempts: Mapping[str, int] | None = None,
        **unknown: Any,
    ) -> None:
        given = {"id": id, "base_url": base_url, "dimension": dimension, "key_env": key_env, "params": params or {}}
        given |= {"query_prefix": query_prefix, "document_prefix": document_prefix, "normalise": normalise}
        given |= {"batch": batch, "concurrency": concurrency, "timeout_s": timeout_s}
        if problems := [*_problems(given), *(f"unknown parameter {name!r}" for name in sorted(unknown))]:
            raise InputError("the parameters of the 'openai' embedder cannot be used", problems)
        assert dimension is not None
        self._id = id
        self._dimension = dimension
        self._params = dict(params or {})
        self._prefix = {"document": document_prefix, "query": query_prefix}
        self._normalise = normalise
        self._batch = batch
        self._concurrency = concurrency
        self._attempts = attempts or {}
        self._http = HttpClient(base_url, key=key, connections=concurrency, timeout_s=timeout_s)
        self._thread = HttpThread(self._http)
        self._served: str | None = None

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return rows of shape (len(texts), dimension), of length 1 unless `normalise` is off.

        Raises `ModelError`, each fault by its kind, when the server gives no usable vectors for one of the batches.
        """
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        prefixed = [self._prefix[kind] + text for text in texts]
        batches = [prefixed[at : at + self._batch] for at in range(0, len(prefixed), self._batch)]
        return np.concatenate(self._thread.run(self._all(batches)))

    def describe(self) -> JSON:
        """Return kind, id, base URL, parameters, dimension, prefixes; weights and token limit are the server's."""
        return {
            "kind": "openai",
            "id": self._id,
            "base_url": self._http.base_url,
            "params": canon.without_fractions(self._params),
            "dimension": self._dimension,
            "normalised": self._normalise,
            "prefix": dict(self._prefix),
            "weights": None,
            "token_limit": None,
        }

    def close(self) -> None:
        """Close the connections; may be called twice."""
        self._thread.close()

    async def _all(self, batches: Sequence[list[str]]) -> list[NDArray[np.float32]]:
        slots = asyncio.Semaphore(self._concurrency)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._patiently(batch, slots)) for batch in batches]
        except BaseExceptionGroup as faults:
            raise faults.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _patiently(self, texts: list[str], slots: asyncio.Semaphore) -> NDArray[np.float32]:
        """Ask until a reply is usable or its kind of failure has no attempt left; a waiting retry holds no slot."""
        failures: Counter[str] = Counter()
        while True:
            try:
                async with slots:
                    return await self._once(texts)
            except ModelError as error:
                failures[error.kind] += 1
                wait = error.retry_after_s or 0.0
                last = failures[error.kind] >= self._attempts.get(error.kind, 1)
                if not error.retryable or last or wait > LONGEST_RETRY_AFTER_S:
                    raise
                if error.retry_after_s is None:
                    longest = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (failures.total() - 1))
                    wait = longest * random.uniform(0.5, 1.0)
                await asyncio.sleep(wait)

    async def _once(self, texts: list[str]) -> NDArray[np.float32]:
        reply = await self._http.post_json(PATH, {"model": self._id, "input": texts, **self._params})
        self._check_served(reply)
        try:
            return rows_of(reply.body, count=len(texts), dimension=self._dimension, normalise=self._normalise)
        except Malformed as error:
            raise ModelError(
                f"{self._http.host}, embeddings of {self._id}: {error}",
                kind="malformed_reply",
                retryable=error.retryable,
            ) from error

    def _check_served(self, reply: HttpReply) -> None:
        """Raise where another model answers than before: vectors of two models cannot be compared."""
        served = reply.body.get("model")
        if not isinstance(served, str) or not served:
            return
        self._served = self._served or served
        if served != self._served:
            raise ModelError(
                f"{self._http.host} served embeddings of {self._http.scrub(self._served)!r} and then of "
                f"{self._http.scrub(served)!r}: vectors of two models cannot be compared",
                kind="malformed_reply",
                retryable=False,
            )


def _problems(given: JSON) -> list[str]:
    """Return what is wrong with the parameters, each with what it must be."""
    problems = [
        f"{name} is missing; give {what}"
        for name, what in (("id", "the model's name"), ("base_url", "the address before /embeddings"))
        if not isinstance(given[name], str) or not given[name]
    ]
    if given["dimension"] is None:
        problems.append("dimension is missing; give the length of a vector (`ragassay models check` prints it)")
    limits = {"dimension": 65_536, "batch": 2048, "concurrency": 256, "timeout_s": 86_400}
    for name, high in limits.items():
        value = given[name]
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= high):
            problems.append(f"{name} = {value!r} must be an integer from 1 to {high}")
    problems += [
        f"{name} must be a text" for name in ("query_prefix", "document_prefix") if not isinstance(given[name], str)
    ]
    if not isinstance(given["normalise"], bool):
        problems.append("normalise must be true or false")
    if not isinstance(given["params"], Mapping):
        problems.append("params must be a table")
    else:
        problems += [
            f"params.{name} is set by the harness and cannot be given" for name in _OURS if name in given["params"]
        ]
    return problems
