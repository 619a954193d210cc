"""Events go into a file of JSON lines, or to an OTLP/HTTP endpoint in JSON, a request at a time."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import BinaryIO
from urllib.parse import urlsplit, urlunsplit

import msgspec

from ragassay.errors import InputError, PluginError
from ragassay.export.otel import requests_of
from ragassay.export.source import RunSource
from ragassay.records import Record

PATH = "/v1/logs"
MAX_REPLY = 1 << 20
TIMEOUT_S = 30.0


class Events(Record, frozen=True):
    """How many events went out, and how many of them carry a score or an error."""

    events: int = 0
    scored: int = 0
    errors: int = 0

    def plus(self, counts: tuple[int, int]) -> Events:
        """Return the sum with the scored and unscored questions of one run."""
        scored, errors = counts
        return Events(events=self.events + scored + errors, scored=self.scored + scored, errors=self.errors + errors)


def write_events(source: RunSource, file: BinaryIO) -> Events:
    """Write the events of every run as JSON lines, each line a whole `LogsData`."""
    total = Events()
    for run in source:
        for _, request in requests_of(run):
            file.write(msgspec.json.encode(request) + b"\n")
        total = total.plus((run.facts.counts.scored, run.facts.counts.missing))
    source.require_some()
    return total


def send_events(source: RunSource, endpoint: str, headers: Mapping[str, str]) -> Events:
    """Send the events of every run; raises `PluginError` where the endpoint does not take all of a request.

    What it took before stays there: an endpoint has no whole or not at all.
    """
    address = logs_address(endpoint)
    total, taken = Events(), 0
    for run in source:
        for count, request in requests_of(run):
            try:
                _post(address, msgspec.json.encode(request), headers)
            except PluginError as error:
                said = f"{error}; it took {taken:,} events before, and run {run.facts.run} is not there whole"
                raise PluginError(said, retryable=error.retryable) from error
            taken += count
        total = total.plus((run.facts.counts.scored, run.facts.counts.missing))
    source.require_some()
    return total


def logs_address(endpoint: str) -> str:
    """Return where logs are posted: the endpoint itself where its path ends in `/v1/logs`, else below it."""
    try:
        parts = urlsplit(endpoint)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError as error:
        raise InputError(f"--endpoint is no address: {error}") from error
    if not usable or not endpoint.isascii() or not endpoint.isprintable() or " " in endpoint:
        raise InputError("--endpoint is an http or https address without a name in it: http://127.0.0.1:4318")
    path = parts.path.rstrip("/")
    return urlunsplit(parts._replace(path=path if path.endswith(PATH) else path + PATH))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow no redirect: what is sent goes to the address that was named."""


def _post(address: str, data: bytes, headers: Mapping[str, str]) -> None:
    request = urllib.request.Request(
        address, data=data, headers={**headers, "Content-Type": "application/json"}, method="POST"
    )
    where = urlsplit(address).netloc
    try:
        with urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({})).open(
            request, timeout=TIMEOUT_S
        ) as reply:
            body = reply.read(MAX_REPLY)
    except urllib.error.HTTPError as error:
        error.close()
        retryable = error.code in (429, 502, 503, 504)
        raise PluginError(f"{where} refused the events with HTTP {error.code}", retryable=retryable) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise PluginError(f"{where} cannot be reached: {type(error).__name__}", retryable=True) from error
    if rejected := _rejected(body):
        raise PluginError(f"{where} rejected {rejected} events of a request")


def _rejected(body: bytes) -> int:
    """Return how many records of a request were rejected, as its reply says; a reply that is no JSON says nothing."""
    try:
        reply = msgspec.json.decode(body or b"{}")
        return int((reply.get("partialSuccess") or {}).get("rejectedLogRecords") or 0)
    except (ValueError, RecursionError, AttributeError, TypeError):
        return 0
