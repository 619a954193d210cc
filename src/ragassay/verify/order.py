"""Are the rows the benchmark's questions, each once, in its order, and of this run? Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragassay.manifest.files import OUTPUTS, TELEMETRY
from ragassay.manifest.statement import RunPredicate
from ragassay.records import Benchmark, OutputRow, TelemetryRow
from ragassay.verify.delivery import check_figures, check_scores
from ragassay.verify.report import Findings


def check_order(rows: Sequence[OutputRow], benchmark: Benchmark, findings: Findings) -> None:
    """Compare the ids of the rows with those of the benchmark."""
    wanted = {question.id: at for at, question in enumerate(benchmark.questions)}
    found = Counter(row.id for row in rows)
    for name in wanted:
        if name not in found:
            findings.add("ROW_MISSING", f"question {name!r} has no row", OUTPUTS)
    for name, times in found.items():
        if name not in wanted:
            findings.add("ROW_UNKNOWN", f"{name!r} is no question of the benchmark", OUTPUTS)
        elif times > 1:
            findings.add("ROW_DUPLICATE", f"question {name!r} has {times} rows", OUTPUTS)
    places = [wanted[name] for name in found if name in wanted]
    if places != sorted(places):
        findings.add("ROW_ORDER", None, OUTPUTS)
    findings.made("order")


def check_belonging(rows: Sequence[OutputRow], predicate: RunPredicate, findings: Findings) -> None:
    """Check run, pass and fill of every row."""
    for row in rows:
        if row.run != predicate.run_id:
            findings.add("ROW_FOREIGN_RUN", f"the row of {row.id!r} belongs to run {row.run!r}", OUTPUTS)
        if row.pass_ != predicate.pass_.k:
            findings.add(
                "FILL_UNDECLARED", f"the row of {row.id!r} is of pass {row.pass_} and declares no source", OUTPUTS
            )
        if row.fill is None:
            continue
        if row.fill.run == predicate.run_id:
            findings.add("FILL_UNDECLARED", f"the row of {row.id!r} names its own run as its source", OUTPUTS)
        else:
            source = f"pass {row.fill.pass_} of run {row.fill.run}"
            findings.add("FILLED", f"the row of {row.id!r} was filled in from {source}", OUTPUTS)
    filled = sum(row.fill is not None for row in rows)
    if filled > predicate.counts.filled:
        findings.add(
            "FILL_UNDECLARED", f"{filled} rows were filled in, {predicate.counts.filled} are declared", OUTPUTS
        )
    findings.made("fills")


def check_telemetry(
    rows: Sequence[OutputRow],
    telemetry: Sequence[TelemetryRow],
    predicate: RunPredicate,
    findings: Findings,
    threshold: str | None = None,
) -> None:
    """Check that telemetry is of the same rows, that it can be, and that the window is the time of its answers."""
    if [row.id for row in rows] != [row.id for row in telemetry]:
        findings.add("TELEMETRY_ROWS", None, TELEMETRY)
        findings.not_made("window", "the telemetry is of other rows")
        return
    for row, took in zip(rows, telemetry, strict=True):
        if len(took.retrieval_scores) != len(row.chunks):
            findings.add("TELEMETRY_ROWS", f"{row.id!r} has not one retrieval score per chunk", TELEMETRY)
        if row.answer is not None and took.answered_at is None:
            findings.add("WINDOW", f"the answer to {row.id!r} has no time", TELEMETRY)
    check_scores(telemetry, threshold, findings)
    check_figures(rows, telemetry, findings)
    times = [took.answered_at for took in telemetry if took.answered_at is not None]
    window = predicate.window
    if (window.start, window.end) != (min(times), max(times)) if window and times else bool(window or times):
        findings.add("WINDOW", None, TELEMETRY)
    findings.made("window")
