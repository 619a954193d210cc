"""Did rows know the questions: what each declares, and what its own earlier runs on them show. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragassay import canon
from ragassay.manifest.statement import RunDocument
from ragassay.records import Measure
from ragassay.site.group import ended
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import listed
from ragassay.site.questionrecord import ExposureLine
from ragassay.site.record import BoardRow
from ragassay.site.window import RowRuns


def all_documents(runs: Iterable[LoadedRun]) -> list[RunDocument]:
    """Return every sound run, those that were taken back too: their scores were seen."""
    found = [run.document or (run.voided.document if run.voided is not None else None) for run in runs]
    return [document for document in found if document is not None]


def shape(measure: Measure) -> str:
    """Return the digest of what a person sets to tune a row: stack, parameters, top-k, threshold and chunker."""
    stack = measure.stack
    return canon.digest(
        {
            "kind": stack.get("kind"),
            "entry": stack.get("entry"),
            "topK": measure.top_k,
            "threshold": measure.threshold,
            "chunker": measure.corpus.get("chunker"),
        }
    )


def exposure_lines(rows: Sequence[RowRuns], documents: Sequence[RunDocument]) -> tuple[ExposureLine, ...]:
    """Return a line for each row that stands, is no control and no oracle, and was measured here."""
    by_name: dict[str, list[RunDocument]] = {}
    for document in documents:
        by_name.setdefault(document.predicate.row.name, []).append(document)
    return tuple(
        _line(row, by_name.get(row.name, ()))
        for row in rows
        if row.role == "row" and row.standing != "superseded" and row.shown is not None and row.shown.config is not None
    )


def _line(row: RowRuns, named: Sequence[RunDocument]) -> ExposureLine:
    assert row.shown is not None
    assert row.shown.config is not None
    own, last = shape(row.shown.config.measure), max(ended(document) for document in row.runs)
    inputs = {question.input for question in row.shown.benchmark.questions}
    found: dict[str, list[RunDocument]] = {}
    for document in named:
        if document.config is None or ended(document) > last:
            continue
        asked = {question.input for question in document.benchmark.questions}
        other = shape(document.config.measure)
        if other != own and asked <= inputs:
            found.setdefault(other, []).append(document)
    runs = [document for members in found.values() for document in members]
    return ExposureLine(
        row=row.name,
        key=row.key,
        declared=row.shown.config.circumstance.exposure,
        earlier=len(found),
        earlier_runs=len(runs),
        first=min((ended(document) for document in runs), default=None),
    )


def by_key(lines: Sequence[ExposureLine]) -> Mapping[str, ExposureLine]:
    """Return the lines by the keys of their rows."""
    return {line.key: line for line in lines}


def exposure_unrecorded(rows: Sequence[BoardRow]) -> list[str]:
    """Say of which rows it is not recorded whether they were shaped on these questions."""
    rows = [row for row in rows if row.role == "row" and row.passes and row.standing != "superseded"]
    silent = [row.name for row in rows if row.exposure is None]
    if not silent:
        return []
    whose = "any row" if len(silent) == len(rows) > 1 else listed(silent)
    return [f"exposure to the questions: not recorded of {whose}"]
