"""The calls of Vectorize's REST API: one envelope, its errors, and patience while an index is built."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

import msgspec

from ragassay.errors import ModelError, ModelErrorKind, StackError
from ragassay.plugins.http import HttpClient, HttpReply
from ragassay.plugins.http_thread import HttpThread
from ragassay.plugins.stacks.vectorize.forms import Index, Info, Matches, MetadataIndexes, Mutation
from ragassay.records import JSON, Secret

ATTEMPTS = 5
CONNECTIONS = 8
_NOT_FOUND = re.compile(r'"code": 3000\b')
_BUSY = re.compile(r'"code": 40041\b')
_LONGEST_POLL_S = 5.0

T = TypeVar("T")


class VectorizeApi:
    """Asks one account, from any thread; connections are kept until `close`.

    Calls are made once; `patient` ones are repeated while asking again may help, as the service asks, for `wait_s` in
    all. Everything that fails is a `StackError`.
    """

    def __init__(self, url: str, account: str, key: Secret, *, timeout_s: int, wait_s: int) -> None:
        self._client = HttpClient(url, key=key, advice=_advice, connections=CONNECTIONS, timeout_s=timeout_s)
        self._thread = HttpThread(self._client)
        self._indexes = f"/accounts/{account}/vectorize/v2/indexes"
        self._wait_s = wait_s

    def list(self) -> list[Index]:
        """Return all indexes of the account."""
        return self._read(self._patient(lambda: self._client.get_json(self._indexes)), list[Index])

    def get(self, index: str) -> Index | None:
        """Return an index, None where there is none of that name."""
        try:
            reply = self._patient(lambda: self._client.get_json(f"{self._indexes}/{index}"))
        except StackError as error:
            if _NOT_FOUND.search(str(error)):
                return None
            raise
        return None if reply is None else self._read(reply, Index)

    def create(self, body: JSON) -> None:
        """Make an index."""
        self._read(self._patient(lambda: self._client.post_json(self._indexes, body)), Index)

    def info(self, index: str) -> Info:
        """Return what an index holds by now."""
        return self._read(self._patient(lambda: self._client.get_json(f"{self._indexes}/{index}/info")), Info)

    def metadata_indexes(self, index: str) -> MetadataIndexes:
        """Return the properties that filters can name."""
        path = f"{self._indexes}/{index}/metadata_index/list"
        return self._read(self._patient(lambda: self._client.get_json(path)), MetadataIndexes)

    def create_metadata_index(self, index: str, name: str, type: str) -> str:
        """Have a property indexed; returns the mutation's identifier."""
        path, body = f"{self._indexes}/{index}/metadata_index/create", {"propertyName": name, "indexType": type}
        return self._read(self._patient(lambda: self._client.post_json(path, body)), Mutation).mutation_id

    def upsert(self, index: str, lines: bytes) -> str:
        """Send vectors as newline-delimited JSON in a form's file; returns the mutation's identifier."""
        body, content_type = _form(lines)
        path = f"{self._indexes}/{index}/upsert?unparsable-behavior=error"
        reply = self._patient(lambda: self._client.post_bytes(path, body, content_type))
        return self._read(reply, Mutation).mutation_id

    def query(self, index: str, body: Mapping[str, Any]) -> Matches:
        """Return what was found, asked once."""
        return self._read(self._once(self._client.post_json(f"{self._indexes}/{index}/query", body)), Matches)

    def wait_for(self, index: str, mutation: str) -> None:
        """Return when the index holds what `mutation` changed; raises `StackError` after `wait_s`."""
        until, pause_s = time.monotonic() + self._wait_s, 0.05
        while (info := self.info(index)).processed_up_to_mutation != mutation:
            if time.monotonic() + pause_s > until:
                raise StackError(
                    f"Vectorize accepted the vectors of {index!r} and has not made them searchable within "
                    f"{self._wait_s} s; it holds {info.vector_count} by now. Run again: it goes on from there",
                    retryable=True,
                )
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_POLL_S)

    def close(self) -> None:
        """Close the connections; may be called twice."""
        self._thread.close()

    def _once(self, call: Coroutine[Any, Any, T]) -> T:
        try:
            return self._thread.run(call)
        except ModelError as error:
            raise StackError(str(error), retryable=_passes(error)) from None

    def _patient(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        until = time.monotonic() + self._wait_s
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._thread.run(call())
            except ModelError as error:
                asked_s = error.retry_after_s if error.retry_after_s is not None else 0.25 * 2**attempt
                if not _passes(error) or attempt == ATTEMPTS or time.monotonic() + asked_s > until:
                    raise StackError(str(error), retryable=_passes(error)) from None
            time.sleep(asked_s)
        raise AssertionError("unreachable")

    def _read(self, reply: HttpReply | None, form: type[T]) -> T:
        if reply is None:
            raise StackError(f"{self._client.host} serves no such path; check url, account_id and index")
        try:
            return msgspec.convert(reply.body.get("result"), form)
        except msgspec.ValidationError as error:
            said = self._client.scrub(str(error))
            raise StackError(f"{self._client.host} sent a reply outside the documented form: result: {said}") from None


def _passes(error: ModelError) -> bool:
    """Tell whether asking again may help: Vectorize says "Too Many Requests" under status 400 too, as error 40041."""
    return error.retryable or _BUSY.search(str(error)) is not None


def _form(lines: bytes) -> tuple[bytes, str]:
    """Return a multipart form with `lines` as the file `vectors`, and its content type."""
    boundary = "ragassay-" + hashlib.sha256(lines).hexdigest()
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="vectors"; filename="vectors.ndjson"\r\n'
        "Content-Type: application/x-ndjson\r\n\r\n"
    )
    body = b"".join([head.encode(), lines, f"\r\n--{boundary}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={boundary}"


def _advice(status: int, kind: ModelErrorKind) -> str:
    if 300 <= status < 400:
        return "; redirects are not followed, so that the token reaches no other server: correct url"
    if kind == "auth":
        return "; the token in the variable that `key_env` names needs the permission Vectorize Write on this account"
    return "; check url, account_id and index" if status in (404, 405) else ""
