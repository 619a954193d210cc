"""Was what a row delivered, and what it took, possible under its configuration? Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from ragassay.manifest.files import OUTPUTS, TELEMETRY
from ragassay.manifest.statement import RunPredicate
from ragassay.records import Measure, OutputChunk, OutputRow, TelemetryRow
from ragassay.verify.report import Findings

_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,400})(\.[0-9]{0,800}[1-9])?")


def check_delivery(rows: Sequence[OutputRow], measure: Measure, predicate: RunPredicate, findings: Findings) -> None:
    """Check state and number of chunks against stack and top-k, and that a chunk of the corpus is always the same."""
    for row in rows:
        if (problem := _problem(row, measure)) is not None:
            findings.add("CONFIG_MISMATCH", problem, f"{OUTPUTS}: {row.id}")
    if predicate.corpus is not None and predicate.corpus.digest is not None:
        _check_one_corpus(rows, findings)
    findings.made("retrieval against the configuration")


def _problem(row: OutputRow, measure: Measure) -> str | None:
    kind, count = measure.stack.get("kind"), len(row.chunks)
    if kind == "none":
        return None if row.retrieval in ("off", "failed") else f"retrieval is switched off, and it is {row.retrieval!r}"
    if row.retrieval == "off":
        return f"retrieval is switched off for this question, but the stack is {kind!r}"
    if kind != "oracle" and count > measure.top_k:
        return f"{count} chunks were delivered where top-k is {measure.top_k}"
    return None


def _check_one_corpus(rows: Sequence[OutputRow], findings: Findings) -> None:
    """A stack that does not own its corpus delivers each chunk of it as it stands there, to every question alike."""
    known: dict[str, OutputChunk] = {}
    for row in rows:
        for chunk in row.chunks:
            first = known.setdefault(chunk.id, chunk)
            if _place(first) != _place(chunk):
                message = f"chunk {chunk.id!r} is another text or place than in an earlier row"
                findings.add("CHUNK_DIGEST", message, f"{OUTPUTS}: {row.id}")


def _place(chunk: OutputChunk) -> tuple[str, str | None, int | None, int | None]:
    return chunk.sha256, chunk.page, chunk.start, chunk.end


def check_scores(telemetry: Sequence[TelemetryRow], threshold: str | None, findings: Findings) -> None:
    """Check that retrieval scores are decimal strings, best first, and none below the threshold."""
    floor = Decimal(threshold) if threshold is not None else None
    for took in telemetry:
        if (problem := _scores_problem(took.retrieval_scores, floor)) is not None:
            findings.add("TELEMETRY_ROWS", f"{took.id!r}: {problem}", TELEMETRY)


def _scores_problem(scores: Sequence[str], floor: Decimal | None) -> str | None:
    wrong = next((score for score in scores if not _DECIMAL.fullmatch(score)), None)
    if wrong is not None:
        return f"the retrieval score {wrong[:40]!r} is no decimal number in its shortest form"
    numbers = [Decimal(score) for score in scores]
    if any(later > earlier for earlier, later in pairwise(numbers)):
        return "the retrieval scores are not best first"
    if floor is not None and numbers and numbers[-1] < floor:
        return f"a chunk was delivered below the threshold {floor}"
    return None


def check_figures(rows: Sequence[OutputRow], telemetry: Sequence[TelemetryRow], findings: Findings) -> None:
    """Check that no time, count or cost is negative, and that a verdict is that of the last reply."""
    for row, took in zip(rows, telemetry, strict=True):
        for name, figure in _figures(took):
            if figure is not None and figure < 0:
                findings.add("TELEMETRY_ROWS", f"{row.id!r}: `{name}` is {figure}, less than nothing", TELEMETRY)
        used = [at for at, reply in enumerate(took.judge_replies) if reply.problem is None]
        last = [len(took.judge_replies) - 1] if row.verdict is not None and took.judge_replies else []
        if used != last:
            findings.add("TELEMETRY_ROWS", f"{row.id!r}: the verdict is not that of the judge's last reply", TELEMETRY)


def _figures(took: TelemetryRow) -> Iterator[tuple[str, int | None]]:
    for name in TelemetryRow.__struct_fields__:
        value = getattr(took, name)
        if isinstance(value, int):
            yield name, value
    for usage in (took.answer_usage, took.judge_usage):
        yield "inputTokens", usage.input_tokens
        yield "outputTokens", usage.output_tokens
