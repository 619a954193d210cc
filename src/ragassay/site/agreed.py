"""How far a further judge agrees with the published one, on the answers of stored runs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ragassay.estimate import agreement
from ragassay.manifest.judgement import JudgementDocument, profile_of
from ragassay.manifest.statement import RunDocument
from ragassay.records import OutputRow
from ragassay.records.calibration import Figures
from ragassay.site.calibration.report import figures

Judged: TypeAlias = tuple[RunDocument, JudgementDocument]
"""A run with what a judge said of it."""
Scores: TypeAlias = tuple[int | None, int | None]
"""Hundredths of one answer: by the further judge, and by the published one."""


def agreed(judged: Iterable[Judged]) -> Figures | None:
    """Return the agreement of a further judge (first rater) with the published one, None where nothing was judged.

    Each distinct answer to a question counts once, by the first time that both gave it a score: passes and rows that
    gave the very same text tell nothing new. What only one of them scored enters no figure.
    """
    pairs = list(distinct(judged).values())
    if not pairs:
        return None
    return figures(agreement([further for further, _ in pairs], [published for _, published in pairs]))


def distinct(judged: Iterable[Judged]) -> dict[tuple[str, ...], Scores]:
    """Return the scores of each distinct answer, in the order of runs and their lines."""
    found: dict[tuple[str, ...], Scores] = {}
    for run, judgement in judged:
        sees_contexts = profile_of(run.predicate.metric.id) == "factual-consistency/1"
        for output, row in zip(run.outputs, judgement.rows, strict=True):
            if output.answer is None:
                continue
            key = _key(output, sees_contexts=sees_contexts)
            if key not in found or None in found[key]:
                found[key] = _better(found.get(key), (row.score, output.score))
    return found


def _key(output: OutputRow, *, sees_contexts: bool) -> tuple[str, ...]:
    """Return what tells judged items apart: question, answer, and in profile 1 the context that is shown too."""
    contexts: Sequence[str] = [chunk.sha256 for chunk in output.chunks] if sees_contexts else ()
    return (output.id, output.answer or "", *contexts)


def _better(earlier: Scores | None, later: Scores) -> Scores:
    return later if earlier is None or None not in later else earlier
