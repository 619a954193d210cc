"""Any OpenAI-compatible embeddings endpoint, `<base_url>/embeddings`, behind a call that blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragassay import canon
from ragassay.errors import InputError, ModelError, ModelErrorKind
from ragassay.plugins.embedders.openai_calls import Counter, Embedded, Gate, GateMaker, Slots
from ragassay.plugins.embedders.openai_vectors import rows_of
from ragassay.plugins.http import HttpClient, HttpReply, hint
from ragassay.plugins.http_body import Malformed
from ragassay.plugins.http_thread import HttpThread
from ragassay.plugins.meter import current
from ragassay.plugins.models.openai_reply import usage_of
from ragassay.plugins.price import input_price, input_price_problems
from ragassay.records import JSON, Secret, Usage

PATH = "/embeddings"
TIMEOUT_S = 120.0
_OURS = ("input", "model")


class OpenAIEmbedder:
    """Sends texts in batches and takes their vectors by `index`; of `dimension` numbers each, or it is an error.

    `key` and `gate` come from the runner: the secret that `key_env` names, and what makes the gate of all calls, which
    keeps the limits and makes a call again. Without it the limits a minute are not kept and a call is made once.
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
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        timeout_s: int = int(TIMEOUT_S),
        price: Mapping[str, Any] | None = None,
        key: Secret | None = None,
        gate: GateMaker | None = None,
        **unknown: Any,
    ) -> None:
        given = {"id": id, "base_url": base_url, "dimension": dimension, "key_env": key_env, "params": params or {}}
        given |= {"query_prefix": query_prefix, "document_prefix": document_prefix, "normalise": normalise}
        given |= {"batch": batch, "concurrency": concurrency, "timeout_s": timeout_s}
        given |= {"requests_per_minute": requests_per_minute, "tokens_per_minute": tokens_per_minute}
        strange = [f"unknown parameter {name!r}" for name in sorted(unknown)]
        if problems := [*_problems(given), *input_price_problems(price), *strange]:
            raise InputError("the parameters of the 'openai' embedder cannot be used", problems)
        assert dimension is not None
        self._id = id
        self._dimension = dimension
        self._params = dict(params or {})
        self._prefix = {"document": document_prefix, "query": query_prefix}
        self._normalise = normalise
        self._batch = batch
        self._price = input_price(price)
        limits = {"requests_per_minute": requests_per_minute, "tokens_per_minute": tokens_per_minute}
        self._gate: Gate = gate(concurrency=concurrency, **limits) if gate else Slots(concurrency)
        self._http = HttpClient(base_url, key=key, advice=_advice, connections=concurrency, timeout_s=timeout_s)
        self._thread = HttpThread(self._http)
        self._served: str | None = None
        self.counted = {"document": Counter(), "query": Counter()}
        """What the calls for documents and those for queries took so far."""

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return rows of shape (len(texts), dimension), of length 1 unless `normalise` is off.

        Raises `ModelError`, each fault by its kind, when the server gives no usable vectors for one of the batches.
        """
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        prefixed = [self._prefix[kind] + text for text in texts]
        batches = [prefixed[at : at + self._batch] for at in range(0, len(prefixed), self._batch)]
        return np.concatenate(self._thread.run(self._all(batches, kind)))

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

    async def _all(self, batches: Sequence[list[str]], kind: str) -> list[NDArray[np.float32]]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._through_the_gate(batch, kind)) for batch in batches]
        except BaseExceptionGroup as faults:
            raise faults.exceptions[0] from None
        return [task.result().rows for task in tasks]

    async def _through_the_gate(self, texts: list[str], kind: str) -> Embedded:
        return await self._gate.call(sum(map(len, texts)), lambda: self._once(texts, kind))

    async def _once(self, texts: list[str], kind: str) -> Embedded:
        self.counted[kind].began()
        if (meter := current()) is not None:
            meter.attempts += 1
        reply = await self._http.post_json(PATH, {"model": self._id, "input": texts, **self._params})
        tokens = usage_of(reply.body.get("usage")).input_tokens
        self.counted[kind].replied(tokens, reply.latency_ms)
        if meter is not None:
            cost = self._price.cost_microusd(tokens, 0) if self._price else None
            meter.add_outside(Usage(input_tokens=tokens, output_tokens=0), reply.latency_ms, cost)
        self._check_served(reply)
        try:
            rows = rows_of(reply.body, count=len(texts), dimension=self._dimension, normalise=self._normalise)
        except Malformed as error:
            raise ModelError(
                f"{self._http.host}, embeddings of {self._id}: {error}",
                kind="malformed_reply",
                retryable=error.retryable,
            ) from error
        return Embedded(rows=rows, input_tokens=tokens, latency_ms=reply.latency_ms)

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


def _advice(status: int, kind: ModelErrorKind) -> str:
    """Return what to do about a refusal; servers refuse too many texts and too long ones with one status."""
    if status == 413:
        return "; send fewer texts in one call (`batch`), or make chunks shorter (`max_tokens` of the chunker)"
    return hint(status, kind)


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
    limits |= {"requests_per_minute": 10_000_000, "tokens_per_minute": 1_000_000_000_000}
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
