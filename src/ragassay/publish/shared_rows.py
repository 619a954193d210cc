"""Runs that were copied from one another: the same reply of a service stands in two of them, and no fill says so. Pure.

A reply is known by what is drawn anew for each: the nonce that a judge's prompt carries, and the id that a provider
gave the request. Each belongs to one run. A declared fill says whose it is; what is there without a declaration was
taken from somewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest.announce import decode_intent
from ragassay.manifest.files import INTENT
from ragassay.manifest.statement import RunDocument
from ragassay.records import OutputRow, TelemetryRow

FRESH_NONCE = re.compile(r"[0-9a-f]{32}")
"""What a judge that asks a model draws for each prompt; one that asks nobody has a fixed nonce, which says nothing."""
SHORTEST_REQUEST_ID = 20
"""Shorter ids are numbered, or drawn from so few that two runs share some by chance."""


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs that hold the same replies: `items` are the questions of `run` to which they belong."""

    run: str
    other: str
    items: tuple[str, ...]


class _Stand(msgspec.Struct, frozen=True):
    """Where an id stands: the run, the question, and the run whose answer it is by what the run declares."""

    run: str
    item: str
    origin: str


def shared_replies(runs: Iterable[tuple[RunDocument, Mapping[str, bytes]]]) -> list[Shared]:
    """Return every two runs that share a reply which no declared fill accounts for, each way round, by their ids.

    `runs` are verified runs with their files. An id that stands at two questions of one run identifies nothing.
    """
    by_id: dict[tuple[str, str], list[_Stand]] = {}
    for document, files in runs:
        for key, stand in _own(document, _planned(document, files)):
            by_id.setdefault(key, []).append(stand)
    found: dict[tuple[str, str], dict[str, None]] = {}
    for stands in by_id.values():
        for one in stands:
            for other in stands:
                if one.run != other.run and one.origin != other.origin:
                    found.setdefault((one.run, other.run), {})[one.item] = None
    return [Shared(run=run, other=other, items=tuple(items)) for (run, other), items in sorted(found.items())]


def _planned(document: RunDocument, files: Mapping[str, bytes]) -> str:
    """Return the run whose answers a run holds where its rows name none: itself, for a fill the planned one."""
    predicate = document.predicate
    if not predicate.counts.filled:
        return predicate.run_id
    try:
        planned: Sequence[str] = decode_intent(files.get(INTENT, b"")).predicate.runs
    except VerifyError:
        return predicate.run_id
    return planned[predicate.pass_.k - 1] if predicate.pass_.k <= len(planned) else predicate.run_id


def _own(document: RunDocument, planned: str) -> Iterator[tuple[tuple[str, str], _Stand]]:
    pairs = list(zip(document.outputs, document.telemetry, strict=False))
    times = Counter(key for row, took in pairs for key in set(_keys(took)))
    for row, took in pairs:
        for key in set(_keys(took)):
            if times[key] == 1:
                yield key, _Stand(document.predicate.run_id, row.id, _origin(row, planned))


def _origin(row: OutputRow, planned: str) -> str:
    return row.fill.run if row.fill is not None else planned


def _keys(took: TelemetryRow) -> Iterator[tuple[str, str]]:
    for reply in took.judge_replies:
        if FRESH_NONCE.fullmatch(reply.nonce):
            yield "nonce", reply.nonce
    if took.request_id is not None and len(took.request_id) >= SHORTEST_REQUEST_ID:
        yield "request", took.request_id
