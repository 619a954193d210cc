"""Items as OpenTelemetry events `gen_ai.evaluation.result`, in the JSON encoding of OTLP. Pure.

Names and requirement levels are those of the semantic conventions for generative AI. A question without a score has
`error.type` and no value, and no text of a question, a page or an answer is in any event.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ragassay import __version__
from ragassay.export.item import ExportedItem, RunFacts
from ragassay.export.source import VerifiedRun

EVENT = "gen_ai.evaluation.result"
PER_REQUEST = 200
"""Events in one line of a file, or in one request."""
INFO, ERROR = (9, "INFO"), (17, "ERROR")
"""Severity numbers of OpenTelemetry with their texts."""


def requests_of(run: VerifiedRun) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield how many events, and a `LogsData` that holds them; each is a whole document."""
    head = {"attributes": _attributes(_resource(run.facts))}
    scope = {"name": "ragassay", "version": __version__}
    items = run.items()
    while records := [event(item, run.facts) for item in islice(items, PER_REQUEST)]:
        yield (
            len(records),
            {"resourceLogs": [{"resource": head, "scopeLogs": [{"scope": scope, "logRecords": records}]}]},
        )


def event(item: ExportedItem, facts: RunFacts) -> dict[str, Any]:
    """Return the log record of one item."""
    number, text = INFO if item.score is not None else ERROR
    record: dict[str, Any] = {
        "eventName": EVENT,
        "severityNumber": number,
        "severityText": text,
        "attributes": _attributes(_said(item, facts)),
    }
    at = (item.took.answered_at if item.took else None) or facts.ended
    if at is not None:
        record = {"timeUnixNano": str(at * 1_000_000_000), "observedTimeUnixNano": str(at * 1_000_000_000), **record}
    return record


def _said(item: ExportedItem, facts: RunFacts) -> dict[str, str | int | float | None]:
    scored = item.score is not None
    return {
        "gen_ai.evaluation.name": facts.metric,
        "gen_ai.evaluation.score.value": item.score,
        "gen_ai.evaluation.score.label": item.status if scored else None,
        "gen_ai.evaluation.explanation": _explanation(item),
        "gen_ai.response.id": item.took.request_id if item.took else None,
        "gen_ai.request.model": facts.model,
        "error.type": None if scored else _error(item),
        "ragassay.question.id": item.question.id,
        "ragassay.question.topic": item.question.topic,
        "ragassay.row": item.row,
        "ragassay.pass": item.pass_k,
        "ragassay.run.id": item.run,
        "ragassay.status": item.status,
        "ragassay.retrieval": item.retrieval,
        "ragassay.judge": item.judge,
    }


def _error(item: ExportedItem) -> str:
    """Return the kind of a failure, `retrieval_failed.stack`, which is one of few words."""
    return f"{item.status}.{item.failure.kind}" if item.failure else item.status


def _explanation(item: ExportedItem) -> str | None:
    """Return how the claims were judged; a failure's message may hold texts of others and is not sent."""
    counts = item.verdict_counts
    return None if counts is None else ", ".join(f"{count} {word}" for word, count in counts.items() if count) or None


def _resource(facts: RunFacts) -> dict[str, str | int | float | None]:
    return {
        "service.name": "ragassay",
        "service.version": facts.harness,
        "ragassay.row.key": facts.row_key,
        "ragassay.benchmark": facts.benchmark,
        "ragassay.benchmark.version": facts.benchmark_version,
        "ragassay.benchmark.sha256": facts.benchmark_digest,
        "ragassay.corpus.sha256": facts.corpus,
        "ragassay.stack": facts.stack,
        "ragassay.signer": facts.signer,
        "ragassay.source.kind": facts.kind,
    }


def _attributes(values: dict[str, str | int | float | None]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in values.items() if value is not None]


def _value(value: str | int | float) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"doubleValue": value}
