"""Bring your own retriever: a service that answers `POST {question, k}` with `{hits: [{id, text, score}]}`.

The contract is written down as OpenAPI 3.1 in `http/openapi.json` beside this file.
"""

from __future__ import annotations

import re
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from ragassay.errors import ModelError, ModelErrorKind, StackError
from ragassay.plugins.http import HttpClient
from ragassay.plugins.http_thread import HttpThread
from ragassay.plugins.stacks.connection import key_env_check, key_header_fault, url_check
from ragassay.plugins.stacks.http.reply import description_of, hits_of
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON, Chunk, Hit, Secret
from ragassay.seams import Progress

OPENAPI = Path(__file__).with_name("openapi.json")
"""The contract as an OpenAPI 3.1 document."""

CONTRACT = "1"
CONNECTIONS = 8
MAX_K = 10_000
_URL = "url must be the http or https address that questions are posted to, such as http://127.0.0.1:8000/search"
_ADVICE = "; check the key in the environment variable that `key_env` names"

T = TypeVar("T")


class Http:
    """Takes `url`, `key_env`, `key_header`, `timeout_s`, `max_response_bytes`, `max_text_chars`.

    `key` comes from the runner: the secret in the variable that `key_env` names.
    """

    owns_corpus: ClassVar[bool] = True
    default_parts: ClassVar[Mapping[str, JSON]] = {}

    def __init__(self, *, key: Secret | None = None, **params: Any) -> None:
        read = Parameters("http", params)
        self._url = read.hidden("url", url_check(_URL)) or ""
        read.hidden("key_env", key_env_check())
        header = read.hidden("key_header", key_header_fault) or ""
        self._timeout_s = read.integer("timeout_s", 30, low=1, high=55)
        self._max_bytes = read.integer("max_response_bytes", 4_194_304, low=1024, high=67_108_864)
        self._max_text = read.integer("max_text_chars", 100_000, low=1, high=10_000_000)
        read.finish()
        self._key = key
        self._key_header = "Authorization" if header.lower() in ("", "authorization") else header

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> HttpRetriever:
        """Ask the service what it is; its corpus is its own, so `chunks` are not sent. Raises `StackError`."""
        address = urlsplit(self._url)
        client = HttpClient(
            f"{address.scheme}://{address.netloc}",
            key=self._key,
            key_header=self._key_header,
            advice=_advice,
            connections=CONNECTIONS,
            timeout_s=self._timeout_s,
            max_response_bytes=self._max_bytes,
        )
        retriever = HttpRetriever(client, address.path or "/", self._max_text)
        try:
            retriever.ask_what_it_is()
        except BaseException:
            retriever.close()
            raise
        return retriever


class HttpRetriever:
    """Asks one service, from any thread; connections are kept until `close`."""

    def __init__(self, client: HttpClient, path: str, max_text_chars: int) -> None:
        self._client = client
        self._path = path
        self._max_text = max_text_chars
        self._thread = HttpThread(client)
        self._about: JSON = {"kind": "http", "contract": CONTRACT, "url": client.base_url + path}

    def ask_what_it_is(self) -> None:
        """Take name and version into the description where the service gives them; raises `StackError`."""
        reply = self._run(self._client.get_json(self._path))
        if reply is not None:
            with self._named():
                self._about["service"] = description_of({} if reply.events else reply.body)
            self._refuse_key([*self._about["service"].values()])

    def search(self, text: str, k: int) -> list[Hit]:
        """Return at most k hits with their texts, best first, scores from 0 to 1.

        Raises `StackError` for every reply that is not one by the contract; `retryable` where another attempt may help.
        """
        if not 1 <= k <= MAX_K:
            raise StackError(f"k = {k} is outside 1 to {MAX_K}")
        reply = self._run(self._client.post_json(self._path, {"question": text, "k": k}))
        if reply.events is not None:
            raise StackError(f"{self._client.host} sent a stream of events; one JSON object is wanted")
        with self._named():
            hits = hits_of(reply.body, k=k, max_text_chars=self._max_text)
        self._refuse_key([part for hit in hits for part in (hit.chunk, hit.text or "")])
        return hits

    def describe(self) -> JSON:
        """Return kind, contract and address, and what the service calls itself where it says so."""
        return {**self._about}

    def close(self) -> None:
        """Close the connections; may be called twice."""
        self._thread.close()

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        try:
            return self._thread.run(call)
        except ModelError as error:
            message = re.sub(r"; check base_url$", "; check url", str(error))
            raise StackError(message, retryable=error.retryable) from None

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Put the server's name before a fault, and take the key out of what it repeats."""
        try:
            yield
        except StackError as error:
            raise StackError(f"{self._client.host}: {self._client.scrub(str(error))}") from None

    def _refuse_key(self, texts: Sequence[str]) -> None:
        if any(self._client.scrub(text) != text for text in texts):
            raise StackError(f"{self._client.host} sent the key back in its reply, which would be recorded")


def _advice(status: int, kind: ModelErrorKind) -> str:
    if 300 <= status < 400:
        return "; redirects are not followed, so that the key reaches no other server: correct url"
    return _ADVICE if kind == "auth" else "; check url" if status in (404, 405) else ""
