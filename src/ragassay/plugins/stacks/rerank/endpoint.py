"""A rerank service behind HTTP: the passages go there, a score for each comes back."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ragassay import canon
from ragassay.errors import ModelError, ModelErrorKind, StackError
from ragassay.plugins.http import HttpClient
from ragassay.plugins.http_thread import HttpThread
from ragassay.plugins.meter import current
from ragassay.plugins.stacks.rerank.calls import PATIENCE_S, Calls
from ragassay.plugins.stacks.rerank.reply import LIST, billed, request, scores_of, service_of
from ragassay.plugins.stacks.rerank.settings import EndpointSettings
from ragassay.records import JSON, Secret, Usage

BATCH = 100
"""Passages a call; Cohere bills one search for up to a hundred."""
TEI_BATCH = 32
"""What a TEI server takes in one call unless it was started otherwise."""
PROBE = ("What is a retry?", ("A retry is another attempt.", "The sky is blue."))
"""Asked once when the row is built, so that a wrong address, key or form shows before the first question."""

T = TypeVar("T")


class EndpointScorer:
    """Asks one service, from any thread; connections are kept until `close`."""

    def __init__(self, settings: EndpointSettings, key: Secret | None) -> None:
        address = urlsplit(settings.url)
        self._settings = settings
        self._path = address.path or "/"
        self._client = HttpClient(
            f"{address.scheme}://{address.netloc}",
            key=key,
            advice=_advice,
            connections=settings.concurrency,
            timeout_s=settings.timeout_s,
            list_name=LIST,
        )
        self._calls = Calls(settings.concurrency)
        self._thread = HttpThread(self._client)
        self._served: str | None = None
        self._service: JSON = {}
        try:
            if settings.form == "tei":
                self._service = self._ask_what_it_is()
            self._batch = settings.batch or self._usual_batch()
            self.scores(*PROBE)
        except BaseException:
            self.close()
            raise

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return a score per passage, as the service gives it.

        Raises `StackError`, `retryable` where asking again may help: also for one passage without a score.
        """
        return self._run(self._all(question, passages))

    def describe(self) -> JSON:
        """Return form, address, model, parameters, batch, and what the service says of itself."""
        about: JSON = {
            "method": "endpoint",
            "form": self._settings.form,
            "url": self._client.base_url + self._path,
            "id": self._settings.id,
            "served": self._served,
            "service": self._service or None,
            "params": canon.without_fractions(dict(self._settings.params)) or None,
            "batch": self._batch,
        }
        return {name: value for name, value in about.items() if value is not None}

    def close(self) -> None:
        """Close the connections; may be called twice."""
        self._thread.close()

    async def _all(self, question: str, passages: Sequence[str]) -> list[float]:
        until = time.monotonic() + PATIENCE_S
        batches = [passages[at : at + self._batch] for at in range(0, len(passages), self._batch)]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._calls.make(lambda batch=batch: self._once(question, batch), until))  # type: ignore[misc]
                    for batch in batches
                ]
        except BaseExceptionGroup as faults:
            raise faults.exceptions[0] from None
        return [score for task in tasks for score in task.result()]

    async def _once(self, question: str, passages: Sequence[str]) -> list[float]:
        settings = self._settings
        if (meter := current()) is not None:
            meter.attempts += 1
        reply = await self._client.post_json(
            self._path, request(settings.form, settings.id, question, passages, settings.params)
        )
        if meter is not None:
            took = billed(reply.body)
            cost = settings.price.cost_microusd(took.searches, took.tokens) if settings.price else None
            usage = Usage(input_tokens=took.tokens, output_tokens=None if took.tokens is None else 0)
            meter.add_outside(usage, reply.latency_ms, cost)
        if reply.events is not None:
            raise StackError(f"{self._client.host} sent a stream of events; a list of results is wanted")
        try:
            found = scores_of(reply.body, settings.form, len(passages))
        except StackError as error:
            raise StackError(f"{self._client.host}: {self._client.scrub(str(error))}") from None
        self._check_served(reply.body.get("model"))
        return found

    def _check_served(self, served: object) -> None:
        """Raise where another model answers than before: it is another measurement."""
        if not isinstance(served, str) or not served:
            return
        name = self._client.scrub(served)[:200]
        self._served = self._served or name
        if name != self._served:
            raise StackError(
                f"{self._client.host} reranked with {self._served!r} and then with {name!r}: a row measures one model"
            )

    def _ask_what_it_is(self) -> JSON:
        path = self._path.removesuffix("/rerank") + "/info"
        until = time.monotonic() + PATIENCE_S
        reply = self._run(self._calls.make(lambda: self._client.get_json(path), until))
        if reply is None or reply.events is not None:
            return {}
        found = service_of(reply.body)
        if self._client.scrub(str(found)) != str(found):
            raise StackError(f"{self._client.host} sent the key back in its reply, which would be recorded")
        return found

    def _usual_batch(self) -> int:
        if self._settings.form != "tei":
            return BATCH
        most = self._service.get("max_client_batch_size")
        return most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else TEI_BATCH

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        try:
            return self._thread.run(call)
        except ModelError as error:
            message = re.sub(r"; check base_url$", "; check url", str(error))
            host = "" if message.startswith(self._client.host) else f"{self._client.host}: "
            raise StackError(host + message, retryable=error.retryable) from None


def _advice(status: int, kind: ModelErrorKind) -> str:
    if 300 <= status < 400:
        return "; redirects are not followed, so that the key reaches no other server: correct url"
    if kind == "auth":
        return "; check the key in the environment variable that `key_env` names"
    if status in (404, 405):
        return "; check url (the whole address, such as …/v2/rerank), form and id"
    return "; send fewer passages in one call (`batch`), or shorter ones" if status == 413 else ""
