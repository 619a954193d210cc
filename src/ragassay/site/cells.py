"""Question by question: each row's mean, the cause in the run it shows, and what is special about it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from ragassay.estimate import question_means, saturation
from ragassay.records import Benchmark, OutputRow, Question
from ragassay.site.evidence import delivered_ranks
from ragassay.site.numbers import decimal6
from ragassay.site.record import Cause, Cell, QuestionLine
from ragassay.site.window import RowRuns


def cause_of(row: OutputRow, question: Question, *, oracle: bool = False) -> Cause:
    """Say where an answer was lost, earliest stage first.

    Without a score: unjudged. Fully right: correct. Evidence known and not delivered (the control delivers nothing):
    not retrieved. A contradicted claim: contradicted. Evidence delivered: retrieved, not used. Otherwise unexplained.
    An `oracle` is given its evidence by construction, also where chunking split it so that no one text holds it. A
    score without a verdict was computed elsewhere: nothing is known of what was delivered.
    """
    if row.score is None:
        return "unjudged"
    if row.score == 100:
        return "correct"
    if row.verdict is None:
        return "unexplained"
    found = delivered_ranks(row, question.evidence)
    if (found.state == "missing" and not oracle) or (row.retrieval == "off" and question.evidence):
        return "not_retrieved"
    if any(claim.verdict == "CONTRADICTS" for claim in row.claims):
        return "contradicted"
    return "unexplained" if found.state == "none" else "not_used"


def question_lines(rows: Sequence[RowRuns], benchmark: Benchmark) -> tuple[QuestionLine, ...]:
    """Return one line per question, those that separate the rows most first, then in the benchmark's order."""
    drawn = [row for row in rows if row.shown is not None]
    means = {row.key: question_means(row.scores().passes) for row in drawn}
    shown = {row.key: {o.id: o for o in row.shown.outputs} for row in drawn if row.shown is not None}
    scored = {row.key: _scored(row) for row in drawn}
    flags = _flags(drawn, means)
    lines = []
    for question in benchmark.questions:
        cells = tuple(
            Cell(
                row=row.key,
                mean=_text(means[row.key].get(question.id)),
                scored=scored[row.key].get(question.id, 0),
                cause=cause_of(shown[row.key][question.id], question, oracle=row.role == "oracle"),
            )
            for row in drawn
        )
        lines.append(
            QuestionLine(
                id=question.id,
                topic=question.topic,
                spread=_spread(drawn, means, question.id),
                flags=flags.get(question.id, ()),
                cells=cells,
            )
        )
    return tuple(sorted(lines, key=lambda line: -Decimal(line.spread or "0")))


def _text(mean: float | None) -> str | None:
    return None if mean is None else decimal6(mean)


def _scored(row: RowRuns) -> dict[str, int]:
    counts: dict[str, int] = {}
    for document in row.window:
        for output in document.outputs:
            counts[output.id] = counts.get(output.id, 0) + (output.score is not None)
    return counts


def _spread(rows: Sequence[RowRuns], means: Mapping[str, Mapping[str, float | None]], question: str) -> str | None:
    values = [m for r in rows if r.role == "row" and (m := means[r.key].get(question)) is not None]
    return decimal6(max(values) - min(values)) if len(values) > 1 else None


def _flags(rows: Sequence[RowRuns], means: Mapping[str, Mapping[str, float | None]]) -> dict[str, tuple[str, ...]]:
    control = next((row for row in rows if row.role == "control"), None)
    found = saturation([means[r.key] for r in rows if r.role == "row"], means[control.key] if control else None)
    words = {
        question: (
            *(("every stack answers it",) if flags.ceiling else ()),
            *(("no stack answers it",) if flags.floor else ()),
            *(("known without retrieval",) if flags.known_without_retrieval else ()),
        )
        for question, flags in found.items()
    }
    return {question: said for question, said in words.items() if said}
