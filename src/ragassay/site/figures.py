"""The figures of one row, from the runs of its window. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragassay.estimate import missing_bounds, percentiles, question_means, row_interval, window_range
from ragassay.manifest.statement import RunDocument
from ragassay.records import TelemetryRow
from ragassay.score import count_tokens
from ragassay.site.evidence import delivered_ranks, reach
from ragassay.site.fairness import row_fairness
from ragassay.site.group import ended, is_measured
from ragassay.site.numbers import decimal6, interval, ratio
from ragassay.site.record import Amount, BoardRow, Latency, Missing, Ratio, RunLine
from ragassay.site.rung import CODE, weakest
from ragassay.site.window import RowRuns, scored_run

FULL, NOTHING = 1 - 1e-9, 1e-9


def board_row(row: RowRuns, documents: Mapping[str, str]) -> BoardRow:
    """Return everything that a row shows by itself; ranks, gap and warnings are added where rows meet.

    `documents` maps a question to the page it comes from, so that questions of one page count as one document.
    """
    shown = row.shown
    assert shown is not None, "a row of runs shows one of them"
    scores = row.scores()
    means = question_means(scores.passes)
    found = row_interval(means, documents) if row.headline else None
    bounds = missing_bounds(scores.passes) if row.headline else None
    measure = shown.config.measure if shown.config else None
    k = _k(row, shown)
    known = [mean for mean in means.values() if mean is not None]
    lines = _lines(row)
    fairness, fault = row_fairness(row)
    line = BoardRow(
        name=row.name,
        key=row.key,
        measure=row.measure,
        role=row.role,
        stack=row.stack,
        standing=row.standing,
        reason=row.reason,
        upstream=shown.predicate.provenance.upstream_ref,
        score=ratio(shown.predicate.score) if row.headline and shown.predicate.score else None,
        range=_range(row),
        mean=decimal6(found.mean) if found else None,
        interval=interval(found.low, found.high) if found else None,
        bounds=(decimal6(bounds.worst), decimal6(bounds.best)) if bounds else None,
        reach=reach(shown, k) if k else None,
        fully_right=sum(mean >= FULL for mean in known),
        fully_wrong=sum(mean <= NOTHING for mean in known),
        correct_without_reach=_correct_without_reach(row, means),
        questions=len(means),
        missing=_missing(row.window),
        top_k=measure.top_k if measure else 0,
        threshold=measure.threshold if measure else None,
        exposure=shown.config.circumstance.exposure if shown.config else None,
        fairness=fairness,
        fairness_fault=fault,
        passes=len(row.window),
        runs=lines,
        rung=weakest([run for run in lines if run.in_window or (run.why_not or "").startswith(CODE)]),
    )
    return _with_costs(line, row, shown)


def _with_costs(line: BoardRow, row: RowRuns, shown: RunDocument) -> BoardRow:
    """Return the line with what answering took, and with the special classes of what was scored."""
    counts = [d.predicate.counts for d in row.window]
    return msgspec.structs.replace(
        line,
        insufficient=sum(c.insufficient for c in counts),
        abstained=sum(c.abstained for c in counts),
        refused=sum(c.refused for c in counts),
        retrieval_empty=sum(c.retrieval_empty for c in counts),
        retrieval_latency=_latency(t.retrieval_ms for d in row.window for t in d.telemetry if row.role != "control"),
        answer_latency=_latency(t.answer_ms for d in row.window for t in d.telemetry),
        input_tokens=amount(t.answer_usage.input_tokens for t in shown.telemetry),
        output_tokens=amount(t.answer_usage.output_tokens for t in shown.telemetry),
        cost_microusd=amount(_cost(t) for t in shown.telemetry),
        cost_per_1000_microusd=_per_thousand([t.answer_cost_microusd for t in shown.telemetry]),
        search_cost_per_1000_microusd=_per_thousand([t.retrieval_cost_microusd for t in shown.telemetry]),
        context_tokens=_context_tokens(shown),
    )


def _k(row: RowRuns, shown: RunDocument) -> int:
    """Return top-k; for the oracle, which it does not cut, the most that was delivered; 0 where retrieval was off."""
    if row.role == "control":
        return 0
    most = max((len(output.chunks) for output in shown.outputs), default=0)
    top_k = shown.config.measure.top_k if shown.config else most
    return max(most, 1) if row.role == "oracle" else max(top_k, 1)


def _range(row: RowRuns) -> tuple[Ratio, Ratio] | None:
    scored = {d.predicate.run_id: d for d in row.window if d.predicate.score is not None}
    if not row.headline or not scored:
        return None
    low, high = window_range([scored_run(d) for d in scored.values()])
    first, last = scored[low.run].predicate.score, scored[high.run].predicate.score
    return (ratio(first), ratio(last)) if first and last else None


def _missing(window: Sequence[RunDocument]) -> Missing:
    counts = [d.predicate.counts for d in window]
    return Missing(
        asked=sum(c.asked for c in counts),
        unjudged=sum(c.unjudged for c in counts),
        answer_failed=sum(c.answer_failed for c in counts),
        retrieval_failed=sum(c.retrieval_failed for c in counts),
        harness_failed=sum(c.harness_failed for c in counts),
    )


def _latency(values: Iterable[int | None]) -> Latency | None:
    found = percentiles([value for value in values if value is not None])
    return None if found.p50 is None else Latency(p50_ms=found.p50, p95_ms=found.p95, calls=found.n)


def amount(values: Iterable[int | None]) -> Amount:
    """Sum what is known and count what is not; an item that said nothing is never taken as 0."""
    items = list(values)
    known = [item for item in items if item is not None]
    return Amount(known=sum(known) if known else None, unknown=len(items) - len(known))


def _cost(row: TelemetryRow) -> int | None:
    """Return what one question cost, searched, answered and judged; None where a call's cost is unknown."""
    if row.retrieval_attempts and row.retrieval_cost_microusd is None:
        return None
    if row.answer_attempts and row.answer_cost_microusd is None:
        return None
    if row.judge_attempts and row.judge_cost_microusd is None:
        return None
    parts = (row.retrieval_cost_microusd, row.answer_cost_microusd, row.judge_cost_microusd)
    known = [cost for cost in parts if cost is not None]
    return sum(known) if known else None


def _per_thousand(costs: Sequence[int | None]) -> int | None:
    """Return the cost of 1,000 questions at the mean of those whose cost is known, half-up."""
    known = [cost for cost in costs if cost is not None]
    return (2000 * sum(known) + len(known)) // (2 * len(known)) if known else None


def _context_tokens(document: RunDocument) -> int | None:
    """Return the mean per question; None where a text is withheld, or where nobody knows what was delivered."""
    texts = [chunk.text for row in document.outputs for chunk in row.chunks]
    if any(text is None for text in texts) or not document.outputs or not is_measured(document):
        return None
    total, n = sum(count_tokens(text) for text in texts if text is not None), len(document.outputs)
    return (2 * total + n) // (2 * n)


def _correct_without_reach(row: RowRuns, means: Mapping[str, float | None]) -> int | None:
    """Count questions that every pass answers fully although no pass delivered accepted evidence.

    None for the control, which delivers nothing, and for the oracle, which delivers the evidence by construction, also
    where chunking split it.
    """
    if row.role != "row":
        return None
    states: dict[str, set[str]] = {}
    for document in row.window:
        for output, question in zip(document.outputs, document.benchmark.questions, strict=True):
            states.setdefault(output.id, set()).add(delivered_ranks(output, question.evidence).state)
    if all(found == {"none"} for found in states.values()):
        return None
    return sum(states[q] == {"missing"} and mean is not None and mean >= FULL for q, mean in means.items())


def _lines(row: RowRuns) -> tuple[RunLine, ...]:
    window = {d.predicate.run_id for d in row.window}
    shown = row.shown.predicate.run_id if row.shown else None
    return tuple(
        RunLine(
            id=d.predicate.run_id,
            pass_k=d.predicate.pass_.k,
            ended=ended(d),
            score=ratio(d.predicate.score) if d.predicate.score else None,
            in_window=d.predicate.run_id in window,
            shown=d.predicate.run_id == shown,
            why_not=row.why_not.get(d.predicate.run_id),
            rung=row.rungs[d.predicate.run_id],
        )
        for d in row.runs
    )
